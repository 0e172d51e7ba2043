//go:build cgo && linux

package all

import (
	"decodegap/probes"
	"decodegap/probes/cpu"
	"decodegap/probes/decode"
)

// Step is the probe of a whole decode step on the CPU.
func Step(plan *decode.Plan, at decode.Point, c probes.Case) probes.Probe {
	return cpu.AttainableStep(plan, at, c)
}
