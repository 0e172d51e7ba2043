package assemble

import (
	"fmt"
	"regexp"
	"slices"

	"decodegap/reports"
	"decodegap/traces"
	"decodegap/traces/classify"
)

// maxTraceEvents bounds the events of one kind of one file that are kept for
// finding steps; counts and busy times are of the whole file all the same.
const maxTraceEvents = 100_000

// Trace joins the traces of one run: one file, or one file a rank.
type Trace struct {
	Formats []traces.Format
	Rules   []classify.Rule // the user's, before the embedded ones
	Step    *regexp.Regexp  // annotations that are steps, nil to find them
	Many    bool            // warnings name their file
	// Totalled asks for Totals, which cost time for each operation.
	Totalled bool

	Events int64 // read whole, of all files

	doc     reports.TraceDocument
	devices []*tracedDevice
	kernels kernelSums
	totals  operationTotals
	counted []counted      // launches that Nsight Compute profiled
	taken   map[int]string // rank → the file that has it
	mixed   bool           // two files are of one rank: not of one group
	rules   *classify.Classifier
	known   knownTime
}

// knownTime is kernel time in ns, and the part of it whose component is known.
type knownTime struct{ total, known int64 }

func (t *Trace) warn(code, text string) {
	t.doc.Warnings = append(t.doc.Warnings, reports.Warning{Code: code, Text: text})
}

// Warn adds a warning about one file, which is named where there are several.
func (t *Trace) Warn(path, code, text string) {
	if t.Many && path != "" {
		text = path + ": " + text
	}
	t.warn(code, text)
}

