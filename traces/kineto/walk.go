package kineto

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// maxElement bounds one event and one top-level value, in bytes.
const maxElement = 16 << 20

// fill drops what stands before from and reads the next block behind the rest.
// It is false at the end of the content.
func (r *reader) fill(from int) bool {
	if r.ended {
		return false
	}
	r.settle()
	r.helper.tried = false
	had := len(r.b) - from
	b, err := r.stream.Next(r.b[from:])
	r.base += int64(from)
	r.i -= from
	r.b = b
	r.careful = bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b)
	if err != nil {
		r.ended = true
		if err != io.EOF {
			r.why = err
		}
	}
	return len(b) > had || r.fill(0)
}

// next moves to the next byte that is no white space, nor a comma if commas,
// reading on as needed. It is false at the end of the content.
func (r *reader) next(commas bool) bool {
	for {
		for ; r.i < len(r.b); r.i++ {
			if c := r.b[r.i]; c > ' ' && !(commas && c == ',') {
				return true
			}
		}
		if !r.fill(r.i) {
			return false
		}
	}
}

// read runs f, which reads something from where the scanner is, again and
// again until the buffer holds it all. When it is not read, the scanner stays
// at its start.
func (r *reader) read(f func() status) status {
	odd := r.odd
	start := r.i
	for {
		st := f()
		if st == whole {
			return whole
		}
		r.i, r.odd = start, odd
		if st == bad {
			return bad
		}
		if len(r.b)-start > maxElement {
			return r.fail("longer than 16 MiB")
		}
		if !r.fill(start) {
			return short
		}
		start = r.i
	}
}

// document reads the file.
func (r *reader) document() {
	r.i = mark(r.b)
	if !r.next(false) {
		return
	}
	switch r.b[r.i] {
	case '[':
		r.i++
		r.sawArray = true
		if r.events() && !r.stopped {
			r.complete = true
		}
	case '{':
		r.i++
		r.object()
	}
}

// object reads the members of the document until its closing brace.
func (r *reader) object() {
	for !r.stopped && r.next(true) {
		if r.b[r.i] == '}' {
			r.i++
			r.complete = true
			return
		}
		start := r.at()
		var key string
		st := r.read(func() status {
			k, st := r.key()
			key = string(k[:min(len(k), 64)])
			return st
		})
		if st == whole {
			if key == "traceEvents" && r.b[r.i] == '[' {
				r.i++
				r.sawArray = true
				r.events()
				continue
			}
			r.watch = true
			st = r.read(func() status { return r.top(key) })
			r.watch = false
			if st == whole && len(r.keys) < 8 {
				r.keys = append(r.keys, key)
			}
		}
		if st != whole && !r.toArray(start, st) {
			return
		}
	}
}

// toArray finds traceEvents behind damage that began at start.
func (r *reader) toArray(start int64, st status) bool {
	const mark = `"traceEvents"`
	what := "expected a member of the trace object: " + r.fault
	for st == bad && !r.sawArray {
		if k := bytes.Index(r.b[r.i:], []byte(mark)); k >= 0 {
			r.i += k
			if c, _ := r.peek(r.i + len(mark)); c == ':' {
				r.damage(start, r.at(), what, false)
				return true
			}
			r.i++
			continue
		}
		r.i = max(r.i, len(r.b)-len(mark)) // the mark may stand across the edge
		if !r.fill(r.i) {
			break
		}
	}
	if st == short && r.sawArray {
		return false // a cut tail of metadata: truncated, no event lost
	}
	if st == short {
		what = "the file ends inside the metadata"
	}
	r.damage(start, r.base+int64(len(r.b)), what, true)
	return false
}

// events reads the elements of traceEvents up to its closing bracket, which is
// missing if the result is false.
func (r *reader) events() bool {
	var e element
	for !r.stopped && r.next(true) {
		if r.helper.running {
			if r.adopt(); r.stopped || !r.next(true) {
				break
			}
		} else {
			r.help()
		}
		switch r.b[r.i] {
		case ']':
			r.i++
			return true
		case '}':
			r.damage(r.at(), r.at(), "expected ] at the end of traceEvents", false)
			return false
		}
		start, odd := r.i, r.odd
		st := r.element(&e)
		if st == short {
			r.i, r.odd = start, odd
			st = r.read(func() status { return r.element(&e) })
		} else if st == bad {
			r.i, r.odd = start, odd
		}
		switch {
		case st == whole && !e.object && r.isKey():
			return false
		case st == whole:
			r.emit(&e)
		case !r.recover(&e, st):
			return false
		}
	}
	return false
}

// isKey says whether what was just read as an element is a key of the object
// around an array without closing bracket; the scanner moves back to it.
func (r *reader) isKey() bool {
	c, _ := r.peek(r.i)
	if c != ':' {
		return false
	}
	q := bytes.LastIndexByte(r.b[:r.i-1], '"')
	if q < 0 {
		return false
	}
	r.i = q
	r.damage(r.at(), r.at(), "expected ] at the end of traceEvents", false)
	return true
}
