// Package ncu reads the CSV that Nsight Compute prints, details page and raw
// page: hardware counters of single kernels.
//
// It refuses to make a timeline of them, because the profiler runs each kernel
// alone and several times; and the binary .ncu-rep, naming the export command.
package ncu

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

const csvName = "ncu"

// CSV is the output of `ncu --csv`, with --page details or --page raw.
var CSV = traces.Format{
	Name:  csvName,
	Doc:   "Nsight Compute CSV (ncu --csv --page raw, or details)",
	Sniff: sniff,
	Open: func(file io.ReaderAt, size int64, name string) (traces.Reader, error) {
		return &reader{file: file, name: name, names: map[string]string{},
			meta: traces.Meta{Format: csvName, Bytes: size, Devices: map[int]string{}, Facts: map[string]string{}}}, nil
	},
}

// Report is the binary .ncu-rep: it is known in order to be refused.
var Report = traces.Format{
	Name:  "ncu-rep",
	Doc:   "Nsight Compute report, binary: print it as CSV first",
	Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("NVR\x00")) },
	Open: func(_ io.ReaderAt, _ int64, name string) (traces.Reader, error) {
		in := argument(name)
		out := strings.TrimSuffix(in, ".ncu-rep") + ".csv"
		return nil, fmt.Errorf("%s: a binary Nsight Compute report; print it as CSV first: ncu --import %s --csv --page raw > %s", name, in, out)
	},
}

// argument is name where a shell takes it as it is, else a placeholder.
func argument(name string) string {
	if name == "" || name[0] == '-' || strings.ContainsFunc(name, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("._-/+=:@", c)
	}) {
		return "REPORT.ncu-rep"
	}
	return name
}

// sniff also takes the profiler's own first lines, since the program's output
// may stand before the header.
func sniff(head []byte) bool {
	for text := range bytes.Lines(head) {
		if bytes.HasPrefix(text, []byte("==PROF==")) {
			return true
		}
		// Columns may have been cut out of it, so a metric's name is enough.
		if bytes.Contains(text, []byte("Kernel Name")) && bytes.Contains(text, []byte("ID")) &&
			(bytes.Contains(text, []byte("Metric Name")) || bytes.Contains(text, []byte("Block Size")) ||
				bytes.Contains(text, []byte("__")) && bytes.Contains(text, []byte(","))) {
			return true
		}
	}
	return false
}

const (
	maxCounters = 1 << 20
	maxNames    = 64 << 20 // bytes of all names together
)

type reader struct {
	file     io.ReaderAt
	name     string
	meta     traces.Meta
	counters []traces.Counter
	names    map[string]string // interned
	bytes    int               // of names
	full     bool
	done     bool
}

// Meta is what the file says of itself.
func (r *reader) Meta() traces.Meta { return r.meta }
func (r *reader) Close() error      { return nil }

// Counters are complete once Events has ended.
func (r *reader) Counters() []traces.Counter { return r.counters }

// Events yields no events, since there is no timeline: only what could not be
// read.
func (r *reader) Events() iter.Seq2[traces.Event, error] {
	return func(yield func(traces.Event, error) bool) {
		if r.done {
			return
		}
		r.done = true
		damage := func(offset int64, fatal bool, format string, args ...any) bool {
			return yield(traces.Event{}, &traces.Damage{File: r.name, Offset: offset, What: fmt.Sprintf(format, args...), Fatal: fatal})
		}
		scanner := profcsv.NewScanner(r.file, r.meta.Bytes)
		var p page
		seen := false
		for {
			record, err := scanner.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if bad := (*profcsv.Bad)(nil); errors.As(err, &bad) {
				// Before the header it is the program's own output.
				if seen && !damage(bad.Offset, false, "%s", bad.What) {
					return
				}
				continue
			}
			if err != nil {
				damage(-1, true, "%v", err)
				return
			}
			if next, what, ok := readHeader(record.Fields); ok {
				p, seen = next, true
				if what != "" && !damage(record.Offset, false, "%s", what) {
					return
				}
				continue
			}
			if p.unit == nil && p.raw && len(record.Fields) == p.fields && record.Fields[p.id] == "" {
				p.unit = record.Fields
				continue
			}
			if !p.holds(record) {
				if strings.HasPrefix(record.Line, `"`) && seen && p.fields > 0 &&
					!damage(record.Offset, false, "a row of %d fields, expected %d", len(record.Fields), p.fields) {
					return
				}
				continue // the profiler's progress, or the program's output
			}
			r.meta.Events++
			p.counters(record.Fields, r.keep)
		}
		r.warn(seen)
	}
}

func (r *reader) keep(c traces.Counter) {
	if len(r.counters) == maxCounters || r.bytes > maxNames {
		r.full = true
		return
	}
	c.Kernel, c.Metric, c.Unit, c.Section = r.intern(c.Kernel), r.intern(c.Metric), r.intern(c.Unit), r.intern(c.Section)
	r.counters = append(r.counters, c)
}

const maxName = 16 << 10 // bytes of a name; the rest is cut

func (r *reader) intern(s string) string {
	if len(s) > maxName {
		s = s[:maxName]
	}
	if have, ok := r.names[s]; ok {
		return have
	}
	s = strings.Clone(strings.ToValidUTF8(s, "\ufffd"))
	r.names[s] = s
	r.bytes += len(s)
	return s
}

func (r *reader) warn(seen bool) {
	add := func(code, text string) {
		r.meta.Warnings = append(r.meta.Warnings, traces.Warning{Code: code, Text: text})
	}
	switch {
	case !seen:
		add("no-counters", "no CSV header is in the file: run ncu with --csv, and with --log-file so that other output stays apart")
	case len(r.counters) == 0:
		add("no-counters", "the CSV holds no counter: did ncu end with an error such as ERR_NVGPUCTRPERM, or did its filters match no kernel?")
	default:
		add("no-timeline", "Nsight Compute runs each kernel alone and several times: counters are of use, times are not those of a decode step")
	}
	if r.full {
		add("counters-cut", fmt.Sprintf("more than %d counters, or names of more than %d bytes: the rest is left out", maxCounters, maxNames))
	}
}
