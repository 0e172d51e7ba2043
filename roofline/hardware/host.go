package hardware

import (
	"math"
	"strings"

	"decodegap/roofline/unit"
)

// LinkHost is the link of a machine's own CPUs: there is no other device.
const LinkHost Link = "host"

// HostDevice is a machine's CPUs with their memory as a device. Nobody
// published figures for it: its bandwidth and rates are known only as probed,
// and its Machine has no ceilings. Memory 0 is unknown.
func HostDevice(name string, memory unit.Bytes, source string) Device {
	d := Device{Name: name, Link: LinkHost}
	if gib := math.Round(float64(memory)/(1<<30)*10) / 10; gib > 0 {
		d.MemoryGB = Figure{Lo: gib, Hi: gib, Source: source, Confidence: B}
	}
	return d
}

// Host says whether the device is a machine's own CPUs.
func (d Device) Host() bool { return d.Link == LinkHost }

// memoryFacts are the device's memory and its bandwidth, where known.
func (d Device) memoryFacts() []Fact {
	var facts []Fact
	if d.MemoryGB.Hi > 0 {
		unit := " GB "
		if d.Host() {
			unit = " GiB "
		}
		facts = append(facts, Fact{"memory", strings.TrimSpace(d.MemoryGB.String() + unit + d.MemoryKind.Value), d.MemoryGB.Source})
	}
	if d.BandwidthGBs.Hi > 0 {
		facts = append(facts, Fact{"memory bandwidth", d.BandwidthGBs.String() + " GB/s", d.BandwidthGBs.Source})
	}
	return facts
}
