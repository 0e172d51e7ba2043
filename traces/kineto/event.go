package kineto

import (
	"decodegap/traces"
)

// longest is the longest duration that is believed: corrupted files hold
// events of centuries.
const longest = int64(366*24) * 3600 * 1e9

// verdict is what becomes of an element that was read whole.
type verdict uint8

const (
	unwanted verdict = iota // no interval, or of a category nobody asks for
	rejected                // its times cannot be used
	accepted
)

// builder makes events of elements.
type builder struct {
	names   interner
	details map[traces.Detail]*traces.Detail
	shapes  map[shape]*traces.Detail // of kernels that have nothing else
	ranks   ranks
}

// event gives an element's interval.
func (b *builder) event(e *element) (traces.Event, verdict) {
	if !e.complete {
		return traces.Event{}, unwanted
	}
	start, ok := nanoseconds(e.ts.raw)
	if !ok {
		return traces.Event{}, rejected
	}
	var dur int64
	if e.hasDur {
		if dur, ok = nanoseconds(e.dur.raw); !ok {
			return traces.Event{}, rejected
		}
	}
	if dur < 0 || dur > longest || start+dur < start {
		return traces.Event{}, rejected
	}
	if e.kind == traces.Other {
		return traces.Event{}, unwanted
	}
	if e.kind.IsGPU() && start == 0 && dur == 0 {
		return traces.Event{}, rejected // the driver had no time stamp
	}
	ev := traces.Event{
		Start: start, Dur: dur, Kind: e.kind, Name: b.names.text(e.name.raw), Device: -1,
		Corr: e.args.correlation, External: e.args.external, Graph: e.args.graph, Node: e.args.node, Bytes: e.args.bytes,
	}
	var pid int64
	ev.Rank, pid = b.ranks.of(e.pid)
	ev.Process = uint64(ev.Rank)
	switch {
	case e.kind.IsGPU() || e.kind == traces.GPURange:
		ev.Device = b.device(e, pid)
		ev.Stream = b.stream(e)
	case e.kind == traces.Runtime:
		ev.Kind = call(e.name.raw)
		ev.Stream = b.ranks.number(e.tid)
	default:
		ev.Stream = b.ranks.number(e.tid)
	}
	if e.args.extra {
		b.detail(e, &ev)
	}
	return ev, accepted
}

func (b *builder) device(e *element, pid int64) int {
	if e.args.hasDevice {
		return int(b.ranks.number(e.args.device))
	}
	return int(pid)
}

func (b *builder) stream(e *element) int64 {
	if e.args.hasStream {
		return b.ranks.number(e.args.stream)
	}
	return b.ranks.number(e.tid)
}

// maxDetails bounds the table of details; those past it are not shared.
const maxDetails = 1 << 16

// shape is how a kernel was launched.
type shape struct{ grid, block [3]int32 }

func (b *builder) detail(e *element, ev *traces.Event) {
	a := &e.args
	if a.dims.raw == nil && a.types.raw == nil && a.collective.raw == nil && a.group.raw == nil && a.syncKind.raw == nil && a.groupSize == 0 && a.seq == 0 {
		b.shape(shape{triple(a.grid.raw), triple(a.block.raw)}, ev)
		return
	}
	d := traces.Detail{
		Grid: triple(a.grid.raw), Block: triple(a.block.raw),
		Dims: b.dims(a.dims), Types: b.dims(a.types),
		Collective: b.quoted(a.collective), Group: b.quoted(a.group), SyncKind: b.quoted(a.syncKind),
		GroupSize: int(min(a.groupSize, 1<<31-1)), Seq: a.seq,
	}
	if d == (traces.Detail{}) {
		return
	}
	if d.Collective != "" {
		ev.Bytes = message(a)
	}
	if p := b.details[d]; p != nil {
		ev.Detail = p
		return
	}
	p := &d
	if len(b.details) < maxDetails {
		if b.details == nil {
			b.details = map[traces.Detail]*traces.Detail{}
		}
		b.details[d] = p
	}
	ev.Detail = p
}

func (b *builder) shape(s shape, ev *traces.Event) {
	if s == (shape{}) {
		return
	}
	p := b.shapes[s]
	if p == nil {
		p = &traces.Detail{Grid: s.grid, Block: s.block}
		if len(b.shapes) < maxDetails {
			if b.shapes == nil {
				b.shapes = map[shape]*traces.Detail{}
			}
			b.shapes[s] = p
		}
	}
	ev.Detail = p
}

func (b *builder) quoted(v value) string {
	if !v.quoted || len(v.raw) == 0 {
		return ""
	}
	return b.names.text(v.raw)
}

func (b *builder) dims(v value) string {
	if v.quoted || len(v.raw) == 0 {
		return ""
	}
	return b.names.dims(v.raw)
}

// widths are the bytes of an element by its type's name in a trace.
var widths = []struct {
	name  string
	bytes int64
}{
	{"BFloat16", 2}, {"Half", 2}, {"Float", 4}, {"Double", 8}, {"Byte", 1}, {"Char", 1}, {"Bool", 1}, {"Int", 4}, {"Long", 8}, {"Short", 2},
	{"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}, {"Float8_e4m3fnuz", 1}, {"Float8_e5m2fnuz", 1},
}

// message is a collective's bytes: the larger of what goes in and what comes
// out, 0 where the type is not known.
func message(a *arguments) int64 {
	for _, w := range widths {
		if string(a.dtype.raw) == w.name {
			n := max(a.messageIn, a.messageOut)
			if n > 1<<56 {
				return 0
			}
			return n * w.bytes
		}
	}
	return 0
}

// triple reads [x, y, z]; zeros where it is none.
func triple(raw []byte) (t [3]int32) {
	var x int64
	n, any := 0, false
	for i, c := range raw {
		switch {
		case c >= '0' && c <= '9' && i > 0:
			x = x*10 + int64(c-'0')
			any = true
		case (c == ',' || c == ']' && i == len(raw)-1) && any && n < 3 && x < 1<<31:
			t[n] = int32(x)
			x, any = 0, false
			n++
		case c == '[' && i == 0, c <= ' ':
		default:
			return [3]int32{}
		}
		if x >= 1<<31 {
			return [3]int32{}
		}
	}
	if n != 3 {
		return [3]int32{}
	}
	return t
}
