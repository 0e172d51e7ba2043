package main

import (
	"bufio"
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
	"decodegap/reports"
	"decodegap/reports/compare"
	"decodegap/traces/bench"
)

type compareOptions struct {
	outputOptions
	names     []string
	facts     []string
	vary      []string
	threshold float64
}

func (o *compareOptions) AddFlags(f *pflag.FlagSet) {
	o.outputOptions.AddFlags(f)
	f.StringArrayVar(&o.names, "name", nil, "`NAME` of a series, once for each file in their order (default: the file's name)")
	f.StringArrayVar(&o.facts, "fact", nil, "what you know of a series, `SERIES:KEY=VALUE`, such as a:host.kernel=6.14.11 (repeatable)")
	f.StringArrayVar(&o.vary, "vary", nil, "fact that is meant to differ, `KEY`, such as flag.moe-runner-backend or flag.* (repeatable)")
	f.Float64Var(&o.threshold, "threshold", 100*compare.DefaultThreshold, "change in `PERCENT` up to which two values are the same")
}

func newCompareCommand(env *environment) *cobra.Command {
	var opt compareOptions
	cmd := &cobra.Command{
		Use:     "compare A B...",
		GroupID: "main",
		Short:   "Runs, benchmark series or probes side by side",
		Long: `compare sets benchmark files (a series each) or run records side by side: the
values at each operating point, a verdict a point against the first, and where
two series change places. FILE may be - for standard input.

Two ceilings documents (decodegap probe -o) compare case by case: same, faster,
slower or ambiguous, by the share of the read ceiling measured in the same run,
with a bootstrap interval and a margin no narrower than either run's noise floor.

It says whether the comparison is sound at all. Kernel, driver and server
settings must be known on every side and agree; benchmark files rarely record
them. --fact adds what you know, --vary names what is meant to differ. Where
the series are not comparable the table is printed all the same, and the exit
status is 3.

` + exitcode.Help,
		Example: `  decodegap compare cutlass.jsonl cutedsl.jsonl
  decodegap compare a.jsonl b.jsonl --fact a:host.kernel=6.8.0 --fact b:host.kernel=6.14.11
  decodegap compare before.json after.json --vary engine.version`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(cmd.Context(), env, args, opt) },
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

func runCompare(ctx context.Context, env *environment, paths []string, opt compareOptions) error {
	if !(opt.threshold > 0 && opt.threshold < 100) {
		return fmt.Errorf("compare: --threshold %g: expected a percentage above 0 and below 100", opt.threshold)
	}
	names, err := seriesNames(paths, opt.names)
	if err != nil {
		return err
	}
	doc, err := compareDocument(ctx, env, paths, names, opt)
	if err != nil {
		return err
	}
	render := func(w io.Writer) error { return writeCompareText(w, doc, env.width()) }
	if opt.json {
		render = func(w io.Writer) error { return writeJSON(w, doc) }
	}
	if err := opt.write(env, render, paths...); err != nil {
		return err
	}
	if !doc.Comparison.Comparable {
		return &exitcode.Error{Code: exitcode.NotComparable}
	}
	return nil
}

// seriesNames are the names given, else the files' names without folder and
// extension; files whose names are alike go by their paths.
func seriesNames(paths, given []string) ([]string, error) {
	if len(given) > 0 && len(given) != len(paths) {
		return nil, fmt.Errorf("compare: %d names for %d files: give --name once for each file, or not at all", len(given), len(paths))
	}
	names := slices.Clone(given)
	for _, p := range paths[len(given):] {
		names = append(names, strings.TrimSuffix(filepath.Base(p), filepath.Ext(p)))
	}
	for i, n := range names {
		if n == "" || slices.Contains(names[:i], n) {
			if len(given) > 0 {
				return nil, fmt.Errorf("compare: name %q is empty or given twice", n)
			}
			names = slices.Clone(paths)
			break
		}
	}
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return nil, fmt.Errorf("compare: %s is given twice: a series compared with itself says nothing", n)
		}
	}
	return names, nil
}

// compareInput is one argument: a run record, what probes measured, or a
// benchmark's results.
type compareInput struct {
	run      *reports.Run
	ceilings *reports.CeilingsDocument
	results  []bench.Result
}

// kind names what the argument is, in the plural.
func (c compareInput) kind() string {
	switch {
	case c.run != nil:
		return "run records"
	case c.ceilings != nil:
		return "ceilings"
	}
	return "benchmark files"
}

