package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/exitcode"
	"decodegap/reports"
	"decodegap/roofline/hardware"
	"decodegap/roofline/model"
)

// hostName is what --hardware calls the machine that ceilings were probed on.
const hostName = "cpu"

// ceilings are the probed ones: of a file, or made here; nil where none are
// asked for.
func (o *scenarioOptions) ceilings(ctx context.Context, s *scenario) (*reports.CeilingsDocument, error) {
	if o.ceilingsFile == "" {
		if o.probed == nil {
			return nil, nil
		}
		var err error
		s.ceilings, err = o.probed(ctx, s)
		return s.ceilings, err
	}
	data, err := readBounded(o.ceilingsFile, reports.MaxCeilingsBytes)
	if err != nil {
		return nil, fmt.Errorf("--ceilings: %w", err)
	}
	doc, err := reports.ReadCeilingsFrom(bytes.NewReader(data), o.ceilingsFile)
	if err != nil {
		return nil, fmt.Errorf("--ceilings: %w", err)
	}
	s.sources = append(s.sources, model.Source{Path: o.ceilingsFile, SHA256: sumOf(data), Role: "ceilings"})
	s.ceilings = doc
	return doc, nil
}

// device finds the GPU by name, asks the driver, or takes the machine that the
// ceilings are of.
func (o *scenarioOptions) device(ctx context.Context, env *environment, s *scenario, opt *assemble.MachineOptions) (hardware.Device, error) {
	switch {
	case o.hardware == hostName && opt.Ceilings == nil:
		return hardware.Device{}, fmt.Errorf("--hardware cpu: nobody publishes a CPU's figures here: give --ceilings FILE (from `decodegap probe -o FILE`)")
	case o.hardware == hostName:
		return o.host(opt.Ceilings)
	case o.hardware != "auto":
		dev, err := hardware.Find(o.hardware)
		if err != nil {
			return dev, fmt.Errorf("--hardware: %w", err)
		}
		return dev, o.fits(opt.Ceilings, dev)
	}
	inv, dev, err := detect(ctx, env)
	var absent noGPUError
	if errors.As(err, &absent) && opt.Ceilings != nil {
		return o.host(opt.Ceilings)
	}
	if err != nil {
		return dev, err
	}
	s.inventory = inv
	if opt.Topology == "" {
		if name, evidence, ok := inv.Topology(); ok {
			opt.Topology, opt.TopologyEvidence = name, evidence
		}
	}
	return dev, o.fits(opt.Ceilings, dev)
}

// host is the machine that the ceilings are of.
func (o *scenarioOptions) host(doc *reports.CeilingsDocument) (hardware.Device, error) {
	dev := assemble.HostDevice(doc)
	return dev, o.fits(doc, dev)
}

// fits refuses ceilings of another device: floors of two machines in one
// document would compare what nobody ran. Status 3, not comparable.
func (o *scenarioOptions) fits(doc *reports.CeilingsDocument, dev hardware.Device) error {
	if doc == nil {
		return nil
	}
	if err := assemble.FitsDevice(doc, dev); err != nil {
		return exitcode.With(exitcode.NotComparable, fmt.Errorf("--ceilings %s: %w", o.ceilingsFile, err))
	}
	return nil
}
