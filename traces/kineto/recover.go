package kineto

import (
	"bytes"
	"regexp"
)

// Bounds of the search behind damage.
const (
	lookahead = 1 << 20 // an event that long is not looked for
	thrift    = 64      // a failed try may cost so many times the way it saves
)

// tailBytes is how much of the content's end is looked at for how it ends.
const tailBytes = 4 << 10

// closing is how traceEvents and the document end, with or without members
// between them.
var closing = regexp.MustCompile(`(?s)\}\s*\]\s*(\}|,\s*"[^"]*"\s*:.*\})?\s*$`)

// recover reads on where the element at the scanner could not be read: the
// element itself if only the quotes in its strings are wrong, else the next one
// that can be read. It is false if there is none.
func (r *reader) recover(e *element, st status) bool {
	fault := r.fault
	if st == short {
		fault = "the file ends inside an event"
	} else {
		r.lookFar()
		odd := r.odd
		start := r.i
		for _, mode := range []quoting{stray, trailed} {
			r.quotes, r.inArray = mode, false
			got := r.element(e)
			r.quotes, r.inArray = strict, false
			if got == whole && e.hasPh {
				r.odd.quotes++
				r.emit(e)
				return true
			}
			r.i, r.odd = start, odd
		}
	}
	from := r.at()
	found := r.resync(e)
	to := r.at()
	if st == short && !found {
		r.meta.Truncated = true
		to = from // the warning of the cut says it all
	}
	if st == bad && !found && closing.Match(r.b[max(0, len(r.b)-tailBytes):]) {
		r.complete = true // damage up to the end, but the end is there
	}
	r.damage(from, to, "no whole event: "+fault, !found)
	return found && !r.stopped
}

// lookFar makes sure that the buffer reaches far behind the scanner.
func (r *reader) lookFar() {
	for len(r.b)-r.i < lookahead && r.fill(r.i) {
	}
}

// resync moves to the next event that can be read whole, or to the end.
func (r *reader) resync(e *element) bool {
	for {
		r.i = min(r.i+1, len(r.b))
		k := bytes.IndexByte(r.b[r.i:], '{')
		for k < 0 {
			r.i = len(r.b)
			if !r.fill(max(0, r.i-64)) {
				r.i = len(r.b)
				return false
			}
			k = bytes.IndexByte(r.b[r.i:], '{')
		}
		r.i += k
		if !r.starts() {
			continue
		}
		r.lookFar()
		start, odd := r.i, r.odd
		st := r.element(e)
		used := r.i - start
		r.i, r.odd, r.inArray = start, odd, false
		if st == whole && e.hasPh {
			return true
		}
		r.i += used / thrift
	}
}

// starts says whether the brace at the scanner may start an event.
func (r *reader) starts() bool {
	if c, _ := r.peek(r.i + 1); c != '"' {
		return false
	}
	for j := r.i - 1; j >= 0 && j > r.i-64; j-- {
		if c := r.b[j]; c > ' ' {
			return c == ',' || c == '[' || c == '}'
		}
	}
	return true
}
