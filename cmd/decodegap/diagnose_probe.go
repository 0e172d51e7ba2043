package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/exitcode"
	"decodegap/probes"
	"decodegap/reports"
	"decodegap/roofline/hardware"
)

// probeHere runs the probes that provide ceilings, for a diagnosis on this
// machine, and on its CPUs a whole step of the model. An interrupted or failed
// run gives none: a floor on half of the ceilings would change with the moment
// of the interrupt.
func probeHere(ctx context.Context, env *environment, opt *diagnoseOptions, s *scenario) (*reports.CeilingsDocument, error) {
	device, err := opt.probeDevice(ctx, env)
	if err != nil {
		return nil, err
	}
	mine, err := ofDevice(env.bench().probes, device)
	if err != nil {
		return nil, fmt.Errorf("--probe: %w", err)
	}
	var chosen []probes.Probe
	for _, p := range mine {
		if len(p.Provides) > 0 {
			chosen = append(chosen, p)
		}
	}
	var doc *reports.CeilingsDocument
	if device == hostName {
		doc, err = opt.probeCPU(ctx, env, s, mine, chosen)
	} else {
		doc, err = env.probeGPU(ctx, mine, chosen, probeOptions{outputOptions: opt.outputOptions, probing: opt.probing, device: device})
	}
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

// probeCPU adds a whole step of the first point: the rung between floor and
// measurement.
func (o *diagnoseOptions) probeCPU(ctx context.Context, env *environment, s *scenario, mine, chosen []probes.Probe) (*reports.CeilingsDocument, error) {
	points, err := o.points(s.model.Decoder, s.engine)
	if err != nil {
		return nil, err
	}
	step, err := assemble.NewAttainable(s.model.Decoder, s.engine, points[0], env.bench().step)
	if err != nil {
		return nil, err
	}
	mine, chosen = append(slices.Clone(mine), step.Probe), append(chosen, step.Probe)
	return env.probe(ctx, mine, chosen, step, o.probing, 0, o.quiet)
}

// probeDevice is what to probe: the flag's, or this machine's GPU where the
// diagnosis is of such a one. A GPU that this machine does not have cannot be
// probed: status 4.
func (o *diagnoseOptions) probeDevice(ctx context.Context, env *environment) (string, error) {
	switch {
	case o.device != "":
		return o.device, nil
	case o.hardware == hostName:
		return hostName, nil
	case o.hardware == "auto":
		_, _, err := detect(ctx, env)
		var absent noGPUError
		if errors.As(err, &absent) {
			return hostName, nil
		}
		return "cuda", err
	}
	want, err := hardware.Find(o.hardware)
	if err != nil {
		return "", fmt.Errorf("--hardware: %w", err)
	}
	inv, err := inventory(ctx)
	var has string
	if err == nil {
		for i, g := range inv.GPUs {
			if d, err := hardware.Match(g); err == nil && d.Name == want.Name {
				return fmt.Sprintf("cuda:%d", i), nil
			}
			has = cmp.Or(has, "it has a "+g.Name)
		}
		err = errors.New(cmp.Or(has, "the driver reports no GPU"))
	}
	return "", exitcode.With(exitcode.Unavailable, fmt.Errorf("--probe: this machine has no %s to probe: %w; probe where there is one and give --ceilings FILE", want.Name, err))
}
