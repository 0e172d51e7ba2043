package assemble

import (
	"strings"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/reports"
	"decodegap/reports/schema/schematest"
	"decodegap/roofline"
	"decodegap/roofline/hardware"
	"decodegap/roofline/unit"
)

// probedOn are the ceilings of a device, with this bandwidth.
func probedOn(device, name string, bandwidth float64) *reports.CeilingsDocument {
	doc := schematest.Ceilings()
	doc.Device, doc.Hardware = device, name
	doc.Ceilings[0].Value = bandwidth
	return doc
}

func TestProbedBesideSheet(t *testing.T) {
	dev, err := hardware.Find("H200 SXM")
	if err != nil {
		t.Fatal(err)
	}
	gap := unit.FromMicros(2)
	doc := probedOn("cuda:0", "H200 SXM", 4.1e12)
	doc.Ceilings = append(doc.Ceilings, reports.ProbedCeiling{Verdict: "noisy",
		Ceiling: reports.Ceiling{Resource: "launch.graph_node", Value: 1e-6, Unit: "s", Basis: "probed", Source: "probed"}})
	m, err := NewMachine(dev, MachineOptions{Ceilings: doc, LaunchGap: &gap})
	if err != nil {
		t.Fatal(err)
	}
	sheet, probed := m.Roofline.Ceilings[roofline.DRAMRead], m.Probed.Ceilings[roofline.DRAMRead]
	if sheet.Basis != roofline.Sheet || sheet.Value != 4.8e12 || probed.Basis != roofline.Probed || probed.Value != 4.1e12 {
		t.Errorf("bandwidths %+v and %+v", sheet, probed)
	}
	if g := m.Probed.Ceilings[roofline.GraphNode]; g.Basis != roofline.Given || g.Value != 2e-6 {
		t.Errorf("a probe stands before what a flag gave: %+v", g)
	}
	var seen []string
	for _, c := range m.Report(1, nil).Ceilings {
		if c.Resource == "dram.read" {
			seen = append(seen, c.Basis)
		}
	}
	if strings.Join(seen, " ") != "sheet probed" {
		t.Errorf("the document has %v", seen)
	}
	if m, err = NewMachine(dev, MachineOptions{Ceilings: probedOn("cuda:0", "H200 SXM", 6e12)}); err != nil || len(m.Warnings) != 1 || m.Warnings[0].Code != "probed-above-sheet" {
		t.Errorf("above the sheet: %+v, %v", m.Warnings, err)
	}
}

// TestHostHasNoSheet: what only probes know is nowhere called a sheet's.
func TestHostHasNoSheet(t *testing.T) {
	doc := probedOn("cpu", "Some CPU", 20e9)
	m, err := NewMachine(HostDevice(doc), MachineOptions{Ceilings: doc})
	if err != nil {
		t.Fatal(err)
	}
	if m.Probed != nil || m.Roofline.Ceilings[roofline.DRAMRead].Basis != roofline.Probed || m.Topology != "" || m.Note != "" {
		t.Errorf("got %+v", m)
	}
	for _, c := range m.Report(1, nil).Ceilings {
		if c.Basis != "probed" {
			t.Errorf("ceiling %+v", c)
		}
	}
	for _, f := range m.Report(1, nil).Facts {
		if strings.HasPrefix(f.Value, "0 ") || f.Name == "links" {
			t.Errorf("fact %+v of a host", f)
		}
	}
	m, err = NewMachine(HostDevice(doc), MachineOptions{Ceilings: doc, Bandwidth: 40})
	if err != nil || m.Probed == nil || m.Roofline.Ceilings[roofline.DRAMRead].Basis != roofline.Given {
		t.Errorf("with a given bandwidth: %+v, %v", m, err)
	}
	if _, err := NewMachine(HostDevice(doc), MachineOptions{Ceilings: doc, Topology: "nvlink"}); err == nil {
		t.Error("a host on NVLink")
	}
}

