package main

import (
	"errors"
	"io"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
	"decodegap/reports/pprof"
)

// writeTracePprof writes the median step of every rank as a pprof profile, idle
// times included: rank, phase of the step, component, kernel. Where no steps
// were found it is all GPU operations of the trace, without idle times. A
// trace without operations is an error, for an empty profile reads as no time
// spent.
func writeTracePprof(w io.Writer, made tracedRun) error {
	p := pprof.Profile{}
	if traced := made.trace.Traced(); traced != nil {
		p.Steps = traced.Steps
		p.Comments = append(p.Comments, "the median step of each rank")
	} else {
		span := made.trace.Span()
		p.Steps, p.TimeNanos, p.Length = wholeTrace(made.trace.Totals()), span.Start, span.Length
		p.Comments = append(p.Comments, "no steps were found: all GPU operations of the trace")
	}
	if len(p.Steps) == 0 {
		return errors.New("no GPU operation in the trace to make a profile of")
	}
	for _, f := range made.doc.Files {
		p.Comments = append(p.Comments, f.Path)
	}
	for _, warning := range made.doc.Warnings {
		p.Comments = append(p.Comments, warning.Code+": "+warning.Text)
	}
	return p.Write(w)
}

// wholeTrace is the totals in the shape of steps, one a device.
func wholeTrace(totals []assemble.TraceTotal) []reports.TracedStep {
	var out []reports.TracedStep
	at := map[[2]int]int{}
	for _, t := range totals {
		key := [2]int{t.Rank, t.Device}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, reports.TracedStep{Rank: t.Rank, Device: t.Device})
		}
		out[i].Operations = append(out[i].Operations, reports.TracedOperation{Component: t.Component, Name: t.Name, Count: t.Count, Ms: float64(t.Time) / 1e6})
	}
	return out
}
