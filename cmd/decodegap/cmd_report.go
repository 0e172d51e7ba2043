package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/reports/all"
	"decodegap/roofline/nearest"
)

type reportOptions struct {
	outputOptions
	formats []string
	dir     string
}

func (o *reportOptions) AddFlags(f *pflag.FlagSet) {
	o.outputOptions.AddFlags(f)
	f.StringSliceVar(&o.formats, "format", []string{"text"}, "`LIST` of "+strings.Join(all.Names(), ", "))
	f.StringVar(&o.dir, "dir", "", "write NAME.EXT into `DIR`, one file a format (several formats: default .)")
}

func newReportCommand(env *environment) *cobra.Command {
	var opt reportOptions
	var formats strings.Builder
	for _, r := range all.All {
		fmt.Fprintf(&formats, "  %-6s %s\n", r.Name, r.Doc)
	}
	cmd := &cobra.Command{
		Use:     "report RUN",
		GroupID: "main",
		Short:   "A run record as text, HTML, PDF, Markdown, …",
		Long: `report prints a run record, as diagnose -o writes it; RUN may be - for standard
input. One format goes to standard output or to -o; several go to files beside
each other, named after RUN. --json is the record itself.

FORMATS
` + formats.String() + `
` + exitcode.Help,
		Example: `  decodegap report run.json
  decodegap report run.json --format html -o gap.html
  decodegap report run.json --format html,pdf,md --dir out
  decodegap report run.json --format md >> "$GITHUB_STEP_SUMMARY"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.json && cmd.Flags().Changed("format") {
				return fmt.Errorf("report: --json is the record itself and --format another form of it: give one of them")
			}
			return runReport(cmd.Context(), env, args[0], opt)
		},
	}
	opt.AddFlags(cmd.Flags())
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(completions(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// completions are the formats with their line of help.
func completions() []cobra.Completion {
	var out []cobra.Completion
	for _, r := range all.All {
		out = append(out, cobra.CompletionWithDesc(r.Name, r.Doc))
	}
	return out
}

func runReport(ctx context.Context, env *environment, path string, opt reportOptions) error {
	renderers, err := renderersOf(opt.formats)
	if err != nil {
		return err
	}
	toFiles := len(renderers) > 1 || opt.dir != ""
	if toFiles && opt.file != "" && opt.file != "-" {
		return fmt.Errorf("report: -o names one file, but --dir and several formats ask for files of their own: give -o with one format, or --dir")
	}
	run, err := readRecord(env, path)
	if err != nil {
		return err
	}
	if opt.json {
		return opt.write(env, func(w io.Writer) error { return writeJSON(w, run) }, path)
	}
	if toFiles {
		return writeReports(ctx, env, path, run, renderers, opt)
	}
	r := renderers[0]
	if (r.Name == "pdf" || r.Name == "pprof") && (opt.file == "" || opt.file == "-") && term.Of(env.stdout, os.Getenv).TTY {
		return fmt.Errorf("report: a %s file is nothing for a terminal: give -o FILE%s, or send it into a file or pipe", r.Name, r.Ext)
	}
	return opt.write(env, func(w io.Writer) error { return r.Render(w, run) }, path)
}

// renderersOf finds the formats of a list, each once, in its order.
func renderersOf(names []string) ([]reports.Renderer, error) {
	var out []reports.Renderer
	for _, n := range names {
		n = strings.TrimSpace(n)
		r, ok := all.ByName(n)
		if !ok {
			return nil, fmt.Errorf("report: --format %q is no format; %s", reports.OneLine(n, 60), nearest.Hint(n, all.Names()))
		}
		if !slices.ContainsFunc(out, func(o reports.Renderer) bool { return o.Name == r.Name }) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("report: --format names no format; known: %s", strings.Join(all.Names(), ", "))
	}
	return out, nil
}

func readRecord(env *environment, path string) (*reports.Run, error) {
	if path == "-" {
		return reports.ReadRunFrom(env.stdin, "standard input")
	}
	return reports.ReadRun(path)
}

// writeReports writes one file a format. All are made before the first is
// written, and none may be the record they are made from.
func writeReports(ctx context.Context, env *environment, path string, run *reports.Run, renderers []reports.Renderer, opt reportOptions) error {
	name := "run"
	if path != "-" {
		name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	dir := opt.dir
	if dir == "" {
		dir = "."
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: cannot make the folder of --dir: %w", err)
	}
	made := make([][]byte, len(renderers))
	files := make([]string, len(renderers))
	for i, r := range renderers {
		if err := ctx.Err(); err != nil {
			return err
		}
		files[i] = filepath.Join(dir, name+r.Ext)
		if sameFile(files[i], path) {
			return fmt.Errorf("report: %s would replace the record it is made from: give another --dir, or leave %s out", files[i], r.Name)
		}
		var b bytes.Buffer
		if err := r.Render(&b, run); err != nil {
			return fmt.Errorf("report: %s: %w", r.Name, err)
		}
		made[i] = b.Bytes()
	}
	var out []outputFile
	for i, f := range files {
		out = append(out, outputFile{f, made[i]})
	}
	if err := writeFiles(out); err != nil {
		return err
	}
	for _, f := range files {
		opt.talk(env, "wrote %s", f)
	}
	return nil
}
