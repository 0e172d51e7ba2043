//go:build !cgo || !linux

package all

import (
	"context"
	"errors"
	"fmt"
	"io"

	"decodegap/probes"
	"decodegap/probes/decode"
	"decodegap/roofline/hardware"
)

// CUDA is empty: calling the driver needs C, and Linux.
var CUDA []probes.Probe

// ServeCUDA says so.
func ServeCUDA(context.Context, io.Reader, io.Writer, func(string) (hardware.Telemetry, error)) error {
	return errors.New(Missing)
}

// All is empty: the kernels are C, for Linux.
var All []probes.Probe

// Missing says why this build has no probes.
const Missing = "this build has no probes: their kernels are C, for Linux, and it was made without"

// ISAs is empty without kernels.
func ISAs() []string { return nil }

// Step is a probe that cannot run in this build.
func Step(*decode.Plan, decode.Point, probes.Case) probes.Probe {
	return probes.Probe{Name: probes.StepName("cpu"), Check: func(probes.Host) error {
		return fmt.Errorf("%w: %s", probes.ErrUnsupported, Missing)
	}}
}
