package hardware

import (
	"math"
	"strings"
	"testing"

	"decodegap/roofline/unit"
)

func TestAllReduce(t *testing.T) {
	for _, c := range []struct {
		device, topology string
		n                int
		bytes            unit.Bytes
		micros           float64 // 0: must not be known
		source           string
	}{
		{"RTX PRO 6000 Blackwell Workstation", PCIeSwitch, 8, 12288, 10.4166667, "interpolated between 8,192 B (9.2 µs) and 32,768 B (16.5 µs)"},
		{"RTX PRO 6000 Blackwell Workstation", PCIeSwitch, 8, 12288, 10.4166667, "not on RTX PRO 6000 Blackwell Workstation"},
		{"RTX PRO 6000 Blackwell Max-Q", PCIeSwitch, 8, 8192, 9.2, "one-shot, pcie-switch, measured at 8,192 B"},
		{"RTX PRO 6000 Blackwell Server", PCIeSwitch, 8, 65536, 24.1, "NCCL"},
		{"RTX PRO 6000 Blackwell Server", PCIeSwitch, 8, 100, 7.5, "below the smallest message measured"},
		{"RTX PRO 6000 Blackwell Server", PCIeSwitch, 8, 262145, 28.0, "above every message measured; no shorter than"},
		{"RTX PRO 6000 Blackwell Server", PCIeSwitch, 8, 64 << 20, 1863.68, "line rate"},
		{"RTX PRO 6000 Blackwell Server", TwoSocket, 8, 12288, 58.328571, "NCCL, two-socket"},
		{"RTX PRO 6000 Blackwell Server", TwoSocket, 8, 32768, 26.20, "graph file given"},
		{"RTX PRO 6000 Blackwell Server", PCIeSwitch, 4, 16384, 7.7, "one-shot"},
		{"RTX PRO 6000 Blackwell Server", PCIeHost, 8, 12288, 0, ""},
		{"RTX PRO 6000 Blackwell Server", PCIeSwitch, 2, 12288, 0, ""}, // nothing measured on two
		{"RTX PRO 6000 Blackwell Server", PCIeSwitch, 6, 12288, 0, ""},
		{"RTX PRO 6000 Blackwell Server", NVLink, 8, 12288, 0, ""}, // has none
		{"RTX 5090", PCIeSwitch, 8, 12288, 0, ""},                  // the driver gives GeForce no peer access
		{"H200 SXM", NVLink, 2, 2048, 2.0, "2 × H200"},
		{"H200 SXM", NVLink, 2, 12288, 2.25, "driver 580"},
		{"H200 SXM", NVLink, 2, 131072, 2.9, "one-shot"},
		{"H200 SXM", NVLink, 2, 524288, 5.1, "one-shot"},
		{"H100 SXM", NVLink, 2, 12288, 2.25, "not on H100 SXM"},
		{"H200 SXM", NVLink, 8, 24576, 6.18, "8 × H100 SXM, not on H200 SXM"},
		{"A100 80 GB SXM", NVLink, 8, 73728, 8.28, "MSCCL++"},
		{"V100 SXM2", PCIeSwitch, 4, 8192, 5.0, "one-shot push"},
		{"V100 SXM2", PCIeSwitch, 4, 393216, 83.5, "NCCL"},
		{"B200", NVLink, 8, 12288, 0, ""},
		{"GB10", "", 2, 12288, 0, ""},
		{"H200 SXM", NVLink, 2, 0, 0, ""},
		{"H200 SXM", NVLink, 2, unit.Bytes(math.NaN()), 0, ""},
		{"H200 SXM", NVLink, 2, unit.Bytes(math.Inf(1)), 0, ""},
		{"H200 SXM", NVLink, 1, 2048, 0, ""},
	} {
		got, ok := AllReduce(mustFind(t, c.device), c.topology)(c.bytes, c.n)
		if ok != (c.micros > 0) {
			t.Errorf("%d × %s, %s, %v B: known %v, want %v", c.n, c.device, c.topology, float64(c.bytes), ok, c.micros > 0)
			continue
		}
		if !ok {
			continue
		}
		if math.Abs(got.Value*1e6/c.micros-1) > 1e-5 {
			t.Errorf("%d × %s, %s, %v B: %v µs, want %v", c.n, c.device, c.topology, float64(c.bytes), got.Value*1e6, c.micros)
		}
		if !strings.Contains(got.Source, c.source) {
			t.Errorf("%d × %s, %s, %v B: source %q does not say %q", c.n, c.device, c.topology, float64(c.bytes), got.Source, c.source)
		}
	}
}

func TestAllReduceRange(t *testing.T) {
	d := mustFind(t, "RTX PRO 6000 Blackwell Workstation")
	lo, hi, ok := AllReduceRange(d, 8, 12288)
	if !ok {
		t.Fatal("no range for 8 cards")
	}
	if lo.Topology != PCIeSwitch || lo.Algorithm != "one-shot" || math.Abs(lo.Ceiling.Value-10.4166667e-6) > 1e-12 {
		t.Errorf("lowest %+v", lo)
	}
	if hi.Topology != TwoSocket || hi.Ceiling.Value < 58e-6 || hi.Ceiling.Value > 100e-6 {
		t.Errorf("highest %+v", hi)
	}
	known := KnownAllReduces(d, 8, 12288)
	for i := 1; i < len(known); i++ {
		if known[i].Ceiling.Value < known[i-1].Ceiling.Value {
			t.Errorf("not sorted: %v", known)
		}
	}
	if _, _, ok := AllReduceRange(d, 7, 12288); ok {
		t.Error("a range for 7 cards, which nobody measured")
	}
	if _, _, ok := AllReduceRange(mustFind(t, "MI300X"), 8, 12288); ok {
		t.Error("a range for MI300X, which nobody measured")
	}
}

