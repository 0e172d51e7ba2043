package traces

import (
	"cmp"
	"maps"
	"slices"
)

// Timeline is what one device of one rank did, copies and fills included.
type Timeline struct {
	Rank, Device int
	Ops, Kernels int64
	Streams      int
	Start, End   int64 // ns, of the first and last GPU operation
	Busy         int64 // ns, length of the union of all GPU operations
	KernelTime   int64 // ns, plain sum
}

// Span is the time from the first operation to the end of the last, in ns.
func (t Timeline) Span() int64 { return t.End - t.Start }

// Timelines gathers the GPU operations of events, one Timeline a rank and
// device. Its memory does not grow with the operations: past a budget their
// intervals go, sorted, to a temporary file.
type Timelines struct {
	lines map[place]*line
	last  *line
	at    place
	busy  busy
	fault error
	// streams counts those of all lines; past MaxStreams they are not told apart.
	streams int
	open    bool
}

// MaxStreams bounds the streams of all devices that are told apart; no trace
// comes near it.
const MaxStreams = 1 << 17

// StreamsOpen says that there were more streams than MaxStreams, so that
// Timeline.Streams is what was counted until then.
func (t *Timelines) StreamsOpen() bool { return t.open }

type place struct{ rank, device int }

type line struct {
	Timeline
	index   int64
	streams map[int64]struct{}
	stream  int64 // seen last
}

// Add takes an event; what is no GPU operation is ignored.
func (t *Timelines) Add(e Event) {
	if !e.Kind.IsGPU() {
		return
	}
	p := place{e.Rank, e.Device}
	if t.last == nil || p != t.at {
		t.last, t.at = t.line(p), p
	}
	l := t.last
	if l.Ops == 0 {
		l.Start, l.End = e.Start, e.End()
		l.stream = ^e.Stream
	}
	l.Ops++
	if e.Kind == Kernel {
		l.Kernels++
		l.KernelTime += e.Dur
	}
	if e.Stream != l.stream {
		t.stream(l, e.Stream)
	}
	l.Start, l.End = min(l.Start, e.Start), max(l.End, e.End())
	t.busy.add(l.index, e.Start, e.End())
}

func (t *Timelines) stream(l *line, stream int64) {
	l.stream = stream
	if _, ok := l.streams[stream]; ok {
		return
	}
	if t.streams >= MaxStreams {
		t.open = true
		return
	}
	t.streams++
	l.streams[stream] = struct{}{}
}

func (t *Timelines) line(p place) *line {
	l := t.lines[p]
	if l == nil {
		if t.lines == nil {
			t.lines = map[place]*line{}
		}
		l = &line{Timeline: Timeline{Rank: p.rank, Device: p.device}, index: int64(len(t.lines)), streams: map[int64]struct{}{}}
		t.lines[p] = l
	}
	return l
}

// Done gives the timelines by rank and device, and forgets them.
func (t *Timelines) Done() []Timeline {
	busy, err := t.busy.lengths(len(t.lines))
	var out []Timeline
	for _, l := range slices.SortedFunc(maps.Values(t.lines), func(a, b *line) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device))
	}) {
		l.Busy = busy[l.index]
		l.Timeline.Streams = len(l.streams)
		out = append(out, l.Timeline)
	}
	open := t.open
	t.Close()
	t.fault, t.open = err, open
	return out
}

// Fault says why the busy times that Done gave are wrong: the temporary file
// could not be read back. Almost always nil.
func (t *Timelines) Fault() error { return t.fault }

// Close forgets all, for those who do not come to Done.
func (t *Timelines) Close() {
	t.busy.close()
	*t = Timelines{busy: t.busy}
}
