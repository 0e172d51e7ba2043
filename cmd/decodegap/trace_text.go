package main

import (
	"fmt"
	"io"

	"decodegap/cmd/internal/term"
	"decodegap/reports"
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
	if err := writeTraceKernels(w, doc, width); err != nil {
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
		{Title: "kernel", Shrink: true}, {Title: "count", Align: term.Right}, {Title: "median µs", Align: term.Right},
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
		t.Rows = append(t.Rows, []string{k.Name, fmt.Sprint(k.Count), median, fmt.Sprintf("%.3f", k.TotalMs), share})
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	if n := len(doc.Kernels) - len(shown); n > 0 {
		fmt.Fprintf(w, "and %d more\n", n)
	}
	return nil
}
