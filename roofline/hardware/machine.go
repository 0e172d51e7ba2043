package hardware

import (
	"fmt"

	"decodegap/roofline"
)

// graphNodeSeconds is the shortest boundary between two kernels of a CUDA graph
// that anybody here has measured; real kernels need longer ones.
const graphNodeSeconds = 0.55e-6

const graphNodeSource = "shortest boundary between two dependent empty nodes of a CUDA graph, 0.54–0.57 µs measured on an H200 with driver 580"

// graphNodeDevice is the part graphNodeSeconds was measured on.
const graphNodeDevice = "H200 SXM"

// Machine returns the device's ceilings as its data sheet states them, each
// with its source. A resource the sheet does not give is absent, so that a
// floor that needs it fails rather than dividing by a guess. The link ceiling
// is the fastest way out the part can have; MachineOn knows the topology.
func (d Device) Machine() roofline.Machine {
	m := roofline.Machine{Name: d.Name, Ceilings: map[roofline.Resource]roofline.Ceiling{}}
	put := func(r roofline.Resource, f *Figure, factor float64, unit, shown string) {
		if f != nil {
			m.Ceilings[r] = sheet(r, *f, factor, unit, shown)
		}
	}
	if d.BandwidthGBs.Hi > 0 { // a host's is known only as probed
		put(roofline.DRAMRead, &d.BandwidthGBs, 1e9, "B/s", "GB/s")
	}
	put(roofline.TensorBF16, d.BF16TFLOPS, 1e12, "FLOP/s", "TFLOPS")
	put(roofline.TensorFP16, d.FP16TFLOPS, 1e12, "FLOP/s", "TFLOPS")
	put(roofline.TensorFP8, d.FP8TFLOPS, 1e12, "FLOP/s", "TFLOPS")
	put(roofline.TensorFP4, d.FP4TFLOPS, 1e12, "FLOP/s", "TFLOPS")
	put(roofline.TensorINT8, d.INT8TOPS, 1e12, "OP/s", "TOPS")
	if c, ok := d.fastestLink(); ok {
		m.Ceilings[roofline.LinkOneWay] = c
	}
	if d.CUDA() {
		source := graphNodeSource
		if d.Name != graphNodeDevice {
			source += "; taken from that GPU, not measured on " + d.Name
		}
		m.Ceilings[roofline.GraphNode] = roofline.Ceiling{
			Resource: roofline.GraphNode, Value: graphNodeSeconds, Unit: "s", Basis: roofline.Sheet, Source: source,
		}
	}
	return m
}

// MachineOn is Machine for GPUs wired as topology says: its link ceiling is
// that topology's, and AllReduce answers from the latencies measured on it. An
// unknown topology, or one the part cannot have, is an error.
func (d Device) MachineOn(topology string) (roofline.Machine, error) {
	if err := CheckTopology(d, topology); err != nil {
		return roofline.Machine{}, err
	}
	m := d.Machine()
	delete(m.Ceilings, roofline.LinkOneWay)
	if c, ok := d.LinkOneWay(topology); ok {
		m.Ceilings[roofline.LinkOneWay] = c
	}
	m.AllReduce = AllReduce(d, topology)
	return m, nil
}

// sheet makes a ceiling of a figure: of a range, the end that keeps a floor a
// floor.
func sheet(r roofline.Resource, f Figure, factor float64, unit, shown string) roofline.Ceiling {
	source := f.Source
	if f.Range() {
		source = fmt.Sprintf("%s %s, the higher used: %s", f, shown, source)
	}
	if f.Confidence == C {
		source += " (confidence C)"
	}
	return roofline.Ceiling{Resource: r, Value: f.Hi * factor, Unit: unit, Basis: roofline.Sheet, Source: source}
}

// LinkOneWay is the rate one GPU can send at over the topology's links, B/s in
// one direction; false if the device has no such link or no published rate.
func (d Device) LinkOneWay(topology string) (roofline.Ceiling, bool) {
	if CheckTopology(d, topology) != nil {
		return roofline.Ceiling{}, false
	}
	switch topology {
	case NVLink:
		if d.NVLinkGBs == nil {
			return roofline.Ceiling{}, false
		}
		c := sheet(roofline.LinkOneWay, *d.NVLinkGBs, 1e9/2, "B/s", "GB/s")
		c.Source = "half of NVLink's two directions: " + c.Source
		return c, true
	case Fabric:
		if d.FabricOneWayGBs == nil {
			return roofline.Ceiling{}, false
		}
		return sheet(roofline.LinkOneWay, *d.FabricOneWayGBs, 1e9, "B/s", "GB/s"), true
	}
	return d.pcieOneWay()
}

// pcieOneWay is the line rate of PCIe at 16 lanes, the widest slot there is:
// transfers × lanes × 128/130 / 8. Generation 6 has no 128b/130b code; its raw
// rate stands for it, which errs on the fast side.
func (d Device) pcieOneWay() (roofline.Ceiling, bool) {
	if d.PCIeGen == nil {
		return roofline.Ceiling{}, false
	}
	var rate float64
	switch d.PCIeGen.Hi {
	case 3, 4, 5:
		gigatransfers := map[float64]float64{3: 8, 4: 16, 5: 32}[d.PCIeGen.Hi]
		rate = gigatransfers * 1e9 * 16 * 128 / 130 / 8
	case 6:
		rate = 64e9 * 16 / 8
	default:
		return roofline.Ceiling{}, false
	}
	return roofline.Ceiling{
		Resource: roofline.LinkOneWay, Value: rate, Unit: "B/s", Basis: roofline.Sheet,
		Source: fmt.Sprintf("line rate of PCIe %s at ×16, one direction; generation from %s", number(d.PCIeGen.Hi), d.PCIeGen.Source),
	}, true
}

// fastestLink is the best link the part can have, bridge included: without a
// topology only the fastest keeps a floor a floor.
func (d Device) fastestLink() (roofline.Ceiling, bool) {
	switch d.Link {
	case LinkNVLink, LinkBridge:
		return d.LinkOneWay(NVLink)
	case LinkFabric:
		return d.LinkOneWay(Fabric)
	case LinkPCIe:
		return d.pcieOneWay()
	}
	return roofline.Ceiling{}, false
}
