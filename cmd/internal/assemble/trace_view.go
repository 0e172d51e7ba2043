package assemble

import (
	"cmp"
	"slices"

	"decodegap/roofline"
	"decodegap/traces"
)

// StepView is what one device did during the median step of the device that
// stands for all. Times are ns after the step's start, cut at its ends.
type StepView struct {
	Rank, Device int
	Name         string // of the device
	Index, Of    int    // of the step among those found on the device it is of
	FoundBy      string
	Kind         string // decode, prefill, mixed, idle, where the step's mark says
	Length       int64
	Operations   []ViewedOperation // by start
	Gaps         []ViewedGap
	Calls        []ViewedCall // of the host that launch work or wait for it
}

// ViewedOperation is a kernel, copy or fill.
type ViewedOperation struct {
	Start, End int64
	Own        int64 // ns that count for its component: what it shares goes to one
	Whole      int64 // ns, of the operation uncut
	Stream     int64
	Name       string
	Component  roofline.Component
	Library    string // "" where not known
}

// ViewedGap is time without any operation.
type ViewedGap struct {
	Start, End int64
	Cause      traces.GapCause
	Before     string // the operation that ended it, "" where none did
}

// ViewedCall is a call of the host during the step.
type ViewedCall struct {
	Start, End int64
	Waits      bool // for the device; else it launches work
}

// StepViews shows the median step of the device that stands for all, and the
// same time on every other device whose clock is known from collectives: the
// rest cannot be drawn beside it. Nil without steps.
func (t *Trace) StepViews() []StepView {
	waits := t.waits()
	shown := t.shown(waits)
	if shown < 0 {
		return nil
	}
	d := t.devices[shown]
	step := d.profile.Step
	views := []StepView{d.view(*d.profile)}
	from := t.clock(waits, shown)
	for i, other := range t.devices {
		to := t.clock(waits, i)
		if i == shown || from == nil || to == nil {
			continue
		}
		start := step.Start + d.Base - *from + *to - other.Base
		if during, ok := other.during(start, start+step.Wall()); ok {
			views = append(views, other.view(during))
		}
	}
	for i := range views {
		views[i].Index, views[i].Of, views[i].FoundBy = step.Index, len(d.steps.All), string(d.steps.FoundBy)
	}
	slices.SortStableFunc(views[1:], func(a, b StepView) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device)) })
	return views
}

// clock is a device's clock minus that of the first with steps, nil where
// collectives do not tell.
func (t *Trace) clock(w traces.Waits, device int) *int64 {
	if t.devices[device].profile == nil {
		return nil
	}
	k := 0
	for _, d := range t.devices[:device] {
		if d.profile != nil {
			k++
		}
	}
	return w.Ranks[k].Offset
}

// during is where the time between start and end went, false if nothing ran.
func (d *tracedDevice) during(start, end int64) (traces.StepProfile, bool) {
	first, last := len(d.GPU), 0
	for i, e := range d.GPU {
		if e.Start < end && e.End() > start {
			first, last = min(first, i), i+1
		}
	}
	if first >= last || end <= start {
		return traces.StepProfile{}, false
	}
	return traces.Attribute(traces.Step{Start: start, End: end, First: first, Last: last}, d.Device, d.component), true
}

// view lists the operations and gaps of a profile.
func (d *tracedDevice) view(p traces.StepProfile) StepView {
	v := StepView{Rank: d.line.Rank, Device: d.line.Device, Name: d.name, Kind: string(p.Step.Mark.Phase), Length: p.Step.Wall()}
	own := map[int]int64{}
	for _, s := range p.Segments {
		own[s.Op] += s.End - s.Start
	}
	for i := p.Step.First; i < p.Step.Last; i++ {
		e := d.GPU[i]
		start, end := max(e.Start, p.Step.Start), min(e.End(), p.Step.End)
		if e.Dur <= 0 || end <= start {
			continue
		}
		op := ViewedOperation{Start: start - p.Step.Start, End: end - p.Step.Start, Own: own[i], Whole: e.Dur, Stream: e.Stream,
			Name: e.Name, Component: d.component(i), Library: d.classes[i].Library}
		switch e.Kind {
		case traces.Memcpy:
			op.Component = roofline.Memcpy
		case traces.Memset:
			op.Component = roofline.Memset
		}
		v.Operations = append(v.Operations, op)
	}
	for _, g := range p.Gaps {
		gap := ViewedGap{Start: g.Start - p.Step.Start, End: g.End - p.Step.Start, Cause: g.Cause}
		if g.After >= 0 {
			gap.Before = d.GPU[g.After].Name
		}
		v.Gaps = append(v.Gaps, gap)
	}
	v.calls(d.Launches, p.Step, false)
	v.calls(d.Syncs, p.Step, true)
	return v
}

// calls adds the host's calls that touch the step, cut at its ends.
func (v *StepView) calls(calls []traces.Event, step traces.Step, waits bool) {
	for _, c := range calls {
		start, end := max(c.Start, step.Start), min(c.End(), step.End)
		if c.Dur > 0 && end > start {
			v.Calls = append(v.Calls, ViewedCall{start - step.Start, end - step.Start, waits})
		}
	}
}
