package traces

import "decodegap/roofline"

// StepProfile is where the time of one step on one device went. Every
// nanosecond of the step is in exactly one component or one kind of gap:
// Σ ByComponent + Idle.Total() = Step.Wall(), exactly.
//
// Where operations overlap, the time goes to computation before
// communication before copies and sets, and among equals to the one that
// started first. So a collective behind a GEMM costs nothing here, and only
// its exposed part does.
type StepProfile struct {
	Rank, Device int
	Step         Step

	ByComponent map[roofline.Component]int64 // exclusive ns; no zero entries
	Idle        IdleTime

	Comm           int64  // ns during which any collective or send runs
	CommOverlapped int64  // ns of Comm hidden behind computation
	CommWait       *int64 // ns of the comm.* components spent waiting for the slowest rank; nil when not known (SplitWaits)

	Ops     int // operations that start in the step; Kernels + Copies + Sets
	Kernels int
	Copies  int
	Sets    int
	// Launches are the calls that launched them, GraphReplays those of the
	// calls that replayed a graph. Operations without a correlation id count
	// for no call.
	Launches, GraphReplays int
	// LaunchAfterStart counts gaps whose next operation starts before its own
	// launch call: the clocks of host and device disagree, and such gaps are
	// unknown.
	LaunchAfterStart int

	// Segments are the busy time in order, one owner each; Gaps the idle time
	// in order. Together they tile the step.
	Segments []Segment
	Gaps     []Gap
}

// CommExposed is the time only communication fills, in ns.
func (p StepProfile) CommExposed() int64 { return p.Comm - p.CommOverlapped }

// Segment is a stretch of time that one operation owns.
type Segment struct {
	Start, End int64 // ns
	Op         int   // index in Device.GPU
}

// Attribute gives the time of a step to components and gaps. component names
// the component of the kernel at an index of dev.GPU; copies and sets are
// not asked about: they are memcpy and memset.
func Attribute(step Step, dev Device, component func(i int) roofline.Component) StepProfile {
	p := StepProfile{Rank: dev.Rank, Device: dev.Device, Step: step, ByComponent: map[roofline.Component]int64{}}
	named := make([]roofline.Component, step.Last-step.First)
	for i := range named {
		named[i] = componentOf(dev.GPU[step.First+i], step.First+i, component)
	}
	of := func(i int) roofline.Component { return named[i-step.First] }
	p.sweep(&dev, of)
	p.count(&dev)
	p.explainGaps(&dev)
	for _, s := range p.Segments {
		p.ByComponent[of(s.Op)] += s.End - s.Start
	}
	var exposed int64
	for c, ns := range p.ByComponent {
		if c.IsComm() {
			exposed += ns
		}
	}
	p.Comm = commUnion(step, &dev, of)
	p.CommOverlapped = p.Comm - exposed
	return p
}

func componentOf(e Event, i int, component func(int) roofline.Component) roofline.Component {
	switch e.Kind {
	case Memcpy:
		return roofline.Memcpy
	case Memset:
		return roofline.Memset
	}
	if c := component(i); c != "" {
		return c
	}
	return roofline.Other
}

// The classes of the overlap rule, strongest first.
const (
	computes = iota
	communicates
	copies
	classes
)

func classOf(c roofline.Component) int {
	switch {
	case c.IsComm():
		return communicates
	case c == roofline.Memcpy || c == roofline.Memset:
		return copies
	}
	return computes
}

// sweep walks the step once and cuts it into segments and gaps.
func (p *StepProfile) sweep(dev *Device, of func(int) roofline.Component) {
	var running [classes]startOrder
	end := p.Step.End
	next := p.Step.First
	for t := p.Step.Start; t < end; {
		for ; next < p.Step.Last && dev.GPU[next].Start <= t; next++ {
			if e := dev.GPU[next]; e.usable() && e.End() > t {
				running[classOf(of(next))].push(next)
			}
		}
		until := end
		if next < p.Step.Last {
			until = min(until, dev.GPU[next].Start)
		}
		owner := -1
		for c := range running {
			if i, ok := running[c].first(dev.GPU, t); ok {
				owner = i
				break
			}
		}
		if owner < 0 {
			p.addGap(t, until)
		} else {
			until = min(until, dev.GPU[owner].End())
			p.addSegment(t, until, owner)
		}
		t = until
	}
}

func (p *StepProfile) addSegment(start, end int64, op int) {
	if n := len(p.Segments); n > 0 && p.Segments[n-1].Op == op && p.Segments[n-1].End == start {
		p.Segments[n-1].End = end
		return
	}
	p.Segments = append(p.Segments, Segment{start, end, op})
}

func (p *StepProfile) addGap(start, end int64) {
	if n := len(p.Gaps); n > 0 && p.Gaps[n-1].End == start { // an operation without length lies between
		p.Gaps[n-1].End = end
		return
	}
	p.Gaps = append(p.Gaps, Gap{Start: start, End: end, Before: -1, After: -1})
}

// startOrder holds running operations; the lowest index started first. It is
// a binary heap from which ended operations are dropped when they surface.
type startOrder []int

func (h *startOrder) push(i int) {
	*h = append(*h, i)
	for k := len(*h) - 1; k > 0 && (*h)[k] < (*h)[(k-1)/2]; k = (k - 1) / 2 {
		(*h)[k], (*h)[(k-1)/2] = (*h)[(k-1)/2], (*h)[k]
	}
}

// first is the operation that started first among those that run at t.
func (h *startOrder) first(gpu []Event, t int64) (int, bool) {
	for len(*h) > 0 {
		if i := (*h)[0]; gpu[i].End() > t {
			return i, true
		}
		h.pop()
	}
	return 0, false
}

func (h *startOrder) pop() {
	s := *h
	n := len(s) - 1
	s[0] = s[n]
	s = s[:n]
	for k := 0; ; {
		child := 2*k + 1
		if child >= n {
			break
		}
		if child+1 < n && s[child+1] < s[child] {
			child++
		}
		if s[k] <= s[child] {
			break
		}
		s[k], s[child] = s[child], s[k]
		k = child
	}
	*h = s
}

// count counts the operations that start in the step and their launches.
func (p *StepProfile) count(dev *Device) {
	kernels := map[call]int{}
	for _, e := range dev.GPU[p.Step.First:p.Step.Last] {
		if e.Start < p.Step.Start || e.Start >= p.Step.End {
			continue
		}
		p.Ops++
		switch e.Kind {
		case Memcpy:
			p.Copies++
		case Memset:
			p.Sets++
		default:
			p.Kernels++
		}
		if e.Corr != 0 {
			n := kernels[e.call()]
			if e.Kind == Kernel {
				n++
			}
			kernels[e.call()] = n
		}
	}
	p.Launches = len(kernels)
	isGraph := map[call]bool{}
	for _, l := range dev.Launches {
		if _, ours := kernels[l.call()]; ours && l.Corr != 0 {
			isGraph[l.call()] = isGraph[l.call()] || isGraphLaunch(l.Name)
		}
	}
	for c, n := range kernels {
		if graph, known := isGraph[c]; graph || (!known && n >= smallGraph) {
			p.GraphReplays++
		}
	}
}

// commUnion is the time in the step during which communication runs.
func commUnion(step Step, dev *Device, of func(int) roofline.Component) (total int64) {
	reached := step.Start
	for i := step.First; i < step.Last; i++ {
		e := dev.GPU[i]
		if !e.usable() || !of(i).IsComm() {
			continue
		}
		start, end := max(e.Start, reached), min(e.End(), step.End)
		if end > start {
			total += end - start
			reached = end
		}
	}
	return total
}
