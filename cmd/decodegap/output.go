package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
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
// byte is written, and a file appears only when complete.
func (o *outputOptions) write(env *environment, render func(io.Writer) error) error {
	var buf bytes.Buffer
	if err := render(&buf); err != nil {
		return err
	}
	if o.file == "" || o.file == "-" {
		_, err := env.stdout.Write(buf.Bytes())
		return err
	}
	return writeFile(o.file, buf.Bytes())
}

// writeJSON prints one JSON document, indented, with a final newline.
func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// writeFile writes data under a temporary name beside path and renames it, so
// that no reader ever sees half a report.
func writeFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("cannot write %s: there is no folder %s", path, dir)
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// talk prints a line for people on stderr unless --quiet.
func (o *outputOptions) talk(env *environment, format string, args ...any) {
	if !o.quiet {
		fmt.Fprintf(env.stderr, format+"\n", args...)
	}
}
