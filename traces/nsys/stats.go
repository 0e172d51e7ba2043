package nsys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"decodegap/traces"
	"decodegap/traces/profcsv"
)

const statsName = "nsys-stats"

// Stats is the CSV of `nsys stats`: the report cuda_gpu_trace, whose rows are
// events, and cuda_gpu_kern_sum, whose rows are sums (traces.Summarizer).
var Stats = traces.Format{
	Name:  statsName,
	Doc:   "nsys stats CSV: cuda_gpu_trace or cuda_gpu_kern_sum",
	Sniff: sniffStats,
	Open: func(file io.ReaderAt, size int64, name string) (traces.Reader, error) {
		return &statsReader{file: file, name: name, intern: newInterner(),
			meta: traces.Meta{Format: statsName, Bytes: size, Devices: map[int]string{}, Facts: map[string]string{}}}, nil
	},
}

func sniffStats(head []byte) bool {
	for text := range bytes.Lines(bytes.TrimPrefix(head, []byte("\ufeff"))) {
		if len(text) > 4096 || !bytes.Contains(text, []byte(",")) {
			continue
		}
		if h := readHeader(strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), `"`, "")), ",")); h.kind != noReport {
			return true
		}
	}
	return false
}

type statsReader struct {
	file    io.ReaderAt
	name    string
	meta    traces.Meta
	intern  *interner
	sums    []traces.KernelSum
	reports map[reportKind]bool
	done    bool
}

// Meta is what the file says of itself.
func (r *statsReader) Meta() traces.Meta { return r.meta }
func (r *statsReader) Close() error      { return nil }

// Summaries are the rows of cuda_gpu_kern_sum, complete once Events has ended.
func (r *statsReader) Summaries() []traces.KernelSum { return r.sums }

const maxSums = 1 << 20 // rows of sums kept

// Events yields the rows of cuda_gpu_trace. Sums are no events.
func (r *statsReader) Events() iter.Seq2[traces.Event, error] {
	return func(yield func(traces.Event, error) bool) {
		if r.done {
			return
		}
		r.done = true
		r.reports = map[reportKind]bool{}
		scanner := profcsv.NewScanner(r.file, r.meta.Bytes)
		var h header
		for {
			record, err := scanner.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if bad := (*profcsv.Bad)(nil); errors.As(err, &bad) {
				if !yield(traces.Event{}, r.damage(bad.Offset, bad.What, false)) {
					return
				}
				continue
			}
			if err != nil {
				yield(traces.Event{}, r.damage(-1, err.Error(), true))
				return
			}
			if next := readHeader(record.Fields); next.kind != noReport {
				h = next
				r.reports[h.kind] = true
				continue
			}
			if h.kind == noReport || h.kind == otherReport || len(record.Fields) < h.fields {
				if len(record.Fields) == 1 && record.Fields[0] == "" {
					h = header{} // a blank line ends a report
				} else if h.kind == traceReport || h.kind == sumReport {
					if !progress(record.Line) && !yield(traces.Event{}, r.damage(record.Offset, fmt.Sprintf("a row of %d fields, expected %d", len(record.Fields), h.fields), false)) {
						return
					}
				}
				continue
			}
			if !r.row(h, record, yield) {
				return
			}
		}
		r.warn()
		if r.meta.Events == 0 && len(r.sums) == 0 && r.reports[otherReport] {
			yield(traces.Event{}, r.damage(-1, "an nsys stats report without kernels (of calls, ranges, copies or sums of bytes); expected cuda_gpu_trace or cuda_gpu_kern_sum: "+
				"nsys stats --report cuda_gpu_trace --format csv REPORT", true))
		}
	}
}

// progress says whether a line is nsys telling what it does.
func progress(line string) bool {
	for _, p := range []string{"Processing ", "Generating ", "NOTICE:", "WARNING:", "SKIPPED:", " **", "Exporting ", "Using "} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// row reads one row of a report; false when the caller wants no more.
func (r *statsReader) row(h header, record profcsv.Record, yield func(traces.Event, error) bool) bool {
	if h.kind == sumReport {
		sum, ok := h.sum(record.Fields)
		switch {
		case !ok:
			return yield(traces.Event{}, r.damage(record.Offset, "a row of cuda_gpu_kern_sum without a whole count and time", false))
		case len(r.sums) == maxSums:
			return yield(traces.Event{}, r.damage(record.Offset, fmt.Sprintf("more than %d kernels", maxSums), false))
		}
		sum.Name = r.intern.name(sum.Name)
		r.sums = append(r.sums, sum)
		r.meta.Events++
		return true
	}
	e, name, ok := h.event(record.Fields)
	if !ok {
		return yield(traces.Event{}, r.damage(record.Offset, "a row of cuda_gpu_trace without whole times", false))
	}
	r.meta.Events++
	if e.Start == 0 && e.Dur == 0 || e.Dur < 0 {
		r.meta.Skipped++
		return true
	}
	if _, known := r.meta.Devices[e.Device]; !known && name != "" && len(r.meta.Devices) < maxProcesses {
		r.meta.Devices[e.Device] = name
	}
	e.Name = r.intern.name(e.Name)
	if e.Detail != nil {
		e.Detail = r.intern.detail(*e.Detail)
	}
	return yield(e, nil)
}

func (r *statsReader) damage(offset int64, what string, fatal bool) *traces.Damage {
	return &traces.Damage{File: r.name, Offset: offset, What: what, Fatal: fatal}
}

func (r *statsReader) warn() {
	add := func(code, text string) {
		r.meta.Warnings = append(r.meta.Warnings, traces.Warning{Code: code, Text: text})
	}
	switch {
	case r.reports[traceReport] && r.meta.Events == 0:
		add("no-gpu-work", "the report cuda_gpu_trace is empty: was nsys run with --trace=cuda, and did the capture range cover the decode?")
	case r.reports[sumReport] && !r.reports[traceReport]:
		add("sums-only", "only sums per kernel: no timeline, so no steps and no gaps; write one with nsys stats --report cuda_gpu_trace --format csv, or better nsys export --type sqlite")
	case r.reports[traceReport]:
		add("gpu-only", "cuda_gpu_trace holds no calls and no annotations: gaps cannot be put down to the host; nsys export --type sqlite does")
	}
}
