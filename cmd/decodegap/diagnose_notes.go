package main

import (
	"fmt"
	"math"
	"strings"

	"decodegap/cmd/internal/assemble"
	"decodegap/probes/audit"
	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/model"
)

// sameShare is the difference up to which two series are taken to agree.
const sameShare = 0.05

// assumptions adds the floors somebody claims beside the honest ones, at the
// first point.
func (d *diagnosis) assumptions() error {
	for _, text := range d.opt.assume {
		a, err := assemble.ParseAssumption(text)
		if err != nil {
			return fmt.Errorf("--assume: %w", err)
		}
		ref := d.run.Inputs[d.modelInput()].Path
		l, err := model.Load(ref, d.opt.quantConfig, model.Options{Assume: &a.Format})
		if err != nil {
			return err
		}
		rows, err := assemble.Assumed(a, l.Decoder, d.points[0], d.scenario.machine)
		if err != nil {
			return err
		}
		if len(d.run.Assumptions) > 0 {
			rows = rows[:1] // the honest rows are there already
		}
		d.run.Assumptions = append(rows[:1:1], append(d.run.Assumptions, rows[1:]...)...)
		d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "assumption-differs", Text: fmt.Sprintf(
			"a floor of %.2f GB, %.2f ms (%.0f tok/s) would need %s; %s", rows[0].WeightGB, rows[0].MsPerToken, rows[0].TokPerS, rows[0].Name, d.ownFormats())})
	}
	return nil
}

func (d *diagnosis) modelInput() int {
	for i, in := range d.run.Inputs {
		if in.Role == "model" {
			return i
		}
	}
	return 0
}

// ownFormats says what the checkpoint itself keeps, and how it is split.
func (d *diagnosis) ownFormats() string {
	p := d.points[0].Operating()
	return fmt.Sprintf("this checkpoint has %s, and the %s layout reads %.2f GB a GPU where an even split reads %.2f",
		d.run.Model.Formats, p.Engine, p.WeightBytesLayout/1e9, p.WeightBytesIdeal/1e9)
}

// findings runs the launch command's checks.
func (d *diagnosis) findings() {
	if d.launch == nil {
		return
	}
	p := d.run.Points[0]
	latent := d.latent()
	facts := &audit.Facts{Launch: d.launch, Link: link(d.run.Hardware.Topology), GPUs: &d.scenario.gpus,
		Concurrency: &p.Batch, Context: &p.Context, MLA: &latent}
	for _, f := range audit.Run(facts) {
		d.run.Findings = append(d.run.Findings, reports.Finding{
			Check: f.Check, Severity: string(f.Severity), Text: f.Text, Advice: f.Advice, Where: f.Where, Cost: f.Cost,
		})
	}
	for _, w := range d.launch.Warnings {
		d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "launch", Text: fmt.Sprintf("%s:%d:%d: %s", d.launch.Name, w.Line, w.Col, w.Text)})
	}
	d.launchDiffers()
}

// link is the kind of link a topology has, unknown where it is only assumed
// from the part and the part may have either.
func link(topology string) audit.Link {
	switch {
	case strings.HasPrefix(topology, "pcie"), topology == "two-socket":
		return audit.PCIe
	case topology == "nvlink":
		return audit.NVLink
	}
	return ""
}

// latent says whether the model keeps one latent a token.
func (d *diagnosis) latent() bool {
	for _, c := range d.scenario.model.Caches {
		if c.Kind == roofline.CacheLatent {
			return true
		}
	}
	return false
}

// launchDiffers warns where the launch command serves something else than the
// floors are for.
func (d *diagnosis) launchDiffers() {
	m := d.run.Model
	if served := d.launch.Model; served != "" && !sameCheckpoint(served, m.Name) {
		d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "checkpoint-differs", Text: fmt.Sprintf(
			"the launch command serves %s, the floors are for %s (%s): its tensor headers were not read, and checkpoints of one name differ in what they quantize",
			served, m.Name, d.checkpoint())})
	}
	d.launchOfSeries()
	if tp, ok := d.launch.TP(); ok && tp != d.run.Points[0].TP {
		d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "tp-differs", Text: fmt.Sprintf(
			"the launch command runs tp %d, the floors are for tp %d", tp, d.run.Points[0].TP)})
	}
	if d.launch.Engine != "" && d.launch.Engine != d.run.Points[0].Engine {
		d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "engine-differs", Text: fmt.Sprintf(
			"the launch command starts %s, the floors are for the %s layout", d.launch.Engine, d.run.Points[0].Engine)})
	}
}

// launchOfSeries notes a flag whose value is the name of one series: the
// command is that series', and what the others ran under is not recorded.
func (d *diagnosis) launchOfSeries() {
	if len(d.run.Series) < 2 {
		return
	}
	for _, f := range d.launch.Flags {
		for _, s := range d.run.Series {
			if f.Value == s.Name && len(f.Value) > 2 {
				d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "launch-of-series", Text: fmt.Sprintf(
					"the launch command has %s %s: it is the one of series %s; under which settings the other series ran is not recorded", f.Name, f.Value, s.Name)})
				return
			}
		}
	}
}

// checkpoint is the published checkpoint of a catalogue model, else its file.
func (d *diagnosis) checkpoint() string {
	if e, ok := model.Entry(d.run.Model.Name); ok {
		return e.Of
	}
	return d.run.Inputs[d.modelInput()].Path
}

// sameCheckpoint compares a served path or repository with a model's name.
func sameCheckpoint(served, name string) bool {
	if e, ok := model.Entry(name); ok {
		return strings.EqualFold(served, e.Of)
	}
	last := served[strings.LastIndexByte(strings.TrimRight(served, "/"), '/')+1:]
	return strings.EqualFold(strings.TrimRight(last, "/"), name)
}

// seriesAgree notes points where two series measure the same: what differs
// between them does not limit that point.
func (d *diagnosis) seriesAgree() {
	for i, a := range d.run.Points {
		for _, b := range d.run.Points[i+1:] {
			if a.Label == b.Label || a.Batch != b.Batch || a.Context != b.Context {
				continue
			}
			if diff := math.Abs(b.Measured.ValueMs/a.Measured.ValueMs - 1); diff <= sameShare {
				d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "series-agree", Text: fmt.Sprintf(
					"%s and %s differ by only %.1f %% at batch %d (%.2f and %.2f ms): what differs between them hardly limits this point",
					a.Label, b.Label, 100*diff, a.Batch, a.Measured.ValueMs, b.Measured.ValueMs)})
			}
		}
	}
	if c := d.run.Comparison; !c.Comparable {
		d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "series-not-comparable",
			Text: "the series are not comparable as they stand: " + strings.Join(c.Reasons, "; ")})
	}
}

// belowFloor names the first point measured below its ideal floor.
func (d *diagnosis) belowFloor() string {
	for _, p := range d.run.Points {
		if p.Measured == nil || len(p.Floors) == 0 {
			continue
		}
		if f := p.Floors[0]; p.Measured.ValueMs < f.MsPerToken {
			text := fmt.Sprintf("batch %d, context %d: measured %.3f ms is below the ideal floor of %.3f ms: model, formats, hardware or measurement are not what was said",
				p.Batch, p.Context, p.Measured.ValueMs, f.MsPerToken)
			d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "below-floor", Text: text})
			return text
		}
	}
	return ""
}
