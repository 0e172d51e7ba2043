package assemble

import (
	"fmt"
	"slices"
	"strings"

	"decodegap/reports"
	"decodegap/roofline/unit"
	"decodegap/traces"
)

// Document is all that was read, as trace --json prints it.
func (t *Trace) Document() *reports.TraceDocument {
	doc := t.doc
	doc.Schema = reports.TraceSchema
	waits := t.waits()
	t.doc.Warnings = nil
	doc.Ranks = []reports.TraceRank{}
	for _, d := range t.devices {
		doc.Ranks = append(doc.Ranks, d.rank())
	}
	if i := t.shown(waits); i >= 0 {
		doc.Step = t.devices[i].step()
	}
	doc.Kernels = t.kernels.list()
	doc.Counters = t.counterTable()
	if t.known.total > 0 {
		share := float64(t.known.total-t.known.known) / float64(t.known.total)
		doc.UnclassifiedShare = &share
	}
	doc.Warnings = append(doc.Warnings, t.notes(waits)...)
	if doc.Warnings == nil {
		doc.Warnings = []reports.Warning{}
	}
	return &doc
}

// waits splits the collectives of the ranks that have steps. Files of one rank
// are of two runs, whose collectives have nothing to do with each other.
func (t *Trace) waits() traces.Waits {
	var ranks []traces.RankStep
	if t.mixed {
		return traces.SplitWaits(nil)
	}
	for _, d := range t.devices {
		if d.profile != nil {
			ranks = append(ranks, traces.RankStep{Device: d.Device, Profile: d.profile, Component: d.component})
		}
	}
	return traces.SplitWaits(ranks)
}

// shown is the index of the device whose step stands for all: the one that
// waits longest, else the one with the longest step; -1 without steps.
func (t *Trace) shown(w traces.Waits) int {
	best, k := -1, 0
	for i, d := range t.devices {
		if d.profile == nil {
			continue
		}
		if k == w.Longest {
			return i
		}
		k++
		if best < 0 || d.profile.Step.Wall() > t.devices[best].profile.Step.Wall() {
			best = i
		}
	}
	return best
}

// notes are the warnings of steps, waiting and classification.
func (t *Trace) notes(w traces.Waits) []reports.Warning {
	var out []reports.Warning
	add := func(path, code, text string) {
		if t.Many && path != "" {
			text = path + ": " + text
		}
		for _, have := range out {
			if have.Code == code && have.Text == text {
				return
			}
		}
		out = append(out, reports.Warning{Code: code, Text: text})
	}
	for _, d := range t.devices {
		if d.none != nil {
			add(d.path, "no-steps", d.none.Error())
		}
		for _, n := range d.steps.Notes {
			add(d.path, n.Code, n.Text)
		}
	}
	for _, n := range w.Notes {
		add("", n.Code, n.Text)
	}
	if len(t.counted) > 0 && !slices.ContainsFunc(t.counted, func(c counted) bool { return c.read != nil }) {
		add("", "no-byte-counters", "no kernel's DRAM bytes were counted: run ncu with --metrics "+metricRead+","+metricWrite+","+metricDuration)
	}
	if t.rules != nil {
		for _, r := range t.rules.Unused() {
			add("", "rule-unused", fmt.Sprintf("%s: %q matches no kernel that no earlier rule has", r.Where, r.Pattern))
		}
	}
	if t.kernels.over {
		add("", "kernel-names", fmt.Sprintf("more than %d kernel names, or more than %d MB of them: those behind stand in one row of each component, %s", maxKernelNames, maxNameBytes>>20, otherNames))
	}
	if k := t.known; k.total > 0 && float64(k.total-k.known) > 0.05*float64(k.total) {
		add("", "unclassified", fmt.Sprintf("the component of %s %% of the kernel time is not known (%s); name it with --rules",
			unit.Significant(100*float64(k.total-k.known)/float64(k.total), 3), strings.Join(t.kernels.unknown(3), ", ")))
	}
	return out
}

func (d *tracedDevice) rank() reports.TraceRank {
	l := d.line
	r := reports.TraceRank{
		Rank: l.Rank, Device: l.Device, Name: d.name, GPUOps: l.Ops, Kernels: l.Kernels, Streams: l.Streams,
		SpanMs: inMs(l.Span()), BusyMs: inMs(l.Busy), KernelTimeMs: inMs(l.KernelTime), Step: d.step(),
	}
	for _, s := range d.steps.All {
		r.Steps = append(r.Steps, reports.TraceStepSummary{
			Index: s.Index, StartMs: inMs(s.Start - l.Start), WallMs: inMs(s.Wall()), BusyMs: inMs(s.Busy), IdleMs: inMs(s.Wall() - s.Busy), GPUOps: s.Ops, Aside: s.Aside,
		})
	}
	return r
}

// step is the median step, nil without steps.
func (d *tracedDevice) step() *reports.TraceStep {
	p := d.profile
	if p == nil {
		return nil
	}
	s := &reports.TraceStep{
		Rank: d.line.Rank, Device: d.line.Device, Count: d.steps.Counts, MedianOf: d.steps.MedianOf, FoundBy: string(d.steps.FoundBy), MedianMs: inMs(p.Step.Wall()),
		ByComponentMs: map[string]float64{}, CommOverlappedMs: inMs(p.CommOverlapped), AttentionKernels: d.attention(),
		IdleMs: map[string]float64{
			string(traces.LaunchBound): inMs(p.Idle.LaunchBound), string(traces.SyncBound): inMs(p.Idle.SyncBound), string(traces.GraphGap): inMs(p.Idle.GraphGap),
			string(traces.BetweenSteps): inMs(p.Idle.BetweenSteps), string(traces.UnknownGap): inMs(p.Idle.Unknown),
		},
	}
	for c, ns := range p.ByComponent {
		s.ByComponentMs[string(c)] = inMs(ns)
	}
	if p.CommWait != nil {
		wait := inMs(*p.CommWait)
		s.CommWaitMs = &wait
	}
	return s
}

// inMs turns ns into ms.
func inMs(ns int64) float64 { return float64(ns) / 1e6 }
