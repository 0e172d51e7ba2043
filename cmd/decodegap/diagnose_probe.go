package main

import (
	"context"
	"fmt"

	"decodegap/cmd/internal/exitcode"
	"decodegap/probes"
	"decodegap/reports"
)

// probeHere runs the probes that provide ceilings, for a diagnosis on this
// machine. An interrupted or failed run gives none: a floor on half of the
// ceilings would change with the moment of the interrupt.
func probeHere(ctx context.Context, env *environment, opt *diagnoseOptions) (*reports.CeilingsDocument, error) {
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
	doc, err := env.probe(ctx, mine, chosen, opt.probing, 0, opt.quiet)
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