// take adds a file that was read. The error says why nothing of it could be
// used.
func (t *Trace) take(path string, f *tracedFile) error {
	if f.failed != nil {
		return f.failed
	}
	meta := f.reader.Meta()
	if meta.Events == 0 {
		if f.fault != nil {
			return f.fault
		}
		return fmt.Errorf("%s: no events in it; the profiler was stopped before anything ran, or recorded nothing", path)
	}
	lines := f.lines.Done()
	if err := f.lines.Fault(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	t.Events += meta.Events
	t.bounds(path, f)
	t.doc.Files = append(t.doc.Files, reports.TraceFile{
		Path: path, Format: meta.Format, Bytes: meta.Bytes, Events: meta.Events, Skipped: meta.Skipped, Truncated: meta.Truncated,
	})
	said := false
	for _, w := range meta.Warnings {
		t.Warn(path, w.Code, w.Text)
		said = said || w.Code == "environment"
	}
	t.lost(path, meta, f)
	if meta.Environment && !said {
		t.Warn(path, "environment", "the file carries the environment of the profiled process, tokens perhaps; it was not read, and the file should not be published")
	}
	if t.rules == nil {
		t.rules = classify.New(t.Rules...)
	}
	if t.sums(f.reader) {
		return nil
	}
	t.file(path, meta, f, lines)
	return nil
}

// sums takes what a file without a timeline holds, and says whether it is one.
func (t *Trace) sums(r traces.Reader) bool {
	if s, ok := r.(traces.Summarizer); ok {
		if sums := s.Summaries(); len(sums) > 0 {
			for _, k := range sums {
				class := t.rules.Kernel(classify.Kernel{Name: k.Name})
				t.kernels.sum(k, class)
				if t.Totalled {
					t.totals.add(totalKey{-1, -1, k.Name, string(class.Component)}, k.Count, k.Total)
				}
				t.known.add(k.Total, class)
			}
			return true
		}
	}
	if c, ok := r.(traces.Counters); ok && len(c.Counters()) > 0 {
		t.addCounters(c.Counters())
		return true
	}
	return false
}

func (k *knownTime) add(ns int64, class classify.Class) {
	k.total += ns
	if class.Known {
		k.known += ns
	}
}

// file adds the devices of a file with a timeline.
func (t *Trace) file(path string, meta traces.Meta, f *tracedFile, lines []traces.Timeline) {
	if len(lines) == 0 {
		t.Warn(path, "no-gpu-events", "no GPU operation in it: CUDA or HIP activities were not recorded, the window held no GPU work, "+
			"another profiler held the GPU, or the work ran in another process")
	}
	rank := t.rankOf(path, meta)
	devices := f.collect.Done(meta.Base)
	kept := make([]*traces.Device, len(lines)) // of each line, nil where nothing was kept
	var kernels int64
	for i := range lines {
		if k := slices.IndexFunc(devices, func(d traces.Device) bool { return d.Rank == lines[i].Rank && d.Device == lines[i].Device }); k >= 0 {
			kept[i] = &devices[k]
		}
		if rank >= 0 {
			lines[i].Rank = rank
		}
		kernels += lines[i].Kernels
	}
	if len(lines) > 0 && f.launches > 100 && kernels*10 < f.launches {
		t.Warn(path, "launches-without-kernels", fmt.Sprintf("%d launches but %d kernels: a graph-capture phase, or a capture that lost its GPU side; "+
			"record while requests are decoded", f.launches, kernels))
	}
	left := f.collect.Left()
	if left > 0 {
		t.Warn(path, "steps-of-the-beginning", fmt.Sprintf("steps and components are of the first %d events of each kind; counts, spans and busy times are of the whole file", f.held))
	}
	for i, l := range lines {
		d := &tracedDevice{line: l, name: meta.Devices[l.Device], path: path}
		if kept[i] != nil {
			d.Device = *kept[i]
			d.Rank, d.Truncated = l.Rank, meta.Truncated
			d.classify(t.rules, f.ops)
			d.find(t.Step)
			t.count(d, left == 0)
			if t.Totalled && left == 0 {
				t.total(d)
			}
		}
		t.devices = append(t.devices, d)
	}
	if left > 0 {
		t.kernels.join(f.kernels)
		if f.totals != nil {
			t.totalAll(*f.totals, rank)
		}
	}
}

// count adds a device's kernels to the sums.
func (t *Trace) count(d *tracedDevice, list bool) {
	for i, e := range d.GPU {
		if e.Kind != traces.Kernel {
			continue
		}
		t.known.add(e.Dur, d.classes[i])
		if list {
			t.kernels.add(e.Name, e.Dur, d.classes[i])
		}
	}
}

// rankOf is the rank of a file that holds one, -1 if its events say theirs.
func (t *Trace) rankOf(path string, meta traces.Meta) int {
	if len(meta.Ranks) > 1 {
		return -1
	}
	if t.taken == nil {
		t.taken = map[int]string{}
	}
	if len(meta.Ranks) == 1 {
		rank := meta.Ranks[0]
		if other, ok := t.taken[rank]; ok {
			t.warn("same-rank", fmt.Sprintf("%s and %s both say that they are rank %d: they are of two runs or two groups, and waiting is not taken from them", other, path, rank))
			t.mixed = true
		}
		t.taken[rank] = path
		return rank
	}
	rank := 0
	for t.taken[rank] != "" {
		rank++
	}
	if len(t.taken) > 0 {
		t.warn("rank-unknown", fmt.Sprintf("%s does not say which rank it is; it is called rank %d", path, rank))
	}
	t.taken[rank] = path
	return rank
}

// tracedFile gathers one file's events.
type tracedFile struct {
	held     int // events of one kind that are kept
	lines    traces.Timelines
	collect  traces.Collector
	ops      *openOps
	kernels  kernelSums
	totals   *operationTotals // nil unless asked for
	launches int64
	// kernelsRead counts kernels, instant those of them that last no time.
	kernelsRead, instant int64
	seen                 int
	places               places
	names                heldNames
	fault                error // of a part of the file, the first
	faults               int
	failed               error // of all of it
	reader               traces.Reader
}

func newTracedFile(held int) *tracedFile {
	return &tracedFile{held: held, collect: traces.Collector{Budget: held}, ops: &openOps{most: 2 * held}}
}

func (f *tracedFile) add(e traces.Event) {
	f.seen++
	if !f.places.admit(e) {
		return
	}
	f.lines.Add(e)
	if f.collect.Keeps(e.Kind) || f.ops.keeps(e.Kind) {
		e.Name = f.names.hold(e.Name)
	}
	f.collect.Add(e)
	f.ops.add(e)
	if f.totals != nil && e.Kind.IsGPU() {
		f.totals.operation(e, e.Rank, "")
	}
	switch e.Kind {
	case traces.Kernel:
		f.kernelsRead++
		if e.Dur == 0 {
			f.instant++
		}
		f.kernels.add(e.Name, e.Dur, classify.Class{})
	case traces.Launch:
		f.launches++
	}
}
