package hardware

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"decodegap/roofline"
)

func TestCatalogue(t *testing.T) {
	devices := Catalogue()
	if len(devices) < 30 {
		t.Fatalf("%d devices, expected at least 30", len(devices))
	}
	entries, err := deviceFiles.ReadDir("devices")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	notName := regexp.MustCompile(`[^a-z0-9]+`)
	for i, d := range devices {
		want := strings.Trim(notName.ReplaceAllString(strings.ToLower(d.Name), "_"), "_") + ".json"
		if got := entries[i].Name(); got != want {
			t.Errorf("%s lies in devices/%s, expected devices/%s", d.Name, got, want)
		}
		seen := map[string]bool{}
		for _, n := range d.names() {
			key := fold(n)
			if other, taken := answers[key]; taken && other != d.Name {
				t.Errorf("%q names both %s and %s", n, other, d.Name)
			}
			answers[key] = d.Name
			if seen[n] {
				t.Errorf("%s: %q is listed twice", d.Name, n)
			}
			seen[n] = true
		}
	}
}

// TestEncodesBack makes sure that MarshalJSON writes what ParseDevice reads.
func TestEncodesBack(t *testing.T) {
	for _, d := range Catalogue() {
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		again, err := ParseDevice("encoded", data)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Errorf("%s changed on the way through JSON (-before +after):\n%s", d.Name, diff)
		}
	}
}

func TestBandwidthFollowsFromClockAndWidth(t *testing.T) {
	checked := 0
	for _, d := range Catalogue() {
		formula, ok := d.FormulaBandwidth()
		if !ok {
			continue
		}
		checked++
		sheet := d.BandwidthGBs.Hi * 1e9
		if off := math.Abs(float64(formula)/sheet - 1); off > 0.005 {
			t.Errorf("%s: clock × 2 × width / 8 = %v, sheet %v: %.2f %% apart", d.Name, formula, sheet, off*100)
		}
	}
	if checked < 4 {
		t.Errorf("only %d devices give both clock and width", checked)
	}
}

// TestNoSparseRates catches what a sheet prints for structured sparsity: twice
// the dense rate.
func TestNoSparseRates(t *testing.T) {
	densest := map[string]float64{ // BF16 or FP16, TFLOPS
		"Volta": 125, "Turing": 65, "Ampere": 312, "Ada": 364, "Hopper": 999, "Blackwell": 2500,
		"Blackwell Ultra": 2500, "CDNA 2": 383, "CDNA 3": 1307, "CDNA 4": 2516,
	}
	for _, d := range Catalogue() {
		most, known := densest[d.Architecture]
		if !known {
			t.Errorf("%s: architecture %q has no densest rate in this test", d.Name, d.Architecture)
		}
		for name, f := range map[string]*Figure{"bf16": d.BF16TFLOPS, "fp16": d.FP16TFLOPS} {
			if f != nil && f.Hi > most {
				t.Errorf("%s: %s %v is above %v, the densest of %s", d.Name, name, f, most, d.Architecture)
			}
		}
		half := d.BF16TFLOPS
		if half == nil {
			half = d.FP16TFLOPS
		}
		if half != nil && d.FP8TFLOPS != nil && d.FP8TFLOPS.Hi > 2.1*half.Hi {
			t.Errorf("%s: FP8 %v is more than twice %v", d.Name, d.FP8TFLOPS, half)
		}
		if d.FP4TFLOPS != nil && d.FP8TFLOPS != nil {
			eight, times := d.FP8TFLOPS.Hi, 2.1
			if f := d.FP8FP16AccumulateTFLOPS; f != nil {
				eight = f.Hi
			}
			if d.Architecture == "Blackwell Ultra" {
				times = 3.4 // three times as many FP4 units
			}
			if d.FP4TFLOPS.Hi > times*eight {
				t.Errorf("%s: FP4 %v is more than %v × %v", d.Name, d.FP4TFLOPS, times, eight)
			}
		}
	}
}

