// Package kineto reads Chrome trace JSON as PyTorch's profiler writes it, from
// 2021 to today, for CUDA and for ROCm, plain or gzip.
//
// It refuses to give up at damage: what stands before and behind it is read
// and the loss is stated. It reads metadata by allow-list only, and never the
// environment of the profiled process.
package kineto

import (
	"fmt"
	"io"
	"iter"

	"decodegap/traces"
)

// Format is Kineto's JSON.
var Format = traces.Format{
	Name:  "kineto",
	Doc:   "PyTorch profiler (Kineto) or Chrome trace JSON, plain or gzip; one rank or several merged",
	Sniff: sniff,
	Open:  open,
}

// sniff says whether head starts a JSON object or array.
func sniff(head []byte) bool {
	s := scan{b: head}
	s.i = mark(head)
	return s.space() == whole && (head[s.i] == '{' || head[s.i] == '[')
}

// mark is the length of a byte order mark at the start of b.
func mark(b []byte) int {
	if len(b) >= 3 && string(b[:3]) == "\xef\xbb\xbf" {
		return 3
	}
	return 0
}

func open(file io.ReaderAt, size int64, name string) (traces.Reader, error) {
	return &reader{
		name: name, stream: traces.NewStream(file, size),
		meta: traces.Meta{Format: "kineto", Bytes: size},
	}, nil
}

// reader reads one file.
type reader struct {
	builder
	scan
	name   string
	stream *traces.Stream
	base   int64 // offset of b in the content
	ended  bool  // b holds the content's end
	why    error // why the content ended, if not cleanly

	helper ahead

	yield   func(traces.Event, error) bool
	stopped bool // by the one who reads the events

	meta     traces.Meta
	sawArray bool     // traceEvents was there
	complete bool     // the document's last bracket was there
	keys     []string // top-level keys, a few, for the error message
	rocprof  bool
	lost     int64 // bytes that could not be read
	lostAt   int64 // offset of the first
	lostWhy  string
	behind   behind
	holes    int64
}

// Events yields the intervals of the file in its order: GPU operations, calls,
// operators, annotations and the profiler's overhead.
func (r *reader) Events() iter.Seq2[traces.Event, error] {
	return func(yield func(traces.Event, error) bool) {
		r.yield = yield
		r.fill(0)
		r.document()
		r.settle()
		r.finish()
	}
}

func (r *reader) Meta() traces.Meta { return r.meta }

func (r *reader) Close() error { return r.stream.Close() }

// damage tells the one who reads the events of a stretch that was lost.
func (r *reader) damage(from, to int64, what string, fatal bool) {
	if r.holes == 0 {
		r.lostAt, r.lostWhy = from, what
	}
	r.holes++
	r.lost += to - from
	if !r.stopped && !r.yield(traces.Event{}, &traces.Damage{File: r.name, Offset: from, What: what, Fatal: fatal}) {
		r.stopped = true
	}
}

// emit counts an element and yields its event.
func (r *reader) emit(e *element) {
	r.meta.Events++
	ev, v := r.event(e)
	switch v {
	case rejected:
		r.meta.Skipped++
	case accepted:
		if !r.yield(ev, nil) {
			r.stopped = true
		}
	}
}

// at is the offset of the scanner in the content.
func (r *reader) at() int64 { return r.base + int64(r.i) }

func (r *reader) warn(code, format string, args ...any) {
	r.meta.Warnings = append(r.meta.Warnings, traces.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}
