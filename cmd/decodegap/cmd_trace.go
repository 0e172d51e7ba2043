package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/traces/all"
	"decodegap/traces/classify"
)

type traceOptions struct {
	outputOptions
	files  traceFiles
	format string
	rules  string
	step   string
}

func (o *traceOptions) AddFlags(f *pflag.FlagSet) {
	o.outputOptions.AddFlags(f)
	o.files.AddFlags(f)
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the output: "+strings.Join(traceOutputNames(), ", "))
	f.StringVar(&o.rules, "rules", "", "kernel name rules before the built-in ones: `FILE` with a pattern and a component a line, tab between")
	f.StringVar(&o.step, "step", "", "annotations that match `REGEXP` are the steps")
}

func newTraceCommand(env *environment) *cobra.Command {
	var opt traceOptions
	cmd := &cobra.Command{
		Use:     "trace FILE...",
		GroupID: "parts",
		Short:   "Read profiler traces: where the GPU's time goes",
		Long: `trace reads profiler traces, whatever their names: one file, or one file a
rank. Times are whole nanoseconds from the file's decimal text; busy time is the
union of all GPU operations (kernels, copies, fills) of a device, so overlap is
never counted twice. A damaged or cut file is read as far as it goes, and what is
missing is said. The environment of the profiled process is never read.

Steps are told apart by the engine's annotations, else by graph launches, else by
the repeating kernel sequence. The median step is one of them, the one whose
length is in the middle, the lower of two; the last one has no next step to end
it, so it is left out where three others count. Steps that are left out are said
with the reason. Each nanosecond of the median step goes to one component or to
one kind of idle time: they add up to the step. With several ranks, the time of
collectives is split into transfer and waiting for the slowest.

FILES IT READS
` + traceFormats() + `
OUTPUT FORMATS
` + traceOutputHelp() + `
` + exitcode.Help,
		Example: `  decodegap trace rank0.pt.trace.json.gz
  decodegap trace rank*.json.gz --json | jq '.ranks[].busy_ms'
  decodegap trace rank0.pt.trace.json.gz --format svg -o step.svg
  decodegap trace rank0.pt.trace.json.gz --csv step.csv --pprof gpu.pb.gz --perfetto step.json
  go tool pprof -http : gpu.pb.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.json {
				if cmd.Flags().Changed("format") && opt.format != "json" {
					return fmt.Errorf("--json and --format %s ask for two outputs: give one of them", term.Clean(opt.format))
				}
				opt.format = "json"
			}
			return runTrace(cmd.Context(), env, args, opt)
		},
	}
	opt.AddFlags(cmd.Flags())
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(traceOutputNames(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func traceFormats() string {
	var b strings.Builder
	for _, f := range all.All {
		fmt.Fprintf(&b, "  %-19s %s\n", f.Name, f.Doc)
	}
	return b.String()
}

func runTrace(ctx context.Context, env *environment, paths []string, opt traceOptions) error {
	format, err := traceOutput(opt.format)
	if err != nil {
		return err
	}
	if format.binary && (opt.file == "" || opt.file == "-") && term.Of(env.stdout, os.Getenv).TTY {
		return fmt.Errorf("trace: a profile is nothing for a terminal: give -o FILE, or send it into a file or pipe")
	}
	inputs := append([]string{opt.rules}, paths...)
	if err := opt.files.check(opt.file, inputs); err != nil {
		return err
	}
	trace := assemble.Trace{Formats: all.All, Many: len(paths) > 1, Totalled: opt.files.pprof != "" || format.name == "pprof"}
	if trace.Rules, err = readRules(opt.rules); err != nil {
		return err
	}
	if opt.step != "" {
		if trace.Step, err = regexp.Compile(opt.step); err != nil {
			return fmt.Errorf("--step: %w", err)
		}
	}
	var failed []error
	for _, err := range trace.ReadAll(ctx, paths) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if trace.Events == 0 {
		return errors.Join(failed...)
	}
	for _, err := range failed {
		trace.Warn("", "unreadable", err.Error())
		opt.talk(env, "decodegap: warning: %s", term.Clean(err.Error()))
	}
	doc := trace.Document()
	made := tracedRun{doc, &trace}
	render := func(w io.Writer) error { return format.render(w, made, env.width()) }
	files, err := opt.files.render(made)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := writeFiles(files); err != nil {
		return err
	}
	return opt.write(env, render, inputs...)
}

// tracedRun is what was read, in the forms that the files are made of.
type tracedRun struct {
	doc   *reports.TraceDocument
	trace *assemble.Trace
}

func readRules(path string) ([]classify.Rule, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	defer f.Close()
	return classify.ParseRules(f, path)
}
