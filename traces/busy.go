package traces

import (
	"cmp"
	"slices"
)

// maxPending bounds the intervals of all devices of a file that are held in
// memory; 24 bytes each. Past it they are joined where they touch, and go to a
// temporary file where that does not help.
const maxPending = 1 << 18

// busy finds the length of the union of each line's intervals, in any order.
// The result is exact whatever the budget.
type busy struct {
	budget  int // intervals, 0 for maxPending
	pending []piece
	joined  int // at the start of pending, sorted and apart
	spilled *spill
	full    bool // there is no room for a temporary file
}

// piece is an interval of the line of an index.
type piece struct {
	line       int64
	start, end int64 // ns
}

func byLine(a, b piece) int {
	return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.start, b.start))
}

// add takes an interval. What has no length adds nothing to a union.
func (b *busy) add(line int64, start, end int64) {
	if end <= start {
		return
	}
	if n := len(b.pending); n > b.joined {
		if last := &b.pending[n-1]; last.line == line && start >= last.start && start <= last.end {
			last.end = max(last.end, end)
			return
		}
	}
	b.pending = append(b.pending, piece{line, start, end})
	budget := b.budget
	if budget == 0 {
		budget = maxPending
	}
	// Without a temporary file the list grows, and joining it each time it has
	// doubled costs little.
	if len(b.pending) >= budget && (!b.full || len(b.pending) >= 2*b.joined) {
		b.shrink(budget)
	}
}

func (b *busy) shrink(budget int) {
	b.join()
	if b.full || len(b.pending) <= budget/2 {
		return
	}
	if b.spilled == nil {
		b.spilled = &spill{}
	}
	// A disk that is full costs memory, not the result.
	if err := b.spilled.write(b.pending); err != nil {
		b.full = true
		return
	}
	b.pending, b.joined = b.pending[:0], 0
}

// join sorts what is pending and makes one of intervals that touch.
func (b *busy) join() {
	if !slices.IsSortedFunc(b.pending, byLine) {
		slices.SortFunc(b.pending, byLine)
	}
	n := 0
	for _, x := range b.pending {
		if n > 0 && b.pending[n-1].line == x.line && x.start <= b.pending[n-1].end {
			b.pending[n-1].end = max(b.pending[n-1].end, x.end)
			continue
		}
		b.pending[n] = x
		n++
	}
	b.pending, b.joined = b.pending[:n], n
}

// lengths is the length of the union of each of n lines, in ns. The error says
// that the temporary file could not be read back.
func (b *busy) lengths(n int) ([]int64, error) {
	b.join()
	out := make([]int64, n)
	var last piece
	last.line = -1
	take := func(x piece) {
		switch {
		case x.line != last.line || x.start > last.end:
			out[x.line] += x.end - x.start
			last = x
		case x.end > last.end:
			out[x.line] += x.end - last.end
			last.end = x.end
		}
	}
	if b.spilled == nil {
		for _, x := range b.pending {
			take(x)
		}
		return out, nil
	}
	return out, b.spilled.merge(b.pending, take)
}

func (b *busy) close() {
	if b.spilled != nil {
		b.spilled.close()
	}
	*b = busy{budget: b.budget}
}
