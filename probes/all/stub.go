//go:build !cgo || !linux

package all

import "decodegap/probes"

// All is empty: the kernels are C, for Linux.
var All []probes.Probe

// Missing says why this build has no probes.
const Missing = "this build has no probes: their kernels are C, for Linux, and it was made without"

// ISAs is empty without kernels.
func ISAs() []string { return nil }
