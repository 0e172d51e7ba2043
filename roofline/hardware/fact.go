package hardware

import (
	"fmt"
	"strings"

	"decodegap/roofline/unit"
)

// Fact is one line of a data sheet for people.
type Fact struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Facts lists what people take for granted and get wrong: the kind of memory,
// its bandwidth and where that figure comes from, and how GPUs reach each
// other. Facts the sheet lacks are left out.
func (d Device) Facts() []Fact {
	facts := d.memoryFacts()
	if peak, ok := d.FormulaBandwidth(); ok {
		facts = append(facts, Fact{
			"bandwidth check",
			fmt.Sprintf("%s MHz × 2 × %s bit / 8 = %.1f GB/s", d.MemoryClockMHz, d.BusWidthBits, float64(peak)/1e9),
			"clock: " + d.MemoryClockMHz.Source + "; width: " + d.BusWidthBits.Source,
		})
	}
	if !d.Host() {
		facts = append(facts, d.linkFact())
	}
	add := func(name string, f *Figure, format string) {
		if f != nil {
			facts = append(facts, Fact{name, fmt.Sprintf(format, f), f.Source})
		}
	}
	if d.CUDA() {
		add("SMs", d.SMs, "%s")
	} else {
		add("compute units", d.SMs, "%s")
	}
	add("L2", d.L2MB, "%s MB")
	add("last-level cache", d.LastLevelCacheMB, "%s MB")
	add("board power", d.TDPW, "%s W")
	if cc := d.ComputeCapability; cc != nil {
		facts = append(facts, Fact{"compute capability", cc.Value, cc.Source})
	}
	return facts
}

// linkFact says how the part reaches its neighbours.
func (d Device) linkFact() Fact {
	var parts, sources []string
	add := func(part, source string) {
		parts = append(parts, part)
		sources = append(sources, source)
	}
	if f := d.NVLinkGBs; f != nil && d.Link == LinkNVLink {
		add("NVLink "+f.String()+" GB/s both directions", f.Source)
	}
	if f := d.NVLinkGBs; f != nil && d.Link == LinkBridge {
		add("optional NVLink bridge "+f.String()+" GB/s both directions", f.Source)
	}
	if f := d.FabricOneWayGBs; f != nil {
		add("Infinity Fabric "+f.String()+" GB/s each way", f.Source)
	}
	if f := d.PCIeGen; f != nil {
		text := "PCIe " + f.String()
		if d.PCIeLanes != nil {
			text += " ×" + d.PCIeLanes.String()
		}
		if d.Link == LinkPCIe {
			text += " only, no NVLink"
		}
		add(text, f.Source)
	}
	if d.Link == LinkSoC {
		add("one GPU in one chip", "architecture")
	}
	return Fact{"links", strings.Join(parts, ", "), strings.Join(sources, "; ")}
}

// FormulaBandwidth is memory clock × 2 × bus width / 8 in B/s: both GDDR and
// HBM move two bits a clock and pin at the clock NVML reports. False if the
// sheet lacks either figure.
func (d Device) FormulaBandwidth() (unit.BytesPerSecond, bool) {
	if d.MemoryClockMHz == nil || d.BusWidthBits == nil {
		return 0, false
	}
	return peak(d.MemoryClockMHz.Hi, d.BusWidthBits.Hi), true
}

// peak is the bandwidth of a memory bus in B/s.
func peak(clockMHz, widthBits float64) unit.BytesPerSecond {
	return unit.BytesPerSecond(clockMHz * 1e6 * 2 * widthBits / 8)
}
