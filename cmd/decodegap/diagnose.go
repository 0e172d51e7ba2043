package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"decodegap/cmd/internal/assemble"
	"decodegap/probes/audit"
	"decodegap/reports"
	"decodegap/reports/compare"
	"decodegap/reports/records"
	"decodegap/roofline"
	"decodegap/roofline/gap"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
	"decodegap/roofline/unit"
	"decodegap/traces/bench"
)

// diagnosis is a run record in the making.
type diagnosis struct {
	opt      diagnoseOptions
	scenario *scenario
	launch   *audit.Launch
	run      *reports.Run
	seen     []roofline.Collective
	points   []*assemble.Point
	notes    benchNotes
	trace    *reports.TraceDocument // nil without a trace that has steps
	traced   *gap.Traced
	kept     *reports.Traced // what the record keeps of the trace
}

// diagnose joins floors, measurement, launch command and public records into
// one run record. BelowFloor is not empty if a measurement lies below its
// ideal floor, which no run of this model on this machine can reach.
func diagnose(ctx context.Context, env *environment, ref string, opt diagnoseOptions) (run *reports.Run, belowFloor string, err error) {
	d := &diagnosis{opt: opt, run: &reports.Run{
		Schema:      reports.RunSchema,
		Fingerprint: reports.Fingerprint{ToolVersion: version, Facts: map[string]string{}},
		Inputs:      []reports.Input{}, Points: []reports.RunPoint{}, Findings: []reports.Finding{},
		Levers: []reports.Lever{}, Records: []reports.Best{}, Warnings: []reports.Warning{},
	}}
	if err := d.readLaunch(); err != nil {
		return nil, "", err
	}
	if d.opt.probe {
		d.opt.probed = func(ctx context.Context, s *scenario) (*reports.CeilingsDocument, error) {
			return probeHere(ctx, env, &d.opt, s)
		}
	}
	if d.scenario, err = d.opt.resolve(ctx, env, ref); err != nil {
		return nil, "", err
	}
	for _, s := range append(d.scenario.model.Sources, d.scenario.sources...) {
		d.run.Inputs = append(d.run.Inputs, reports.Input{Path: s.Path, SHA256: s.SHA256, Role: s.Role})
	}
	d.run.Model = assemble.Model(d.scenario.model)
	d.run.Warnings = addWarnings(d.run.Warnings, assemble.ModelWarnings(d.scenario.model, d.scenario.modelOpt)...)
	d.run.Warnings = addWarnings(d.run.Warnings, d.scenario.notes...)
	d.run.Warnings = addWarnings(d.run.Warnings, d.scenario.machine.Warnings...)
	d.fingerprint()
	if err := d.readTrace(ctx); err != nil {
		return nil, "", err
	}
	if err := d.measure(); err != nil {
		return nil, "", err
	}
	if err := d.assumptions(); err != nil {
		return nil, "", err
	}
	d.run.Hardware = d.scenario.machine.Report(d.scenario.gpus, d.seen)
	d.findings()
	d.run.Records = append(d.run.Records, records.Match(model.ClassOf(d.run.Model.Name), d.run.Hardware.Name, d.run.Hardware.Count)...)
	d.run.Warnings = addWarnings(d.run.Warnings, d.notes.warnings()...)
	d.run.Levers = assemble.Levers(d.run.Points[0], d.scenario.machine, d.run.Findings)
	belowFloor = d.belowFloor()
	sortWarnings(d.run.Warnings)
	return d.run, belowFloor, nil
}

// readLaunch reads the launch command; what it states stands in for flags that
// were not given.
func (d *diagnosis) readLaunch() error {
	if d.opt.launch == "" {
		return nil
	}
	data, err := readBounded(d.opt.launch, 1<<20)
	if err != nil {
		return fmt.Errorf("launch command: %w", err)
	}
	d.input(d.opt.launch, "launch", data)
	if d.launch, err = audit.ParseLaunch(d.opt.launch, data); err != nil {
		return err
	}
	if tp, ok := d.launch.TP(); ok && !d.opt.fixedTP {
		d.opt.tp = []int{tp}
	}
	if _, err := layout.Find(d.launch.Engine); err == nil && !d.opt.fixedEngine {
		d.opt.engine = d.launch.Engine
	}
	maps.Copy(d.run.Fingerprint.Facts, d.launch.Facts())
	return nil
}

func (d *diagnosis) input(path, role string, data []byte) {
	d.run.Inputs = append(d.run.Inputs, reports.Input{Path: path, SHA256: sumOf(data), Role: role})
}

// sumOf is the SHA-256 of data in hexadecimal.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readBounded reads a whole file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: larger than the limit of %d bytes", path, limit)
	}
	return data, nil
}

