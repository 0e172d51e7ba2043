package main

import (
	"context"
	"fmt"
	"slices"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/exitcode"
	"decodegap/probes"
	"decodegap/reports"
)

// probeHere runs the probes that provide ceilings, for a diagnosis on this
// machine, and a whole step of the model. An interrupted or failed run gives none: a floor on half of the
// ceilings would change with the moment of the interrupt.
func probeHere(ctx context.Context, env *environment, opt *diagnoseOptions, s *scenario) (*reports.CeilingsDocument, error) {
	mine, err := ofDevice(env.bench().probes, "cpu")
	if err != nil {
		return nil, fmt.Errorf("--probe: %w", err)
	}
	var chosen []probes.Probe
	for _, p := range mine {
		if len(p.Provides) > 0 {
			chosen = append(chosen, p)
		}
	}
	// A whole step of the first point: the rung between floor and measurement.
	points, err := opt.points(s.model.Decoder, s.engine)
	if err != nil {
		return nil, err
	}
	step, err := assemble.NewAttainable(s.model.Decoder, s.engine, points[0], env.bench().step)
	if err != nil {
		return nil, err
	}
	mine, chosen = append(slices.Clone(mine), step.Probe), append(chosen, step.Probe)
	doc, err := env.probe(ctx, mine, chosen, step, opt.probing, 0, opt.quiet)
	if err != nil {
		return nil, fmt.Errorf("--probe: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(doc.Ceilings) == 0 {
		why := "no probe gave a ceiling"
		for _, r := range doc.Results {
			if r.Reason != "" {
				why = r.Probe + ": " + r.Reason
				break
			}
		}
		return nil, exitcode.With(exitcode.Unavailable, fmt.Errorf("--probe: nothing could be measured: %s", why))
	}
	return doc, nil
}
