package assemble

import (
	"fmt"
	"maps"
	"strings"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/hardware"
	"decodegap/roofline/unit"
)

// HostDevice is the machine that a ceilings document is of, as a device whose
// only ceilings are those in it.
func HostDevice(doc *reports.CeilingsDocument) hardware.Device {
	var memory unit.Bytes
	if doc.Host.MemoryBytes != nil {
		memory = unit.Bytes(*doc.Host.MemoryBytes)
	}
	return hardware.HostDevice(reports.OneLine(doc.Hardware, 120), memory, "the operating system, when it was probed")
}

// units are what the ceilings of resources that a floor uses are given in.
var units = map[roofline.Resource]string{
	roofline.DRAMRead: "B/s", roofline.LinkOneWay: "B/s", roofline.GraphNode: "s",
	roofline.TensorFP4: "FLOP/s", roofline.TensorFP8: "FLOP/s", roofline.TensorBF16: "FLOP/s", roofline.TensorFP16: "FLOP/s", roofline.TensorINT8: "FLOP/s",
}

// probe puts probed ceilings beside the sheet's, or, for a host that has no
// sheet, in their place. What a flag gave stands before a probe, but for the
// bandwidth, which then has a floor of either.
func (m *Machine) probe(doc *reports.CeilingsDocument) error {
	probed := m.Roofline
	probed.Ceilings = maps.Clone(m.Roofline.Ceilings)
	for _, c := range doc.Ceilings {
		r := roofline.Resource(c.Resource)
		if want := units[r]; want != "" && c.Unit != want {
			return fmt.Errorf("the ceiling of %s is in %q, expected %s", reports.OneLine(c.Resource, 60), reports.OneLine(c.Unit, 20), want)
		}
		if probed.Ceilings[r].Basis == roofline.Given && r != roofline.DRAMRead {
			continue
		}
		probed.Ceilings[r] = roofline.Ceiling{Resource: r, Value: c.Value, Unit: c.Unit, Basis: roofline.Probed, Source: reports.OneLine(c.Source, 300)}
		if c.Verdict != "good" {
			m.Warnings = append(m.Warnings, reports.Warning{Code: "ceiling-" + c.Verdict, Text: fmt.Sprintf(
				"the probed %s of %s is %s: floors at probed ceilings are no better than it; probe again on a quiet machine",
				reports.OneLine(c.Resource, 60), quantity(c.Value, c.Unit), c.Verdict)})
		}
	}
	if probed.Ceilings[roofline.DRAMRead].Basis != roofline.Probed {
		return fmt.Errorf("no dram.read among the probed ceilings, without which there is no floor: run `decodegap probe read -o FILE` again, and see why it measured none")
	}
	m.facts = append(m.facts, probedFacts(doc)...)
	sheet, known := m.Roofline.Ceilings[roofline.DRAMRead]
	if !known {
		m.Roofline = probed
		return nil
	}
	if m.Device.Host() { // only the bandwidth was given
		m.Roofline.Ceilings = maps.Clone(probed.Ceilings)
		m.Roofline.Ceilings[roofline.DRAMRead] = sheet
	}
	m.Probed = &probed
	if p := probed.Ceilings[roofline.DRAMRead]; p.Value > 1.05*sheet.Value {
		m.Warnings = append(m.Warnings, reports.Warning{Code: "probed-above-sheet", Text: fmt.Sprintf(
			"the probed memory bandwidth of %s is above the %s one of %s: the hardware is not what was said, or the probe is wrong",
			quantity(p.Value, p.Unit), sheet.Basis, quantity(sheet.Value, sheet.Unit))})
	}
	return nil
}

func quantity(v float64, u string) string {
	switch u {
	case "B/s":
		return unit.BytesPerSecond(v).String()
	case "s":
		return unit.Seconds(v).String()
	}
	return unit.FLOPsPerSecond(v).String()
}

// probedFacts are what the system said of a probed machine.
func probedFacts(doc *reports.CeilingsDocument) []reports.Fact {
	source := "the operating system, " + doc.When
	var out []reports.Fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, reports.Fact{Name: name, Value: value, Source: source})
		}
	}
	if g := doc.GPU; g != nil {
		source = "the NVIDIA driver, " + doc.When
		add("probed on", reports.OneLine(doc.Hardware, 120)+" ("+reports.OneLine(doc.Device, 20)+")")
		for _, c := range doc.Ceilings {
			if b := c.Bus; b != nil {
				add("memory bus while probed", fmt.Sprintf("%d MHz × %d bit × 2 = %s; the probed %s is %.1f %% of it",
					b.MemoryClockMHz, b.BusWidthBits, unit.BytesPerSecond(b.Peak), reports.OneLine(c.Resource, 60), 100*b.Share))
			}
		}
		return out
	}
	h := doc.Host
	add("probed on", reports.OneLine(doc.Hardware, 120))
	add("instruction sets", reports.OneLine(strings.Join(h.ISAs, ", "), 300))
	for _, c := range []struct {
		name string
		size *float64
	}{{"L1 data cache a core", h.L1DataBytes}, {"L2 cache a core", h.L2Bytes}, {"last-level cache", h.LastLevelBytes}} {
		if c.size != nil {
			add(c.name, unit.Bytes(*c.size).String())
		}
	}
	if h.NUMANodes != nil {
		add("memory nodes", fmt.Sprint(*h.NUMANodes))
	}
	return out
}

// FitsDevice says whether a ceilings document can be of a device: an error
// that says what it is of where it cannot.
func FitsDevice(doc *reports.CeilingsDocument, dev hardware.Device) error {
	kind, _, _ := strings.Cut(doc.Device, ":")
	switch {
	case kind == "cpu" && dev.Host():
		return nil
	case kind == "cpu":
		return fmt.Errorf("these ceilings are of a CPU (%s), the floors would be for %s; give --hardware cpu", reports.OneLine(doc.Hardware, 120), dev.Name)
	case dev.Host():
		return fmt.Errorf("these ceilings are of %s (%s), not of a CPU", reports.OneLine(doc.Device, 40), reports.OneLine(doc.Hardware, 120))
	}
	if found, err := hardware.Find(doc.Hardware); err != nil || found.Name != dev.Name {
		return fmt.Errorf("these ceilings are of %s, the floors would be for %s", reports.OneLine(doc.Hardware, 120), dev.Name)
	}
	return nil
}