// fingerprint adds what the driver says, where it was asked.
func (d *diagnosis) fingerprint() {
	facts := d.run.Fingerprint.Facts
	if d.scenario.machine.Device.Host() {
		maps.Copy(facts, d.scenario.ceilings.Fingerprint.Facts)
	}
	inv := d.scenario.inventory
	if inv == nil {
		return
	}
	for name, value := range map[string]string{"gpu.driver": inv.DriverVersion, "gpu.cuda": inv.CUDAVersion} {
		if value != "" {
			facts[name] = value
		}
	}
	facts["gpu.name"] = inv.GPUs[0].Name
	facts["gpu.count"] = fmt.Sprint(len(inv.GPUs))
	d.run.Warnings = addWarnings(d.run.Warnings, driverWarnings(inv.Warnings)...)
}

func driverWarnings(texts []string) []reports.Warning {
	var out []reports.Warning
	for _, t := range texts {
		out = append(out, reports.Warning{Code: "driver", Text: t})
	}
	return out
}

// measure fills in the points: one a benchmark result that has a TPOT, else
// one an operating point of the flags, with the value given for it.
func (d *diagnosis) measure() error {
	if len(d.opt.bench) > 0 {
		return d.measureBench()
	}
	var given *reports.Measured
	if d.opt.measured != "" {
		t, err := unit.ParseTPOT(d.opt.measured)
		if err != nil {
			return fmt.Errorf("--measured: %w", err)
		}
		if len(d.scenario.workloads) > 1 {
			return fmt.Errorf("--measured is one value, but --batch, --context and --tp name %d points", len(d.scenario.workloads))
		}
		given = assemble.Given(t, d.opt.measured)
	}
	for _, w := range d.scenario.workloads {
		if err := d.add(w, "", given); err != nil {
			return err
		}
	}
	return nil
}

func (d *diagnosis) measureBench() error {
	if len(d.scenario.workloads) > 1 {
		return fmt.Errorf("--bench with more than one value of --batch, --context or --tp: give at most one of each")
	}
	base := d.scenario.workloads[0]
	var doubts []string
	for _, path := range d.opt.bench {
		data, err := readBounded(path, 256<<20)
		if err != nil {
			return fmt.Errorf("benchmark: %w", err)
		}
		results, err := bench.Read(strings.NewReader(string(data)), path)
		if err != nil {
			return err
		}
		d.input(path, "bench", data)
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		series, more := compare.SeriesOf(name, path, results)
		d.run.Series = append(d.run.Series, series)
		doubts = append(doubts, more...)
		if err := d.benchPoints(name, path, base, results); err != nil {
			return err
		}
	}
	if len(d.run.Points) == 0 {
		return fmt.Errorf("%s: no result states a TPOT or what it can be derived from (mean E2E, mean TTFT, output length)", strings.Join(d.opt.bench, ", "))
	}
	for _, f := range d.opt.facts {
		if err := compare.AddFact(d.run.Series, f); err != nil {
			return fmt.Errorf("--fact: %w", err)
		}
	}
	if len(d.run.Series) > 1 {
		c, err := compare.Series(d.run.Series, compare.Options{Doubts: doubts})
		if err != nil {
			return err
		}
		d.run.Comparison = c
		d.seriesAgree()
	}
	return nil
}

// benchPoints adds a point for each result of a series that has a TPOT.
func (d *diagnosis) benchPoints(name, path string, base roofline.Workload, results []bench.Result) error {
	for _, r := range results {
		d.notes.about(name, r)
		measured := assemble.FromBench(path, r)
		if measured == nil {
			continue
		}
		w, more, err := assemble.At(base, r, d.opt.fixedBatch, d.opt.fixedContext)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		d.notes.add(more...)
		if err := d.add(w, name, measured); err != nil {
			return err
		}
	}
	return nil
}

// add computes one point and appends it.
func (d *diagnosis) add(w roofline.Workload, label string, measured *reports.Measured) error {
	p, err := assemble.NewPoint(d.scenario.at(w), d.scenario.machine.Probed)
	if err != nil {
		return err
	}
	traced := d.traced
	if len(d.run.Points) > 0 {
		traced = nil // a trace is of the first point
	} else if d.trace != nil && measured == nil {
		measured = assemble.FromTrace(d.trace)
	}
	point, err := p.RunPoint(d.scenario.machine, label, measured, traced)
	if err != nil {
		return err
	}
	if traced != nil {
		kept := *d.kept
		kept.Counters = p.JoinCounters(kept.Counters, point.Components)
		point.Traced = &kept
	}
	point.Step = assemble.StepOf(d.scenario.ceilings, d.scenario.model.Decoder, d.scenario.engine, w)
	d.points = append(d.points, p)
	d.run.Points = append(d.run.Points, point)
	d.seen = append(d.seen, p.Collectives()...)
	d.run.Warnings = addWarnings(d.run.Warnings, p.Warnings...)
	d.run.Warnings = addWarnings(d.run.Warnings, p.MemoryWarning(d.scenario.machine)...)
	return nil
}
