package traces

import (
	"sort"
	"strings"
)

// GapCause says why the device was idle.
type GapCause string

// The causes of a gap. BetweenSteps is the gap before the next step, whatever
// caused it; inside the step:
//   - GraphGap: the next operation belongs to a graph replay that had begun;
//   - SyncBound: the host was waiting for the device when the gap began (in a
//     synchronising call or a copy that blocks) and
//     could launch the next operation only after that;
//   - LaunchBound: the host had not finished launching the next operation
//     when the gap began, and was not waiting for the device;
//   - UnknownGap: the launch was in time (the device waited for something of
//     its own), or is not in the trace.
const (
	LaunchBound  GapCause = "launch_bound"
	SyncBound    GapCause = "sync_bound"
	GraphGap     GapCause = "graph_gap"
	BetweenSteps GapCause = "between_steps"
	UnknownGap   GapCause = "unknown"
)

// Gap is a stretch of time without any GPU operation.
type Gap struct {
	Start, End    int64 // ns
	Cause         GapCause
	Before, After int // operations around it, indices in Device.GPU; -1 where the step ends
}

// IdleTime is the idle time of a step by cause, in ns.
type IdleTime struct {
	LaunchBound, SyncBound, GraphGap, BetweenSteps, Unknown int64
}

// Total is the idle time of the step in ns.
func (t IdleTime) Total() int64 {
	return t.LaunchBound + t.SyncBound + t.GraphGap + t.BetweenSteps + t.Unknown
}

func (t *IdleTime) add(c GapCause, ns int64) {
	switch c {
	case LaunchBound:
		t.LaunchBound += ns
	case SyncBound:
		t.SyncBound += ns
	case GraphGap:
		t.GraphGap += ns
	case BetweenSteps:
		t.BetweenSteps += ns
	default:
		t.Unknown += ns
	}
}

// explainGaps names the cause of each gap.
func (p *StepProfile) explainGaps(dev *Device) {
	p.nameNeighbours(dev)
	wanted := map[call]*Event{}
	for _, g := range p.Gaps {
		if g.After >= 0 && dev.GPU[g.After].Corr != 0 {
			wanted[dev.GPU[g.After].call()] = nil
		}
	}
	for i := range dev.Launches {
		l := &dev.Launches[i]
		if known, ours := wanted[l.call()]; ours && l.Corr != 0 && known == nil {
			wanted[l.call()] = l
		}
	}
	syncs := waitsByThread(dev, p.Step)
	begun := map[call]bool{} // calls of which an operation has run before the gap
	next := p.Step.First
	for k := range p.Gaps {
		g := &p.Gaps[k]
		for ; next < p.Step.Last && dev.GPU[next].Start < g.End; next++ {
			if e := dev.GPU[next]; e.Corr != 0 && e.usable() {
				begun[e.call()] = true
			}
		}
		g.Cause = p.causeOf(*g, dev, wanted, begun, syncs)
		p.Idle.add(g.Cause, g.End-g.Start)
	}
}

func (p *StepProfile) causeOf(g Gap, dev *Device, launches map[call]*Event, begun map[call]bool, syncs map[thread][]Event) GapCause {
	if g.Start == p.Step.Start || g.End == p.Step.End {
		return BetweenSteps
	}
	if g.After < 0 {
		return UnknownGap
	}
	e := dev.GPU[g.After]
	if e.Corr == 0 {
		return UnknownGap
	}
	if begun[e.call()] {
		return GraphGap
	}
	l := launches[e.call()]
	if l == nil {
		return UnknownGap
	}
	if l.Start > e.Start {
		p.LaunchAfterStart++
		return UnknownGap
	}
	if l.End() <= g.Start {
		return UnknownGap
	}
	if waited(syncs[thread{l.Process, l.Stream}], g.Start, l.Start) {
		return SyncBound
	}
	return LaunchBound
}

// nameNeighbours finds the operations around each gap: the one that ended
// last before it and the first behind it.
func (p *StepProfile) nameNeighbours(dev *Device) {
	s := 0
	for k := range p.Gaps {
		g := &p.Gaps[k]
		for s < len(p.Segments) && p.Segments[s].End <= g.Start {
			s++
		}
		if s > 0 && p.Segments[s-1].End == g.Start {
			g.Before = p.Segments[s-1].Op
		}
		if s < len(p.Segments) && p.Segments[s].Start == g.End {
			g.After = p.Segments[s].Op
		}
	}
}

// thread is a host thread; syncs of other threads do not hold up a launch.
type thread struct {
	process uint64
	id      int64
}

// waitsByThread lists the calls in which the host waits for the device:
// synchronisation, and copies that return when they are done.
func waitsByThread(dev *Device, step Step) map[thread][]Event {
	out := map[thread][]Event{}
	add := func(e Event) {
		if e.Start < step.End && e.End() > step.Start {
			t := thread{e.Process, e.Stream}
			out[t] = append(out[t], e)
		}
	}
	for _, s := range dev.Syncs {
		add(s)
	}
	for _, l := range dev.Launches {
		if strings.Contains(l.Name, "Memcpy") && !strings.Contains(l.Name, "Async") {
			add(l)
		}
	}
	for _, waits := range out {
		sortByStart(waits)
	}
	return out
}

// waited says whether a call that waits for the device was running at the
// start of a gap and had returned before the launch.
func waited(syncs []Event, gap, launch int64) bool {
	i := sort.Search(len(syncs), func(i int) bool { return syncs[i].Start > gap })
	// Calls nest a few deep (an event's wait inside a stream's).
	for k := i - 1; k >= 0 && k >= i-8; k-- {
		if syncs[k].End() > gap && syncs[k].End() <= launch {
			return true
		}
	}
	return false
}