// TestDenseFigures pins the figures that are most often printed sparse.
func TestDenseFigures(t *testing.T) {
	for _, c := range []struct {
		name     string
		resource roofline.Resource
		tera     float64
	}{
		{"L40S", roofline.TensorFP8, 733},
		{"A100 80 GB SXM", roofline.TensorBF16, 312},
		{"H100 SXM", roofline.TensorBF16, 989},
		{"H200 SXM", roofline.TensorFP8, 1979},
		{"B200", roofline.TensorBF16, 2250},
		{"B200", roofline.TensorFP4, 9000},
		{"RTX 5090", roofline.TensorBF16, 209.5},
		{"RTX 5090", roofline.TensorFP8, 419},
		{"RTX 5090", roofline.TensorFP4, 1676},
		{"RTX 4090", roofline.TensorFP8, 330.3},
		{"RTX 3090", roofline.TensorBF16, 71},
		{"RTX PRO 6000 Blackwell Workstation", roofline.TensorFP4, 2015},
		{"GB10", roofline.TensorFP4, 500},
		{"Jetson Thor T5000", roofline.TensorFP4, 1035},
		{"B300", roofline.TensorINT8, 153.5},
		{"GB300", roofline.TensorINT8, 165},
		{"MI355X", roofline.TensorBF16, 2516},
	} {
		d := mustFind(t, c.name)
		if got := d.Machine().Ceilings[c.resource].Value / 1e12; math.Abs(got/c.tera-1) > 1e-9 {
			t.Errorf("%s %s = %v T, want %v", c.name, c.resource, got, c.tera)
		}
	}
}

func TestParseDeviceRefuses(t *testing.T) {
	good, err := deviceFiles.ReadFile("devices/rtx_4090.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown field", `"sms":`, `"sm_count":`, "unknown field"},
		{"unknown field in a figure", `{"value": 1008, "source"`, `{"value": 1008, "note": "", "source"`, "unknown field"},
		{"no source", `"value": 1008, "source": "NVIDIA AD102 architecture white paper, as quoted on public specification pages"`, `"value": 1008, "source": " "`, "source: missing"},
		{"no confidence", `"value": 1008, "source": "NVIDIA AD102 architecture white paper, as quoted on public specification pages", "confidence": "A"`, `"value": 1008, "source": "x", "confidence": ""`, "confidence"},
		{"zero", `"value": 1008`, `"value": 0`, "above 0"},
		{"text for a number", `"value": 1008`, `"value": "1008"`, "expected a number"},
		{"range upside down", `"value": 1008`, `"value": {"lo": 2, "hi": 1}`, "lo below hi"},
		{"half a range", `"value": 1008`, `"value": {"hi": 1}`, "lo below hi"},
		{"TB/s for GB/s", `"value": 1008`, `"value": 1008000`, "check the unit"},
		{"link", `"link": "pcie"`, `"link": "wifi"`, "link"},
		{"vendor", `"vendor": "NVIDIA"`, `"vendor": "Acme"`, "vendor"},
		{"text after", "}\n", "} {}", "after the object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := replaceLast(string(good), c.old, c.new)
			if broken == string(good) {
				t.Fatalf("the file has no %q to break", c.old)
			}
			_, err := ParseDevice("broken.json", []byte(broken))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected one with %q", err, c.want)
			}
		})
	}
}

func replaceLast(s, old, with string) string {
	i := strings.LastIndex(s, old)
	if i < 0 {
		return s
	}
	return s[:i] + with + s[i+len(old):]
}

func FuzzParseDevice(f *testing.F) {
	for _, name := range []string{"h100_pcie", "b300", "mi300x", "rtx_5090"} {
		data, err := deviceFiles.ReadFile("devices/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDevice("fuzzed", data)
		if err != nil {
			return
		}
		if bw, ok := d.Machine().Bandwidth(); !ok || bw <= 0 {
			t.Errorf("accepted a device without bandwidth: %s", data)
		}
		for _, c := range d.Machine().Ceilings {
			if c.Source == "" || c.Value <= 0 {
				t.Errorf("ceiling without source or value: %+v", c)
			}
		}
		d.Facts()
	})
}
