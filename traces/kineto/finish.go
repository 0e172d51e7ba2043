package kineto

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"decodegap/traces"
)

// finish settles what the file says of itself and what is odd about it.
func (r *reader) finish() {
	if r.stopped {
		return
	}
	m := &r.meta
	if labels := r.ranks.list(); len(labels) > 0 {
		m.Ranks = labels
	}
	m.Environment = r.environment
	r.trailing()
	if !r.sawArray {
		r.damage(r.at(), r.at(), r.stranger(), true)
		return
	}
	if r.ended && !r.complete {
		m.Truncated = true
	}
	r.oddities()
}

// trailing looks at how the content ends.
func (r *reader) trailing() {
	if r.complete {
		r.behind.look(r.b[r.i:], r.at())
		for !r.ended && r.why == nil && r.fill(len(r.b)) {
			r.behind.look(r.b, r.base)
			r.i = len(r.b)
		}
		if n := r.behind.bytes(); n > 0 {
			r.warn("trailing-bytes", "%d bytes follow the trace's closing bracket, from byte %d on, and were not read: another document, or the rest of an older file; one trace a file is expected", n, r.behind.from)
		}
	}
	switch {
	case r.why == nil:
	case errors.Is(r.why, gzip.ErrHeader):
		r.warn("trailing-bytes", "%d bytes were unpacked; what follows them in the file is no gzip and was not read", r.base+int64(len(r.b)))
	case errors.Is(r.why, gzip.ErrChecksum):
		r.warn("checksum", "the gzip checksum does not match the content: some of it may be wrong; copy the file again")
	case errors.Is(r.why, io.ErrUnexpectedEOF):
		r.meta.Truncated = true
		r.warn("gzip-cut", "the gzip stream ends early, after %d bytes of content; the profiler was stopped while writing, or the copy is not complete", r.base+int64(len(r.b)))
	default:
		r.meta.Truncated = true
		r.warn("gzip-damaged", "cannot be unpacked past %d bytes of content (%v); copy the file again", r.base+int64(len(r.b)), r.why)
	}
}

// stranger says what JSON without traceEvents is.
func (r *reader) stranger() string {
	switch {
	case r.rocprof:
		return "rocprofv3's own JSON, which is not read; profile with PyTorch's profiler, or convert it to Chrome trace JSON"
	case r.holes > 0:
		return "no traceEvents in what could be read"
	case len(r.keys) == 0:
		return "JSON without traceEvents; expected a profiler's trace"
	}
	return fmt.Sprintf("JSON without traceEvents (it has %q); expected a profiler's trace", strings.Join(r.keys, ", "))
}

// oddities turns what was counted on the way into warnings.
func (r *reader) oddities() {
	m := &r.meta
	if m.Truncated {
		r.warn("truncated", "the file ends before its closing bracket; the %d whole events before it were read, and what stood behind them is missing", m.Events)
	}
	if r.holes > 0 && r.lost > 0 {
		r.warn("damaged", "%s, %d bytes in all, could not be read; the first is at byte %d (%s)", several(r.holes, "stretch", "stretches"), r.lost, r.lostAt, r.lostWhy)
	}
	if m.Skipped > 0 {
		r.warn("unusable-times", "%s left out: no time stamp, a negative or malformed duration, or one of years", several(m.Skipped, "event was", "events were"))
	}
	if n := r.ranks.over; n > 0 {
		r.warn("too-many-ranks", "%s of ranks behind the first %d, which are taken for one: no file holds so many, the labels of the pids are damaged", several(n, "event is", "events are"), maxLabels)
	}
	if n := r.odd.nonFinite; n > 0 {
		r.warn("non-finite", "%s such as inf or nan, which JSON does not have", several(n, "bare value", "bare values"))
	}
	if n := r.odd.malformed; n > 0 {
		r.warn("malformed-numbers", "%s such as 0.-23, which older profilers print for negative times", several(n, "number", "numbers"))
	}
	if n := r.odd.escapes; n > 0 {
		r.warn("invalid-escapes", "%s with a backslash that starts no JSON escape (Windows paths)", several(n, "string", "strings"))
	}
	if n := r.odd.encoding; n > 0 {
		r.warn("invalid-utf8", "%s not valid UTF-8", several(n, "string is", "strings are"))
	}
	if n := r.odd.quotes; n > 0 {
		r.warn("unescaped-quotes", "%s quotes inside a string that are not escaped; the names were recovered", several(n, "event has", "events have"))
	}
	if m.Environment {
		r.warn("environment", "the file carries the environment of the profiled process, tokens perhaps; it was not read, and the file should not be published")
	}
	if r.why == nil && r.complete && !r.stopped && m.Events == 0 {
		r.warn("no-events", "traceEvents is empty")
	}
}

func several(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

var _ traces.Reader = (*reader)(nil)

// behind is what follows the end of the document, white space and zeros aside.
type behind struct{ from, to int64 }

func (b *behind) bytes() int64 { return b.to - b.from }

// look looks at text that stands at an offset of the content.
func (b *behind) look(text []byte, at int64) {
	blank := func(r rune) bool { return r <= ' ' }
	rest := bytes.TrimRightFunc(text, blank)
	if len(rest) == 0 {
		return
	}
	if b.to == 0 {
		b.from = at + int64(len(rest)-len(bytes.TrimLeftFunc(rest, blank)))
	}
	b.to = at + int64(len(rest))
}
