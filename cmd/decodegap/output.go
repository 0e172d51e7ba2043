package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"decodegap/cmd/internal/term"
	"decodegap/reports"
)

// outputOptions are the flags every command shares.
type outputOptions struct {
	json  bool
	file  string
	quiet bool
}

func (o *outputOptions) AddFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.json, "json", false, "machine output on stdout, nothing else there")
	f.StringVarP(&o.file, "output", "o", "-", "write the output to `FILE`; - is stdout")
	f.BoolVar(&o.quiet, "quiet", false, "no progress or warnings on stderr")
}

// write renders to the chosen output. The text is made whole before the first
// byte is written, a file appears only when complete, and no input is
// overwritten.
func (o *outputOptions) write(env *environment, render func(io.Writer) error, inputs ...string) error {
	if o.file != "-" && o.file != "" {
		if err := checkOutputs([]string{o.file}, inputs); err != nil {
			return err
		}
	}
	var buf bytes.Buffer
	if err := render(&buf); err != nil {
		return err
	}
	if o.file == "" || o.file == "-" {
		_, err := env.stdout.Write(buf.Bytes())
		return err
	}
	return writeFiles([]outputFile{{o.file, buf.Bytes()}})
}

// writeJSON prints one JSON document, indented, with a final newline.
func writeJSON(w io.Writer, doc any) error {
	return reports.WriteJSON(w, doc)
}

// talk prints a line for people on stderr unless --quiet. What inputs put into
// it cannot start another line or reach the terminal as an escape sequence.
func (o *outputOptions) talk(env *environment, format string, args ...any) {
	if !o.quiet {
		fmt.Fprintln(env.stderr, term.Clean(fmt.Sprintf(format, args...)))
	}
}