func readCompareInput(env *environment, path string) (compareInput, error) {
	label, in := path, env.stdin
	if path == "-" {
		label = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return compareInput{}, fmt.Errorf("compare: cannot read: %w", err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return compareInput{}, fmt.Errorf("compare: %s is a directory: name the files in it", path)
		}
		in = f
	}
	r := bufio.NewReaderSize(in, 4096)
	head, _ := r.Peek(4096) // a read error comes again below
	if isDocument(head, reports.CeilingsSchema) {
		ceilings, err := reports.ReadCeilingsFrom(r, label)
		return compareInput{ceilings: ceilings}, err
	}
	if isDocument(head, reports.RunSchema) {
		run, err := reports.ReadRunFrom(r, label)
		return compareInput{run: run}, err
	}
	results, err := bench.Read(r, label)
	if err != nil {
		return compareInput{}, fmt.Errorf("%w\nor a run record (decodegap diagnose -o run.json), or ceilings (decodegap probe -o ceilings.json)", err)
	}
	return compareInput{results: results}, nil
}

// isDocument says whether head starts one of this program's documents of a
// schema's kind, of any version; the reader then checks which.
func isDocument(head []byte, schema string) bool {
	head = bytes.TrimSpace(head)
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	prefix, _, _ := strings.Cut(schema, "/1")
	return bytes.Contains(head, []byte(`"`+prefix+`/`))
}

func compareDocument(ctx context.Context, env *environment, paths, names []string, opt compareOptions) (*reports.CompareDocument, error) {
	doc := &reports.CompareDocument{Schema: reports.CompareSchema, Warnings: []reports.Warning{}}
	o := compare.Options{Threshold: opt.threshold / 100, Vary: opt.vary}
	var runs []*reports.Run
	var ceilings []*reports.CeilingsDocument
	kind := ""
	for i, path := range paths {
		input, err := interruptible(ctx, func() (compareInput, error) { return readCompareInput(env, path) })
		if err != nil {
			return nil, err
		}
		if kind == "" {
			kind = input.kind()
		} else if input.kind() != kind {
			return nil, fmt.Errorf("compare: %s: run records compare with run records, ceilings with ceilings, and benchmark files with benchmark files", path)
		}
		if input.ceilings != nil {
			ceilings = append(ceilings, input.ceilings)
		} else if input.run != nil {
			runs = append(runs, input.run)
			doc.Series = append(doc.Series, reports.Series{Name: names[i]})
		} else {
			s, doubts := compare.SeriesOf(names[i], path, input.results)
			doc.Series = append(doc.Series, s)
			o.Doubts = append(o.Doubts, doubts...)
			doc.Warnings = append(doc.Warnings, compareWarnings(names[i], input.results)...)
		}
	}
	if len(ceilings) > 0 {
		return doc, compareCeilings(doc, names, ceilings, opt.facts, o)
	}
	if len(runs) > 0 {
		return doc, compareRuns(doc, names, runs, opt.facts, o)
	}
	for _, fact := range opt.facts {
		if err := compare.AddFact(doc.Series, fact); err != nil {
			return nil, fmt.Errorf("compare: --fact: %w", err)
		}
	}
	c, err := compare.Series(doc.Series, o)
	if err != nil {
		return nil, err
	}
	doc.Comparison = *c
	return doc, nil
}

// compareRuns fills doc from run records, whose facts go into the fingerprint.
func compareRuns(doc *reports.CompareDocument, names []string, runs []*reports.Run, facts []string, o compare.Options) error {
	for i, run := range runs {
		if run.Fingerprint.Facts == nil {
			run.Fingerprint.Facts = map[string]string{}
		}
		doc.Series[i].Facts = run.Fingerprint.Facts
	}
	for _, fact := range facts {
		if err := compare.AddFact(doc.Series, fact); err != nil {
			return fmt.Errorf("compare: --fact: %w", err)
		}
	}
	series, c, err := compare.Runs(names, runs, o)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	doc.Series, doc.Comparison = series, *c
	return nil
}

// compareWarnings are the warnings of a file's results, each code once.
func compareWarnings(name string, results []bench.Result) []reports.Warning {
	var out []reports.Warning
	seen := map[string]bool{}
	for _, r := range results {
		for _, w := range r.Warnings {
			if !seen[w.Code] {
				seen[w.Code] = true
				out = append(out, reports.Warning{Code: w.Code, Text: name + benchAt(r) + ": " + w.Text})
			}
		}
	}
	return out
}

func benchAt(r bench.Result) string {
	if r.MaxConcurrency == nil {
		return ""
	}
	return fmt.Sprintf(" at concurrency %d", *r.MaxConcurrency)
}
