package main

import (
	"cmp"
	"fmt"
	"io"

	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/roofline"
)

// topKernels is how many kernels the text lists.
const topKernels = 15

// writeTraceText prints the files, a line a device, the longest kernels and
// the warnings.
func writeTraceText(w io.Writer, doc *reports.TraceDocument, width int) error {
	for _, f := range doc.Files {
		line := fmt.Sprintf("%s  %s, %d events", term.Clean(f.Path), f.Format, f.Events)
		if f.Skipped > 0 {
			line += fmt.Sprintf(", %d without usable times", f.Skipped)
		}
		if f.Truncated {
			line += ", cut short"
		}
		fmt.Fprintln(w, line)
	}
	if err := writeTraceRanks(w, doc, width); err != nil {
		return err
	}
	if err := writeTraceStep(w, doc, width); err != nil {
		return err
	}
	if err := writeTraceKernels(w, doc, width); err != nil {
		return err
	}
	if err := writeTraceCounters(w, doc, width); err != nil {
		return err
	}
	if len(doc.Warnings) > 0 {
		fmt.Fprintln(w)
	}
	for _, warning := range doc.Warnings {
		writeWrapped(w, warning.Code+": "+term.Clean(warning.Text), width, "  ")
	}
	return nil
}

func writeTraceRanks(w io.Writer, doc *reports.TraceDocument, width int) error {
	if len(doc.Ranks) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{
		{Title: "rank", Align: term.Right}, {Title: "device", Align: term.Right}, {Title: "name"}, {Title: "GPU ops", Align: term.Right},
		{Title: "kernels", Align: term.Right}, {Title: "streams", Align: term.Right}, {Title: "span ms", Align: term.Right},
		{Title: "busy ms", Align: term.Right}, {Title: "busy", Align: term.Right}, {Title: "kernels ms", Align: term.Right},
	}}
	for _, r := range doc.Ranks {
		share := "–"
		if r.SpanMs > 0 {
			share = fmt.Sprintf("%.1f %%", 100*r.BusyMs/r.SpanMs)
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(r.Rank), fmt.Sprint(r.Device), r.Name, fmt.Sprint(r.GPUOps), fmt.Sprint(r.Kernels), fmt.Sprint(r.Streams),
			fmt.Sprintf("%.3f", r.SpanMs), fmt.Sprintf("%.3f", r.BusyMs), share, fmt.Sprintf("%.3f", r.KernelTimeMs)})
	}
	return t.Write(w, width)
}

// writeTraceStep prints where the median step's time goes; the lines add up.
func writeTraceStep(w io.Writer, doc *reports.TraceDocument, width int) error {
	s := doc.Step
	if s == nil {
		return nil
	}
	fmt.Fprintln(w)
	head := fmt.Sprintf("median of %d steps, found by %s: %.3f ms", cmp.Or(s.MedianOf, s.Count), s.FoundBy, s.MedianMs)
	if s.MedianOf%2 == 0 && s.MedianOf > 0 {
		head = fmt.Sprintf("median (the lower of two in the middle) of %d steps, found by %s: %.3f ms", s.MedianOf, s.FoundBy, s.MedianMs)
	}
	if s.Count == 1 {
		head = fmt.Sprintf("the one step, found by %s: %.3f ms", s.FoundBy, s.MedianMs)
	}
	if len(doc.Ranks) > 1 {
		head += fmt.Sprintf(" (rank %d, device %d)", s.Rank, s.Device)
	}
	writeWrapped(w, head, width, "")
	t := term.Table{Columns: []term.Column{{Title: "where the time goes"}, {Title: "ms", Align: term.Right}, {Title: "share", Align: term.Right}}}
	row := func(name string, ms float64) {
		if ms > 0 {
			t.Rows = append(t.Rows, []string{name, fmt.Sprintf("%.3f", ms), fmt.Sprintf("%.1f %%", 100*ms/s.MedianMs)})
		}
	}
	for _, c := range roofline.Components {
		row(string(c.Name), s.ByComponentMs[string(c.Name)])
	}
	for _, k := range reports.IdleKinds {
		row("idle: "+k.Name, s.IdleMs[k.Kind])
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	if s.CommWaitMs != nil {
		fmt.Fprintf(w, "of comm.*, %.3f ms is waiting for the slowest rank\n", *s.CommWaitMs)
	}
	if s.CommOverlappedMs > 0 {
		fmt.Fprintf(w, "%.3f ms of communication is hidden behind computation\n", s.CommOverlappedMs)
	}
	return nil
}

func writeTraceKernels(w io.Writer, doc *reports.TraceDocument, width int) error {
	if len(doc.Kernels) == 0 {
		return nil
	}
	var total float64
	for _, k := range doc.Kernels {
		total += k.TotalMs
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{
		{Title: "kernel", Shrink: true}, {Title: "component"}, {Title: "count", Align: term.Right}, {Title: "median µs", Align: term.Right},
		{Title: "total ms", Align: term.Right}, {Title: "share", Align: term.Right},
	}}
	shown := doc.Kernels[:min(len(doc.Kernels), topKernels)]
	for _, k := range shown {
		median, share := "–", "–"
		if k.MedianUs != nil {
			median = fmt.Sprintf("%.1f", *k.MedianUs)
		}
		if total > 0 {
			share = fmt.Sprintf("%.1f %%", 100*k.TotalMs/total)
		}
		t.Rows = append(t.Rows, []string{k.Name, k.Component, fmt.Sprint(k.Count), median, fmt.Sprintf("%.3f", k.TotalMs), share})
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	if n := len(doc.Kernels) - len(shown); n > 0 {
		fmt.Fprintf(w, "and %d more\n", n)
	}
	return nil
}

// writeTraceCounters prints what hardware counters say of single launches.
func writeTraceCounters(w io.Writer, doc *reports.TraceDocument, width int) error {
	if len(doc.Counters) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{
		{Title: "kernel, one launch", Shrink: true}, {Title: "grid"}, {Title: "component"}, {Title: "launches", Align: term.Right},
		{Title: "MB read", Align: term.Right}, {Title: "MB written", Align: term.Right}, {Title: "µs", Align: term.Right}, {Title: "GB/s", Align: term.Right},
	}}
	number := func(v *float64, scale float64, places int) string {
		if v == nil {
			return "–"
		}
		return fmt.Sprintf("%.*f", places, *v/scale)
	}
	shown := doc.Counters[:min(len(doc.Counters), topKernels)]
	for _, c := range shown {
		t.Rows = append(t.Rows, []string{c.Name, c.Grid, c.Component, fmt.Sprint(c.Launches), number(c.ReadBytes, 1e6, 3), number(c.WriteBytes, 1e6, 3),
			number(c.DurationUs, 1, 1), number(c.GBs, 1, 0)})
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	if n := len(doc.Counters) - len(shown); n > 0 {
		fmt.Fprintf(w, "and %d more\n", n)
	}
	return nil
}
