package hardware

import (
	"math"
	"strings"
	"testing"

	"decodegap/roofline"
)

func TestMachine(t *testing.T) {
	for _, c := range []struct {
		name     string
		resource roofline.Resource
		value    float64 // 0: must be absent
		source   string
	}{
		{"RTX PRO 6000 Blackwell Workstation", roofline.DRAMRead, 1.792e12, "14,001 MHz"},
		{"RTX PRO 6000 Blackwell Workstation", roofline.LinkOneWay, 63.015e9, "PCIe 5"},
		{"RTX PRO 6000 Blackwell Max-Q", roofline.TensorBF16, 0, ""},
		{"RTX PRO 6000 Blackwell Server", roofline.TensorBF16, 467.8e12, "confidence C"},
		{"H100 PCIe", roofline.DRAMRead, 2.039e12, "2000–2039 GB/s, the higher used"},
		{"B300", roofline.TensorFP4, 15e15, "the higher used"},
		{"H200 SXM", roofline.LinkOneWay, 450e9, "half of NVLink's two directions"},
		{"H200 SXM", roofline.GraphNode, 0.55e-6, "measured on an H200 with driver 580"},
		{"RTX 4090", roofline.GraphNode, 0.55e-6, "not measured on RTX 4090"},
		{"MI300X", roofline.GraphNode, 0, ""},
		{"MI300X", roofline.LinkOneWay, 448e9, "gpu-specs.ts"},
		{"MI250X", roofline.LinkOneWay, 0, ""},
		{"GB10", roofline.LinkOneWay, 0, ""},
		{"GB10", roofline.TensorBF16, 0, ""},
		{"T4", roofline.TensorBF16, 0, ""},
		{"T4", roofline.TensorFP16, 65e12, "data sheet"},
		{"T4", roofline.LinkOneWay, 15.754e9, "general knowledge"},
		{"L40S", roofline.LinkOneWay, 31.508e9, "PCIe 4"},
	} {
		got, ok := mustFind(t, c.name).Machine().Ceilings[c.resource]
		if ok != (c.value > 0) {
			t.Errorf("%s %s: present %v, want %v", c.name, c.resource, ok, c.value > 0)
			continue
		}
		if !ok {
			continue
		}
		if math.Abs(got.Value/c.value-1) > 1e-4 {
			t.Errorf("%s %s = %v, want %v", c.name, c.resource, got.Value, c.value)
		}
		if !strings.Contains(got.Source, c.source) {
			t.Errorf("%s %s: source %q does not say %q", c.name, c.resource, got.Source, c.source)
		}
	}
}

func TestEveryCeilingNamesItsSource(t *testing.T) {
	units := map[roofline.Resource]string{
		roofline.DRAMRead: "B/s", roofline.LinkOneWay: "B/s", roofline.GraphNode: "s", roofline.TensorINT8: "OP/s",
		roofline.TensorFP4: "FLOP/s", roofline.TensorFP8: "FLOP/s", roofline.TensorBF16: "FLOP/s", roofline.TensorFP16: "FLOP/s",
	}
	for _, d := range Catalogue() {
		m := d.Machine()
		if bw, ok := m.Bandwidth(); !ok || bw < 100e9 {
			t.Errorf("%s: bandwidth %v, %v", d.Name, bw, ok)
		}
		for r, c := range m.Ceilings {
			if c.Resource != r || c.Basis != roofline.Sheet || c.Source == "" || c.Unit != units[r] || !(c.Value > 0) {
				t.Errorf("%s: incomplete ceiling %+v", d.Name, c)
			}
		}
	}
}

func TestFacts(t *testing.T) {
	facts := map[string]Fact{}
	for _, f := range mustFind(t, "RTX PRO 6000 Blackwell Workstation").Facts() {
		facts[f.Name] = f
	}
	for name, want := range map[string]string{
		"memory":             "96 GB GDDR7",
		"memory bandwidth":   "1792 GB/s",
		"bandwidth check":    "14001 MHz × 2 × 512 bit / 8 = 1792.1 GB/s",
		"links":              "PCIe 5 ×16 only, no NVLink",
		"compute capability": "12.0",
	} {
		if facts[name].Value != want {
			t.Errorf("%s: %q, want %q", name, facts[name].Value, want)
		}
	}
	for _, d := range Catalogue() {
		for _, f := range d.Facts() {
			if f.Name == "" || f.Value == "" || f.Source == "" {
				t.Errorf("%s: incomplete fact %+v", d.Name, f)
			}
		}
	}
}
