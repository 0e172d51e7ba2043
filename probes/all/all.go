// Package all lists the probes. It builds everywhere: where a build has no
// kernels, each probe says so when it is asked whether it can run.
package all

import "decodegap/probes"

// All lists every probe: the read ceiling of a device before what is measured
// against it.
var All = []probes.Probe{}

// ISAs lists the instruction sets that the CPU's kernels can use here, best
// first.
func ISAs() []string { return nil }
