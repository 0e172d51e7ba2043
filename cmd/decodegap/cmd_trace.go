package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/traces"
	"decodegap/traces/all"
)

type traceOptions struct {
	outputOptions
}

func (o *traceOptions) AddFlags(f *pflag.FlagSet) { o.outputOptions.AddFlags(f) }

func newTraceCommand(env *environment) *cobra.Command {
	var opt traceOptions
	cmd := &cobra.Command{
		Use:     "trace FILE...",
		GroupID: "parts",
		Short:   "Read profiler traces: where the GPU's time goes",
		Long: `trace reads profiler traces, whatever their names: one file, or one file a
rank. Times are whole nanoseconds from the file's decimal text; busy time is the
union of all GPU operations (kernels, copies, fills) of a device, so overlap is
never counted twice. A damaged or cut file is read as far as it goes, and what is
missing is said. The environment of the profiled process is never read.

FORMATS
` + traceFormats() + `
` + exitcode.Help,
		Example: `  decodegap trace rank0.pt.trace.json.gz
  decodegap trace rank*.json.gz --json | jq '.ranks[].busy_ms'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runTrace(cmd.Context(), env, args, opt) },
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

func traceFormats() string {
	var b strings.Builder
	for _, f := range all.All {
		fmt.Fprintf(&b, "  %-19s %s\n", f.Name, f.Doc)
	}
	return b.String()
}

func runTrace(ctx context.Context, env *environment, paths []string, opt traceOptions) error {
	run := newTraceRun()
	var failed []error
	run.many = len(paths) > 1
	for _, path := range paths {
		if err := run.read(ctx, path); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = append(failed, err)
		}
	}
	if run.events == 0 {
		return errors.Join(failed...)
	}
	for _, err := range failed {
		run.warn("unreadable", err.Error())
		opt.talk(env, "decodegap: warning: %s", term.Clean(err.Error()))
	}
	doc := run.document()
	render := func(w io.Writer) error { return writeTraceText(w, doc, env.width()) }
	if opt.json {
		render = func(w io.Writer) error { return writeJSON(w, doc) }
	}
	return opt.write(env, render)
}

// traceRun gathers what is read of all files.
type traceRun struct {
	doc     *reports.TraceDocument
	events  int64
	kernels kernelSums
	taken   map[int]string // rank → the file that has it
	many    bool           // warnings need the name of their file
}

func newTraceRun() *traceRun {
	return &traceRun{
		doc:   &reports.TraceDocument{Schema: reports.TraceSchema, Files: []reports.TraceFile{}, Ranks: []reports.TraceRank{}, Warnings: []reports.Warning{}},
		taken: map[int]string{},
	}
}

func (t *traceRun) warn(code, text string) {
	t.doc.Warnings = append(t.doc.Warnings, reports.Warning{Code: code, Text: text})
}

// warnOf warns of one file, which is named where there are several.
func (t *traceRun) warnOf(path, code, text string) {
	if t.many {
		text = path + ": " + text
	}
	t.warn(code, text)
}

// read adds a file. The error says why nothing of it could be used.
func (t *traceRun) read(ctx context.Context, path string) error {
	r, err := traces.Open(path, all.All)
	if err != nil {
		return err
	}
	defer r.Close()
	var lines traces.Timelines
	var last error
	launches := int64(0)
	n := 0
	for e, err := range r.Events() {
		if err != nil {
			last = err
			continue
		}
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		lines.Add(e)
		switch e.Kind {
		case traces.Kernel:
			t.kernels.add(e.Name, e.Dur)
		case traces.Launch:
			launches++
		}
	}
	meta := r.Meta()
	if meta.Events == 0 {
		if last != nil {
			return last
		}
		return fmt.Errorf("%s: no events in it; the profiler was stopped before anything ran, or recorded nothing", path)
	}
	t.events += meta.Events
	t.doc.Files = append(t.doc.Files, reports.TraceFile{
		Path: path, Format: meta.Format, Bytes: meta.Bytes, Events: meta.Events, Skipped: meta.Skipped, Truncated: meta.Truncated,
	})
	for _, w := range meta.Warnings {
		t.warnOf(path, w.Code, w.Text)
	}
	sums := summaries(r)
	for _, k := range sums {
		t.kernels.sum(k)
	}
	if len(sums) > 0 || counters(r) > 0 {
		return nil // no timeline in it
	}
	t.ranks(path, meta, lines.Done(), launches)
	return nil
}

func summaries(r traces.Reader) []traces.KernelSum {
	if s, ok := r.(traces.Summarizer); ok {
		return s.Summaries()
	}
	return nil
}

func counters(r traces.Reader) int {
	if c, ok := r.(traces.Counters); ok {
		return len(c.Counters())
	}
	return 0
}

// ranks adds a file's devices.
func (t *traceRun) ranks(path string, meta traces.Meta, lines []traces.Timeline, launches int64) {
	if len(lines) == 0 {
		t.warnOf(path, "no-gpu-events", "no GPU operation in it: CUDA or HIP activities were not recorded, the window held no GPU work, "+
			"another profiler held the GPU, or the work ran in another process")
	}
	shift := t.rankOf(path, meta)
	var kernels int64
	for _, l := range lines {
		kernels += l.Kernels
		if shift >= 0 {
			l.Rank = shift
		}
		t.doc.Ranks = append(t.doc.Ranks, reports.TraceRank{
			Rank: l.Rank, Device: l.Device, Name: meta.Devices[l.Device], GPUOps: l.Ops, Kernels: l.Kernels, Streams: l.Streams,
			SpanMs: inMs(l.Span()), BusyMs: inMs(l.Busy), KernelTimeMs: inMs(l.KernelTime),
		})
	}
	if len(lines) > 0 && launches > 100 && kernels*10 < launches {
		t.warnOf(path, "launches-without-kernels", fmt.Sprintf("%d launches but %d kernels: a graph-capture phase, or a capture that lost its GPU side; "+
			"record while requests are decoded", launches, kernels))
	}
}

// rankOf is the rank of a file that holds one, -1 if its events say theirs.
func (t *traceRun) rankOf(path string, meta traces.Meta) int {
	if len(meta.Ranks) > 1 {
		return -1
	}
	if len(meta.Ranks) == 1 {
		rank := meta.Ranks[0]
		if other, ok := t.taken[rank]; ok {
			t.warn("same-rank", fmt.Sprintf("%s and %s both say that they are rank %d", other, path, rank))
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

func (t *traceRun) document() *reports.TraceDocument {
	t.doc.Kernels = t.kernels.list()
	return t.doc
}

// inMs turns ns into ms.
func inMs(ns int64) float64 { return float64(ns) / 1e6 }
