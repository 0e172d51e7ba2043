//go:build cgo && linux

package all

import (
	"decodegap/probes"
	"decodegap/probes/cpu"
)

// All lists every probe: the read ceiling of a device before what is measured
// against it.
var All = []probes.Probe{
	cpu.Read,
	cpu.GEMVNVFP4,
	cpu.GEMVBF16,
	cpu.GEMVFP8,
	cpu.GEMVMXFP4,
	cpu.GEMVINT4,
	cpu.Copy,
	cpu.Triad,
}

// Missing says why this build has no probes; "" where it has.
const Missing = ""

// ISAs lists the instruction sets that the CPU's kernels can use here, best
// first.
func ISAs() []string {
	var names []string
	for _, i := range cpu.Supported() {
		names = append(names, i.String())
	}
	return names
}
