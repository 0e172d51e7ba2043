package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/pflag"
)

// traceFiles are the files that trace writes beside its output.
type traceFiles struct {
	csv      string
	pprof    string
	perfetto string
}

func (o *traceFiles) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.csv, "csv", "", "also write the components of the median steps and all kernels to `FILE`, as a table")
	f.StringVar(&o.pprof, "pprof", "", "also write the median step by rank, phase, component and kernel to `FILE`, for go tool pprof")
	f.StringVar(&o.perfetto, "perfetto", "", "also write the median step, its slices named by component, to `FILE` for ui.perfetto.dev or chrome://tracing")
}

// traceFile is one of them, with what makes its content.
type traceFile struct {
	flag, path string
	render     func(io.Writer) error
}

// list is the files that were asked for; made may be zero to only name them.
func (o *traceFiles) list(made tracedRun) []traceFile {
	var out []traceFile
	for _, f := range []traceFile{
		{"--csv", o.csv, func(w io.Writer) error { return writeTraceCSV(w, made.doc) }},
		{"--pprof", o.pprof, func(w io.Writer) error { return writeTracePprof(w, made) }},
		{"--perfetto", o.perfetto, func(w io.Writer) error { return writeTracePerfetto(w, made) }},
	} {
		if f.path != "" {
			out = append(out, f)
		}
	}
	return out
}

// check refuses files that would overwrite each other, main or an input. It
// runs before a trace is read: that may take minutes.
func (o *traceFiles) check(main string, inputs []string) error {
	var outputs []string
	if main != "-" && main != "" {
		outputs = append(outputs, main)
	}
	for _, f := range o.list(tracedRun{}) {
		if f.path == "-" {
			return fmt.Errorf("%s -: stdout is the report's; expected the name of a file", f.flag)
		}
		outputs = append(outputs, f.path)
	}
	return checkOutputs(outputs, inputs)
}

// render makes all files before the first is written.
func (o *traceFiles) render(made tracedRun) ([]outputFile, error) {
	var out []outputFile
	for _, f := range o.list(made) {
		var buf bytes.Buffer
		if err := f.render(&buf); err != nil {
			return nil, fmt.Errorf("%s %s: %w", f.flag, f.path, err)
		}
		out = append(out, outputFile{f.path, buf.Bytes()})
	}
	return out, nil
}
