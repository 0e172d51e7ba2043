package main

import (
	"fmt"
	"io"
	"strings"

	"decodegap/cmd/internal/term"
	"decodegap/roofline/nearest"
)

// traceFormat is a form of what trace prints.
type traceFormat struct {
	name, doc string
	binary    bool // nothing for a terminal
	render    func(w io.Writer, made tracedRun, width int) error
}

// traceOutputs are the values of trace --format.
var traceOutputs = []traceFormat{
	{"text", "tables for people", false, func(w io.Writer, made tracedRun, width int) error { return writeTraceText(w, made.doc, width) }},
	{"json", "everything that was found, as --json", false, func(w io.Writer, made tracedRun, _ int) error { return writeJSON(w, made.doc) }},
	{"csv", "the components of the median steps and all kernels", false, func(w io.Writer, made tracedRun, _ int) error { return writeTraceCSV(w, made.doc) }},
	{"pprof", "the median step by phase, component and kernel, for go tool pprof", true, func(w io.Writer, made tracedRun, _ int) error { return writeTracePprof(w, made) }},
	{"perfetto", "the median step for ui.perfetto.dev or chrome://tracing", false, func(w io.Writer, made tracedRun, _ int) error { return writeTracePerfetto(w, made) }},
	{"svg", "the median step drawn: streams, host calls, idle time", false, func(w io.Writer, made tracedRun, _ int) error { return writeTraceSVG(w, made) }},
}

func traceOutputNames() []string {
	var names []string
	for _, f := range traceOutputs {
		names = append(names, f.name)
	}
	return names
}

func traceOutput(name string) (traceFormat, error) {
	for _, f := range traceOutputs {
		if f.name == name {
			return f, nil
		}
	}
	return traceFormat{}, fmt.Errorf("--format %q: %s", term.Clean(name), nearest.Hint(name, traceOutputNames()))
}

// traceOutputHelp lists them, one a line.
func traceOutputHelp() string {
	var b strings.Builder
	for _, f := range traceOutputs {
		fmt.Fprintf(&b, "  %-9s %s\n", f.name, f.doc)
	}
	return b.String()
}