// TestAllReduceNeverBeatsItsMeasurements holds over all curves: the answer at a
// measured size is the fastest measurement, never less, and above every
// measurement it never falls.
func TestAllReduceNeverBeatsItsMeasurements(t *testing.T) {
	curves, err := loadCurves()
	if err != nil {
		t.Fatal(err)
	}
	if len(curves) < 10 {
		t.Fatalf("only %d curves", len(curves))
	}
	for _, c := range curves {
		d := mustFind(t, c.MeasuredOn)
		latency := AllReduce(d, c.Topology)
		for _, p := range c.Points {
			got, ok := latency(unit.Bytes(p.Bytes), c.GPUs)
			if !ok || got.Value*1e6 > p.Micros*(1+1e-12) {
				t.Errorf("%s %s at %v B: %v, above the measured %v µs", c.MeasuredOn, c.Algorithm, p.Bytes, got.Value, p.Micros)
			}
			floor := math.Inf(1)
			for _, other := range curvesFor(d, c.Topology, c.GPUs) {
				for _, q := range other.Points {
					floor = min(floor, q.Micros)
				}
			}
			if got.Value*1e6 < floor*(1-1e-12) {
				t.Errorf("%s %s at %v B: %v, below every measurement", c.MeasuredOn, c.Algorithm, p.Bytes, got.Value)
			}
		}
		before := 0.0
		for size := 2e6; size < 1e10; size *= 3 {
			got, ok := latency(unit.Bytes(size), c.GPUs)
			if !ok || got.Value < before {
				t.Errorf("%s %s at %v B: %v after %v", c.MeasuredOn, c.Algorithm, size, got.Value, before)
			}
			before = got.Value
		}
	}
}

func TestParseCurvesRefuses(t *testing.T) {
	const good = `{"curves": [{"topology": "nvlink", "gpus": 2, "measured_on": "H200 SXM", "lends_to": [], "algorithm": "x", "source": "y", "points": [{"bytes": 1, "us": 2}, {"bytes": 2, "us": 2}]}]}`
	if _, err := parseCurves([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"nvlink"`, `"token ring"`, "topology"},
		{`"nvlink"`, `"infinity-fabric"`, "no such link"},
		{`"gpus": 2`, `"gpus": 1`, "needs two"},
		{`"H200 SXM"`, `"H200"`, "catalogue's name"},
		{`"lends_to": []`, `"lends_to": ["H300"]`, "not in the catalogue"},
		{`"source": "y"`, `"source": ""`, "source"},
		{`{"bytes": 2, "us": 2}`, `{"bytes": 1, "us": 2}`, "sizes must rise"},
		{`{"bytes": 2, "us": 2}`, `{"bytes": 2, "us": 0}`, "above 0"},
		{`"gpus"`, `"ranks"`, "unknown field"},
		{`[{"bytes": 1, "us": 2}, {"bytes": 2, "us": 2}]`, `[]`, "none"},
	} {
		if _, err := parseCurves([]byte(strings.Replace(good, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", c.new, err, c.want)
		}
	}
}

func TestDefaultTopology(t *testing.T) {
	for _, c := range []struct {
		device, want string
		assumed      bool
	}{
		{"H200 SXM", NVLink, false},
		{"A100 80 GB PCIe", PCIeSwitch, true},
		{"RTX PRO 6000 Blackwell Server", PCIeSwitch, true},
		{"MI300X", Fabric, false},
		{"GB10", "", false},
	} {
		d := mustFind(t, c.device)
		name, assumed := DefaultTopology(d)
		if name != c.want || assumed != c.assumed {
			t.Errorf("%s: %q assumed %v, want %q %v", c.device, name, assumed, c.want, c.assumed)
		}
		if name != "" {
			if _, err := d.MachineOn(name); err != nil {
				t.Errorf("%s on its own default: %v", c.device, err)
			}
		}
	}
}

func TestMachineOn(t *testing.T) {
	d := mustFind(t, "RTX PRO 6000 Blackwell Workstation")
	m, err := d.MachineOn(PCIeSwitch)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := m.AllReduce(12288, 8); !ok || math.Abs(c.Value-10.4166667e-6) > 1e-12 {
		t.Errorf("all-reduce %+v, %v", c, ok)
	}
	for topology, want := range map[string]string{
		NVLink:       "RTX PRO 6000 Blackwell Workstation has no such link; it can have pcie-switch, pcie-host, two-socket",
		"pcie-swtch": "did you mean pcie-switch",
		"":           "not known",
	} {
		if _, err := d.MachineOn(topology); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, expected one with %q", topology, err, want)
		}
	}
	bridged := mustFind(t, "A100 80 GB PCIe")
	for topology, want := range map[string]float64{NVLink: 300e9, PCIeSwitch: 31.508e9} {
		if c, ok := bridged.LinkOneWay(topology); !ok || math.Abs(c.Value/want-1) > 1e-4 {
			t.Errorf("A100 PCIe over %s: %v, want %v", topology, c.Value, want)
		}
	}
}
