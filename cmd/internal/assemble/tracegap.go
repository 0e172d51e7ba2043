package assemble

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/gap"
)

// Traced is the document's step as evidence for a ledger; nil without steps.
func Traced(doc *reports.TraceDocument) *gap.Traced {
	s := doc.Step
	if s == nil {
		return nil
	}
	t := &gap.Traced{Step: exact(s.MedianMs), ByComponent: map[roofline.Component]gap.Nanoseconds{}}
	for c, ms := range s.ByComponentMs {
		t.ByComponent[roofline.Component(c)] = exact(ms)
	}
	t.LaunchBound, t.SyncBound, t.GraphGap = exact(s.IdleMs["launch_bound"]), exact(s.IdleMs["sync_bound"]), exact(s.IdleMs["graph_gap"])
	t.BetweenSteps, t.Unknown = exact(s.IdleMs["between_steps"]), exact(s.IdleMs["unknown"])
	if s.CommWaitMs != nil {
		w := exact(*s.CommWaitMs)
		t.CommWait = &w
	}
	t.AttentionKernels = s.AttentionKernels
	t.Source = fmt.Sprintf("trace, median of %d steps found by %s", s.Count, s.FoundBy)
	if len(doc.Ranks) > 1 {
		t.Source += fmt.Sprintf(", rank %d", s.Rank)
	}
	return t
}

// exact turns milliseconds that came from whole nanoseconds back into them.
func exact(ms float64) gap.Nanoseconds { return gap.Nanoseconds(math.Round(ms * 1e6)) }

// FromTrace is the measurement a trace gives where nothing else does. The
// profiler inflates it.
func FromTrace(doc *reports.TraceDocument) *reports.Measured {
	ms := doc.Step.MedianMs
	return &reports.Measured{TPOT: reports.Summary{Median: &ms}, ValueMs: ms, Statistic: "median", TokPerS: 1000 / ms,
		Source: fmt.Sprintf("the trace itself, %d steps, slowed by the profiler", doc.Step.Count)}
}

// joinTrace sets what each component took in the traced step beside its floor.
func (p *Point) joinTrace(rows []reports.ComponentRow, t *gap.Traced) []reports.ComponentRow {
	p.checkTrace(rows, t)
	p.checkLayers(rows, t)
	bandwidth, _ := p.Scenario.Machine.Bandwidth()
	seen := map[roofline.Component]bool{}
	for i := range rows {
		r := &rows[i]
		c := roofline.Component(r.Component)
		seen[c] = true
		took, ok := t.ByComponent[c]
		if !ok {
			continue
		}
		ms := took.Millis()
		r.ActualMs = &ms
		if bytes := r.WeightBytes + r.KVBytes; bytes > 0 && took > 0 {
			rate := bytes / (ms * 1e6)
			share := rate / (float64(bandwidth) / 1e9)
			r.AchievedGBs, r.CeilingShare = &rate, &share
		}
	}
	for _, c := range roofline.Components {
		took, ok := t.ByComponent[c.Name]
		if !ok || seen[c.Name] {
			continue
		}
		ms := took.Millis()
		rows = append(rows, reports.ComponentRow{Component: string(c.Name), Bound: "latency", Evidence: "config", ActualMs: &ms})
	}
	return rows
}

// ofModels are the components that a model has or has not; a floor has a row of
// each that it has.
var ofModels = []roofline.Component{
	roofline.AttentionCore, roofline.Indexer, roofline.SSM, roofline.MLPDense, roofline.MoERouter, roofline.MoEExperts, roofline.MoEShared,
}

// checkTrace warns where the trace cannot be of this operating point: parts
// that ran faster than their bytes allow or not at all, parts that the model
// does not have, collectives on one GPU.
func (p *Point) checkTrace(rows []reports.ComponentRow, t *gap.Traced) {
	const leastMs = 0.02 // of a floor or a component, to be worth a word
	known := map[roofline.Component]bool{}
	var below []string
	for _, r := range rows {
		c := roofline.Component(r.Component)
		known[c] = true
		if took := t.ByComponent[c].Millis(); !c.IsComm() && r.Ms >= leastMs && took < 0.9*r.Ms {
			below = append(below, fmt.Sprintf("%s %.3f ms, where its floor is %.3f ms", c, took, r.Ms))
		}
	}
	if len(below) > 0 {
		p.warn("trace-below-floor", "the traced step took less than this operating point can (%s): is the trace of this model, batch, context and number of GPUs, or do these parts run inside other kernels?", strings.Join(below, "; "))
	}
	var strange []string
	for _, c := range roofline.Components {
		took := t.ByComponent[c.Name].Millis()
		switch {
		case took < leastMs:
		case c.Name.IsComm() && p.Scenario.Workload.GPUs() == 1, !known[c.Name] && slices.Contains(ofModels, c.Name):
			strange = append(strange, fmt.Sprintf("%s (%.3f ms)", c.Name, took))
		}
	}
	if len(strange) > 0 {
		p.warn("trace-of-another", "the traced step has what this model on these GPUs has not: %s. Is it a trace of another model or layout?", strings.Join(strange, ", "))
	}
}

// checkLayers warns where the step's attention kernels cannot be those of the
// model's layers: a whole number a layer, whatever else runs. Pipeline stages
// hold some of the layers only, and drafts have layers of their own.
func (p *Point) checkLayers(rows []reports.ComponentRow, t *gap.Traced) {
	n := t.AttentionKernels
	if w := p.Scenario.Workload; n == 0 || w.PP > 1 || t.ByComponent[roofline.Draft] > 0 {
		return
	}
	for _, r := range rows {
		layers := r.Repeat
		if roofline.Component(r.Component) != roofline.AttentionCore || layers < 1 || n%layers == 0 {
			continue
		}
		if p.Scenario.Workload.DraftTokens > 0 && n > layers {
			continue // the draft's layers are not told apart
		}
		p.warn("trace-layers-differ", "the traced step has %d attention kernels, which is no whole number for each of this model's %d attention layers: is it a trace of another model, of a part of this one, or of a step that was cut?", n, layers)
	}
}
