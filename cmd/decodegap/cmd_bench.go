package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/reports/compare"
	"decodegap/roofline/unit"
	"decodegap/traces/bench"
)

type benchOptions struct {
	outputOptions
}

func (o *benchOptions) AddFlags(f *pflag.FlagSet) { o.outputOptions.AddFlags(f) }

func newBenchCommand(env *environment) *cobra.Command {
	var opt benchOptions
	cmd := &cobra.Command{
		Use:     "bench FILE...",
		GroupID: "parts",
		Short:   "Read the result files of serving benchmarks",
		Long: `bench reads the result files of serving benchmarks, whatever their names, and
prints them in one set of units: TPOT is (E2E - TTFT) / (output tokens - 1) per
request, in milliseconds. It never takes TPOT from throughput or from ITL, says
what it derived, and warns of what makes a number mislead. FILE may be - for
standard input.

Where the points allow it, the step time is fitted as
fixed + a·batch + b·kilotokens; the fixed part is what every step costs.

FORMATS
` + benchFormats() + `
` + exitcode.Help,
		Example: `  decodegap bench sweep.jsonl
  python3 -m sglang.bench_serving … | decodegap bench -
  decodegap bench --json *.json | jq '.results[].tpot_ms'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runBench(cmd.Context(), env, args, opt) },
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

func benchFormats() string {
	var b strings.Builder
	for _, f := range bench.All {
		fmt.Fprintf(&b, "  %-19s %s\n", f.Name, f.Doc)
	}
	return b.String()
}

// benchFile is one file's results.
type benchFile struct {
	path    string
	results []bench.Result
}

func runBench(ctx context.Context, env *environment, paths []string, opt benchOptions) error {
	files, err := readBenchFiles(ctx, env, paths)
	if err != nil {
		return err
	}
	doc := benchDocument(files)
	render := func(w io.Writer) error { return writeBenchText(w, files, doc, env.width()) }
	if opt.json {
		render = func(w io.Writer) error { return writeJSON(w, doc) }
	}
	return opt.write(env, render, paths...)
}

func readBenchFiles(ctx context.Context, env *environment, paths []string) ([]benchFile, error) {
	var files []benchFile
	for i, path := range paths {
		if path == "-" && slices.Contains(paths[:i], "-") {
			return nil, fmt.Errorf("standard input (-) can be read only once")
		}
		results, err := interruptible(ctx, func() ([]bench.Result, error) { return readBench(env, path) })
		if err != nil {
			return nil, err
		}
		files = append(files, benchFile{path, results})
	}
	return files, nil
}

func readBench(env *environment, path string) ([]bench.Result, error) {
	if path == "-" {
		return bench.Read(env.stdin, "standard input")
	}
	return bench.ReadFile(path)
}

func benchDocument(files []benchFile) *reports.BenchDocument {
	doc := &reports.BenchDocument{Schema: reports.BenchSchema, Results: []reports.BenchResult{}}
	var all []bench.Result
	for _, f := range files {
		for _, r := range f.results {
			doc.Results = append(doc.Results, compare.FromBench(f.path, r))
		}
		all = append(all, f.results...)
	}
	fit, warnings := bench.FitSteps(all)
	if fit != nil {
		doc.Fit = &reports.BenchFit{FixedMs: fit.FixedMs, PerSequenceMs: fit.PerSequenceMs, Points: fit.Points, ResidualMs: fit.ResidualMs}
		if fit.PerKilotokenMs != nil {
			doc.Fit.PerKilotokenMs = *fit.PerKilotokenMs
		}
	}
	for _, w := range warnings {
		doc.Warnings = append(doc.Warnings, reports.Warning(w))
	}
	return doc
}

// writeBenchText prints a table a file, what it warns of, and the fit.
func writeBenchText(w io.Writer, files []benchFile, doc *reports.BenchDocument, width int) error {
	derived := false
	for i, f := range files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, term.Clean(f.path)+modelOf(f.results))
		t := term.Table{Columns: []term.Column{
			{Title: "tool", Shrink: true}, {Title: "conc", Align: term.Right}, {Title: "achieved", Align: term.Right}, {Title: "tok/s", Align: term.Right},
			{Title: "TPOT mean", Align: term.Right}, {Title: "median", Align: term.Right}, {Title: "p99", Align: term.Right}, {Title: "TTFT", Align: term.Right}, {},
		}}
		for _, r := range f.results {
			ttft, statistic := r.TTFT.Central()
			mean := benchNumber(r.TPOT.Mean)
			if slices.Contains(r.Derived, "tpot_ms.mean") {
				mean += "*"
				derived = true
			}
			t.Rows = append(t.Rows, []string{r.Tool, benchCap(r), benchNumber(r.Concurrency), benchNumber(r.OutputTokPerS),
				mean, benchNumber(r.TPOT.Median), benchNumber(r.TPOT.P99), benchNumber(ttft), statistic})
		}
		if err := t.Write(w, width); err != nil {
			return err
		}
		writeBenchWarnings(w, f.results, width)
	}
	fmt.Fprintln(w)
	writeWrapped(w, "TPOT and TTFT in ms. TPOT = (E2E - TTFT) / (output tokens - 1) per request.", width, "")
	if derived {
		writeWrapped(w, "* derived from other fields of the file", width, "")
	}
	if f := doc.Fit; f != nil {
		writeWrapped(w, benchFit(f), width, "")
	}
	for _, warning := range doc.Warnings {
		writeWrapped(w, warning.Code+": "+warning.Text, width, "")
	}
	return nil
}

// benchFit is the fit in one sentence.
func benchFit(f *reports.BenchFit) string {
	text := fmt.Sprintf("fit over %d points: step = %s ms fixed + %s ms a sequence", f.Points, unit.Significant(f.FixedMs, 4), unit.Significant(f.PerSequenceMs, 3))
	if f.PerKilotokenMs != 0 {
		text += fmt.Sprintf(" + %s ms a kilotoken of context", unit.Significant(f.PerKilotokenMs, 3))
	}
	return text + fmt.Sprintf(", residual %s ms", unit.Significant(f.ResidualMs, 3))
}

// writeBenchWarnings prints each code once a file, with the points it is about.
func writeBenchWarnings(w io.Writer, results []bench.Result, width int) {
	var order []string
	first := map[string]string{}
	where := map[string][]string{}
	for _, r := range results {
		for _, warning := range r.Warnings {
			if _, seen := first[warning.Code]; !seen {
				order = append(order, warning.Code)
				first[warning.Code] = warning.Text
			}
			if at := benchCap(r); at != "" && !slices.Contains(where[warning.Code], at) {
				where[warning.Code] = append(where[warning.Code], at)
			}
		}
	}
	for _, code := range order {
		text := "  " + code
		if at := where[code]; len(at) > 0 && len(results) > 1 {
			text += " (concurrency " + strings.Join(at[:min(len(at), 12)], ", ") + ")"
		}
		writeWrapped(w, text+": "+first[code], width, "  ")
	}
}

func modelOf(results []bench.Result) string {
	model := results[0].Model
	for _, r := range results {
		if r.Model != model {
			return ""
		}
	}
	if model == "" {
		return ""
	}
	return "  " + term.Clean(model)
}

func benchCap(r bench.Result) string {
	if r.MaxConcurrency == nil {
		return ""
	}
	return fmt.Sprint(*r.MaxConcurrency)
}

func benchNumber(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}
