//go:build cgo && linux

package cpu

import (
	"context"
	"fmt"

	"decodegap/probes"
	"decodegap/probes/decode"
)

// AttainableStep is a probe of one whole decode step; c names its case and
// has the bytes that the floor counts for it. Without a plan it only describes
// itself.
func AttainableStep(plan *decode.Plan, at decode.Point, c probes.Case) probes.Probe {
	return probes.Probe{
		Name:    probes.StepName("cpu"),
		Doc:     "runs a whole decode step of --model: every layer with its own weights and cache",
		Formula: "what the layout floor counts: weights read, cache read and written",
		Checked: fmt.Sprintf("logits after %d layers and the head against float64 on the same weights; all copies give the same bits", verifiedLayers),
		Check: func(h probes.Host) error {
			if plan == nil {
				return fmt.Errorf("%w without a model: give --model MODEL", probes.ErrUnsupported)
			}
			return stepFits(h, plan, at)
		},
		Plan: func(probes.Host) []probes.Case { return []probes.Case{c} },
		Prepare: func(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
			return NewStep(ctx, h, plan, StepOptions{Point: at, ISA: c.ISA, Threads: c.Threads})
		},
	}
}

// stepFits says why a step cannot run, before anything is allocated.
func stepFits(h probes.Host, plan *decode.Plan, at decode.Point) error {
	if err := stepAt(at); err != nil {
		return err
	}
	_, err := stepCopies(h, plan, StepOptions{Point: at})
	return err
}
