package assemble

import (
	"cmp"
	"slices"

	"decodegap/traces"
)

// maxAbove bounds the operators that are named above a kernel.
const maxAbove = 32

// openOps are the operators and annotations of each host thread, to tell what
// was going on when a kernel was launched.
type openOps struct {
	threads map[thread][]openOp
	most    int // operators that are kept, 0 for no bound
	count   int
	sorted  bool
}

type thread struct {
	process uint64
	id      int64
}

type openOp struct {
	start, end int64
	name, dims string
}

// keeps says whether an event of a kind is kept.
func (o *openOps) keeps(kind traces.Kind) bool {
	return (kind == traces.Op || kind == traces.Range) && (o.most <= 0 || o.count < o.most)
}

func (o *openOps) add(e traces.Event) {
	if !o.keeps(e.Kind) {
		return
	}
	o.count++
	if o.threads == nil {
		o.threads = map[thread][]openOp{}
	}
	op := openOp{start: e.Start, end: e.End(), name: e.Name}
	if e.Detail != nil {
		op.dims = e.Detail.Dims
	}
	at := thread{e.Process, e.Stream}
	o.threads[at] = append(o.threads[at], op)
}

func (o *openOps) sort() {
	if o.sorted {
		return
	}
	o.sorted = true
	for _, ops := range o.threads {
		slices.SortStableFunc(ops, func(a, b openOp) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
		})
	}
}

// above is what was open at each launch: names, innermost first, and the
// innermost shapes.
type above struct {
	names []string
	dims  string
}

// of gives what was open when each launch began. Launches of one thread come
// in time order, so each operator is looked at once.
func (o *openOps) of(launches []traces.Event) []above {
	o.sort()
	out := make([]above, len(launches))
	type place struct {
		next  int
		stack []openOp
		now   above
		stale bool
	}
	places := map[thread]*place{}
	for i, l := range launches {
		at := thread{l.Process, l.Stream}
		ops := o.threads[at]
		if len(ops) == 0 {
			continue
		}
		p := places[at]
		if p == nil {
			p = &place{stale: true}
			places[at] = p
		}
		for p.next < len(ops) && ops[p.next].start <= l.Start {
			p.stack = append(closed(p.stack, ops[p.next].start), ops[p.next])
			p.next++
			p.stale = true
		}
		if n := len(p.stack); n > 0 {
			if p.stack = closed(p.stack, l.Start); len(p.stack) < n {
				p.stale = true
			}
		}
		if p.stale {
			p.now, p.stale = topmost(p.stack), false
		}
		out[i] = p.now
	}
	return out
}

// closed takes the operators off the stack that ended before now.
func closed(stack []openOp, now int64) []openOp {
	for len(stack) > 0 && stack[len(stack)-1].end < now {
		stack = stack[:len(stack)-1]
	}
	return stack
}

func topmost(stack []openOp) (a above) {
	for i := len(stack) - 1; i >= 0 && len(a.names) < maxAbove; i-- {
		a.names = append(a.names, stack[i].name)
		if a.dims == "" {
			a.dims = stack[i].dims
		}
	}
	return a
}
