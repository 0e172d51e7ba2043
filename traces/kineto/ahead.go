package kineto

import (
	"bytes"

	"decodegap/traces"
)

// A block is read by two goroutines. The helper starts at a brace in the
// middle that looks like the start of an event; what it reads counts only if
// the reader, which reads everything before, ends exactly there. So a wrong
// guess costs time and nothing else.

// Bounds of what is worth a helper.
const (
	minAhead = 256 << 10 // bytes left in the block
	maxMiss  = 64        // wrong guesses, after which a file is read without help
)

// ahead is the helper of one reader.
type ahead struct {
	scan
	builder
	start, end int // in the buffer: the guess, and what was reached
	events     []traces.Event
	read       int64 // elements read whole
	skipped    int64
	running    bool
	tried      bool // on this buffer
	misses     int
	done       chan struct{}
}

// help starts the helper on the far part of the buffer.
func (r *reader) help() {
	a := &r.helper
	left := len(r.b) - r.i
	if a.tried || left < minAhead || a.misses > maxMiss || len(r.ranks.labels) > 0 || len(r.ranks.named) > 0 {
		return
	}
	a.tried = true
	start := boundary(r.b, r.i+left*9/20)
	if start < 0 {
		return
	}
	a.scan = scan{b: r.b, i: start, careful: r.careful}
	a.ranks = ranks{rank: r.ranks.rank}
	a.start, a.events, a.read, a.skipped, a.running = start, a.events[:0], 0, 0, true
	if a.done == nil {
		a.done = make(chan struct{}, 1)
	}
	go a.run()
}

// boundary is the first place from at on where an event may start: a brace
// behind "},", with a quote behind it. -1 if there is none.
func boundary(b []byte, at int) int {
	s := scan{b: b}
	for {
		k := bytes.IndexByte(b[at:], '{')
		if k < 0 {
			return -1
		}
		at += k
		before := bytes.TrimRight(b[max(0, at-32):at], " \t\r\n")
		if c, _ := s.peek(at + 1); c == '"' && bytes.HasSuffix(before, []byte{','}) {
			if before = bytes.TrimRight(before[:len(before)-1], " \t\r\n"); bytes.HasSuffix(before, []byte{'}'}) {
				return at
			}
		}
		at++
	}
}

// run reads events until something is not one, or the buffer ends.
func (a *ahead) run() {
	defer func() { a.done <- struct{}{} }()
	var e element
	a.end = a.start
	for {
		a.i = a.end
		for a.i < len(a.b) && (a.b[a.i] <= ' ' || a.b[a.i] == ',') {
			a.i++
		}
		if a.i == len(a.b) || a.b[a.i] != '{' {
			return
		}
		odd := a.odd
		if a.element(&e) != whole {
			a.odd = odd
			return
		}
		a.end = a.i
		a.read++
		switch ev, v := a.event(&e); v {
		case rejected:
			a.skipped++
		case accepted:
			a.events = append(a.events, ev)
		}
	}
}

// adopt takes what the helper read, if the reader is where it started.
func (r *reader) adopt() {
	a := &r.helper
	if !a.running || r.i < a.start {
		return
	}
	hit := r.i == a.start
	r.settle()
	if !hit || len(a.ranks.labels) > 0 || len(a.ranks.named) > 0 {
		a.misses++
		return
	}
	r.i = a.end
	r.odd.add(a.odd)
	r.meta.Events += a.read
	r.meta.Skipped += a.skipped
	for _, ev := range a.events {
		if r.stopped = !r.yield(ev, nil); r.stopped {
			return
		}
	}
}

// settle waits for the helper; the buffer is the reader's alone again.
func (r *reader) settle() {
	if r.helper.running {
		<-r.helper.done
		r.helper.running = false
	}
}

func (c *counts) add(o counts) {
	c.nonFinite += o.nonFinite
	c.malformed += o.malformed
	c.escapes += o.escapes
	c.encoding += o.encoding
	c.quotes += o.quotes
}
