package assemble

import (
	"cmp"
	"slices"

	"decodegap/reports"
	"decodegap/roofline"
)

// Bounds of a step's operations in a record: templates make long names and
// many of them.
const (
	maxOperations    = 2000
	maxOperationName = 2000 // runes
)

// Traced is what a run record keeps of the traces: the median step of every
// device, that of the one which stands for all first. Nil without steps.
func (t *Trace) Traced() *reports.Traced {
	shown := t.shown(t.waits())
	if shown < 0 {
		return nil
	}
	out := &reports.Traced{Steps: []reports.TracedStep{t.devices[shown].traced()}, Timeline: Timeline(t.StepViews())}
	for i, d := range t.devices {
		if i != shown && d.profile != nil {
			out.Steps = append(out.Steps, d.traced())
		}
	}
	out.Counters = t.counterRows(t.devices[shown])
	return out
}

// traced sums a median step by operation.
func (d *tracedDevice) traced() reports.TracedStep {
	step := d.step()
	out := reports.TracedStep{Rank: step.Rank, Device: step.Device, Name: reports.OneLine(d.name, 200), Count: step.Count, FoundBy: step.FoundBy,
		MedianMs: step.MedianMs, IdleMs: map[string]float64{}, IdleGaps: map[string]int{}, Operations: []reports.TracedOperation{}}
	view := d.view(*d.profile)
	out.Kind = view.Kind
	for _, g := range view.Gaps {
		out.IdleGaps[string(g.Cause)]++
		out.IdleMs[string(g.Cause)] = step.IdleMs[string(g.Cause)]
	}
	type key struct {
		name      string
		component roofline.Component
	}
	type sum struct{ count, own int64 }
	sums, libraries := map[key]sum{}, map[key]string{}
	for _, op := range view.Operations {
		k := key{op.Name, op.Component}
		s := sums[k]
		sums[k] = sum{s.count + 1, s.own + op.Own}
		libraries[k] = op.Library
	}
	for k, s := range sums {
		out.Operations = append(out.Operations, reports.TracedOperation{Component: string(k.component),
			Name: reports.OneLine(k.name, maxOperationName), Library: libraries[k], Count: s.count, Ms: inMs(s.own)})
	}
	slices.SortFunc(out.Operations, func(a, b reports.TracedOperation) int {
		return cmp.Or(cmp.Compare(b.Ms, a.Ms), cmp.Compare(a.Component, b.Component), cmp.Compare(a.Name, b.Name))
	})
	out.Operations = fewerOperations(out.Operations, maxOperations)
	return out
}

// fewerOperations joins what is beyond the first most, component by component,
// so that nothing is lost from any sum.
func fewerOperations(all []reports.TracedOperation, most int) []reports.TracedOperation {
	if len(all) <= most {
		return all
	}
	kept := slices.Clone(all[:most])
	joined := map[string]int{}
	for _, o := range all[most:] {
		i, ok := joined[o.Component]
		if !ok {
			i = len(kept)
			joined[o.Component] = i
			kept = append(kept, reports.TracedOperation{Component: o.Component, Name: "(smaller ones)"})
		}
		kept[i].Count += o.Count
		kept[i].Ms += o.Ms
	}
	return kept
}