func TestProbedErrors(t *testing.T) {
	dev := hardware.HostDevice("x", 0, "")
	for _, c := range []struct {
		change func(*reports.CeilingsDocument)
		want   string
	}{
		{func(d *reports.CeilingsDocument) { d.Ceilings = nil }, "no dram.read among the probed ceilings"},
		{func(d *reports.CeilingsDocument) { d.Ceilings[0].Unit = "GB/s" }, `in "GB/s", expected B/s`},
	} {
		doc := probedOn("cpu", "x", 20e9)
		c.change(doc)
		if _, err := NewMachine(dev, MachineOptions{Ceilings: doc}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestFitsDevice(t *testing.T) {
	h200, err := hardware.Find("H200 SXM")
	if err != nil {
		t.Fatal(err)
	}
	host := hardware.HostDevice("Some CPU", 0, "")
	for _, c := range []struct {
		doc  *reports.CeilingsDocument
		dev  hardware.Device
		want string // "" if it fits
	}{
		{probedOn("cpu", "Some CPU", 1), host, ""},
		{probedOn("cuda:1", "NVIDIA H200", 1), h200, ""},
		{probedOn("cpu", "Some CPU", 1), h200, "of a CPU (Some CPU)"},
		{probedOn("cuda:0", "H200 SXM", 1), host, "not of a CPU"},
		{probedOn("cuda:0", "H100 SXM", 1), h200, "of H100 SXM, the floors would be for H200 SXM"},
		{probedOn("cuda:0", "x\x1b[2J", 1), h200, "of x"},
	} {
		switch err := FitsDevice(c.doc, c.dev); {
		case c.want == "" && err != nil:
			t.Errorf("%s on %s: %v", c.doc.Hardware, c.dev.Name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b")):
			t.Errorf("%q on %s: %v, want %q", c.doc.Hardware, c.dev.Name, err, c.want)
		}
	}
}

// TestCeilingsDocument: what a run of probes holds is in the document, absent
// where it is unknown, and the document passes its own check.
func TestCeilingsDocument(t *testing.T) {
	s := func(v float64) *probes.Summary {
		return probes.Summarize([]float64{v, v * 1.01, v * 0.99, v, v, v, v * 1.0000001234})
	}
	read := probes.Probe{Name: "cpu/read", Provides: []roofline.Resource{roofline.DRAMRead}}
	run := &probes.Run{
		Results: []probes.Result{
			{Probe: "cpu/gemv", Case: probes.Case{Name: "M=1", Bytes: 4e6, FLOPs: 8e6}, Outcome: probes.Measured, Kernel: "k", Verdict: probes.Good,
				Time: s(1e-3), Share: s(0.8), Blocks: 9, Invalid: 2, Runs: 3, Checked: probes.Correctness{Values: 3, Bound: 1}},
			{Probe: "cpu/amx", Outcome: probes.Unsupported, Reason: "no AMX"},
		},
		Read: s(20e9), ReadVerdict: probes.Noisy, ReadProbe: "cpu/read", ReadKernel: "k", ReadDoubts: []string{"it moved"},
		Undone: []string{"cpu/x M=1"}, Notes: []string{"busy"}, Took: 3 * time.Second,
	}
	doc := Ceilings(run, []probes.Probe{read}, nil, probes.Host{OS: "linux", Arch: "amd64", Cores: 1, Threads: 2}, "v", time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("x", 3600)), time.Minute)
	if err := doc.Check(); err != nil {
		t.Fatal(err)
	}
	if c := doc.Ceilings[0]; c.Source != "probed 2026-03-04 04:06 UTC by decodegap cpu/read, k" || c.Value != 20e9 || c.Verdict != "noisy" {
		t.Errorf("ceiling %+v", c.Ceiling)
	}
	r := doc.Results[0]
	if *r.GBs != 4 || r.InvalidBlocks != 2 || r.TimeS.Median != 0.001 || doc.Results[1].TimeS != nil || doc.Results[1].Reason != "no AMX" {
		t.Errorf("results %+v", doc.Results)
	}
	if h := doc.Host; h.NUMANodes != nil || h.MemoryBytes != nil || h.CPUQuota != nil || doc.NoiseFloor != nil {
		t.Errorf("what nobody knows is there: %+v", h)
	}
	var codes []string
	for _, w := range doc.Warnings {
		codes = append(codes, w.Code)
	}
	if strings.Join(codes, " ") != "machine ceiling-noisy incomplete" {
		t.Errorf("warnings %v", codes)
	}
}
