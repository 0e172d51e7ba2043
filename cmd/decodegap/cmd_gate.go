package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/exitcode"
	"decodegap/reports"
	"decodegap/reports/gate"
	"decodegap/reports/junit"
	"decodegap/roofline/nearest"
)

type gateOptions struct {
	outputOptions
	policy   string
	baseline string
	junit    string
	format   string
}

func (o *gateOptions) AddFlags(f *pflag.FlagSet) {
	o.outputOptions.AddFlags(f)
	f.StringVar(&o.policy, "policy", "", "the limits to judge by, a YAML `FILE` (write one with gate init)")
	f.StringVar(&o.baseline, "baseline", "", "run record to compare with, `RUN`")
	f.StringVar(&o.junit, "junit", "", "also write JUnit XML to `FILE`")
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the output: text, json, junit or md")
}

func newGateCommand(env *environment) *cobra.Command {
	var opt gateOptions
	cmd := &cobra.Command{
		Use:     "gate RUN --policy FILE",
		GroupID: "main",
		Short:   "Fail CI when decode falls below its limits",
		Long: `gate judges a run record (diagnose -o run.json) by the limits of a policy:
efficiency against a named floor, regression against a baseline, the share of
time that nothing explains, the evidence that must be there. RUN may be - for
standard input.

Any rule that fails is exit 1. What the policy asks for and the record cannot
show (the floor, a point, a measurement, a comparable baseline) is exit 3,
never a pass.

` + exitcode.Help,
		Example: `  decodegap gate init run.json -o policy.yaml
  decodegap gate run.json --policy policy.yaml --junit gate.xml
  decodegap gate run.json --policy policy.yaml --baseline main.json --format md`,
		Args: oneRun("gate"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.json && cmd.Flags().Changed("format") && opt.format != "json" {
				return fmt.Errorf("gate: --json and --format %s exclude each other", opt.format)
			}
			if opt.json {
				opt.format = "json"
			}
			return runGate(env, args[0], opt)
		},
	}
	opt.AddFlags(cmd.Flags())
	cmd.AddCommand(newGateInitCommand(env))
	return cmd
}

// gateFormats lists what --format takes.
var gateFormats = []struct {
	name  string
	write func(io.Writer, *reports.GateDocument) error
}{
	{"text", gate.WriteText},
	{"json", func(w io.Writer, doc *reports.GateDocument) error { return writeJSON(w, doc) }},
	{"junit", junit.WriteGate},
	{"md", gate.WriteMarkdown},
}

func runGate(env *environment, path string, opt gateOptions) error {
	write, err := gateFormat(opt.format)
	if err != nil {
		return err
	}
	if opt.policy == "" {
		return fmt.Errorf("gate: no --policy FILE, so there is nothing to judge by; write one from this run with:\n  decodegap gate init %s -o policy.yaml", quoteArg(path))
	}
	if opt.junit != "" {
		if err := checkOutputs([]string{opt.junit}, []string{path, opt.policy, opt.baseline}); err != nil {
			return err
		}
	}
	policy, err := gate.ReadPolicy(opt.policy)
	if err != nil {
		return err
	}
	run, err := readRunArg(env, path)
	if err != nil {
		return err
	}
	var baseline *reports.Run
	if opt.baseline != "" {
		if baseline, err = reports.ReadRun(opt.baseline); err != nil {
			return err
		}
	}
	doc, err := gate.Evaluate(policy, run, baseline)
	if err != nil {
		return err
	}
	if opt.junit != "" {
		var xml bytes.Buffer
		if err := junit.WriteGate(&xml, doc); err != nil {
			return err
		}
		if err := writeFile(opt.junit, xml.Bytes()); err != nil {
			return err
		}
	}
	if err := opt.write(env, func(w io.Writer) error { return write(w, doc) }, path, opt.policy, opt.baseline); err != nil {
		return err
	}
	if opt.format != "text" || opt.file != "-" {
		opt.talk(env, "%s", gate.Summary(doc))
	}
	switch doc.Verdict {
	case gate.Pass:
		return nil
	case gate.Fail:
		return exitcode.With(exitcode.GateFailed, nil)
	}
	return exitcode.With(exitcode.NotComparable, nil)
}

func gateFormat(name string) (func(io.Writer, *reports.GateDocument) error, error) {
	var known []string
	for _, f := range gateFormats {
		if f.name == name {
			return f.write, nil
		}
		known = append(known, f.name)
	}
	return nil, fmt.Errorf("gate: no format %q; %s", reports.OneLine(name, 40), nearest.Hint(name, known))
}

func newGateInitCommand(env *environment) *cobra.Command {
	var opt outputOptions
	cmd := &cobra.Command{
		Use:   "init RUN",
		Short: "Write a starter policy that RUN passes",
		Long: `init writes a commented policy from a run record: its measured points at 90 % of
the efficiency they showed, against the probed latency floor where the run has
one, else against the layout floor at the sheet. With --json the policy comes as
JSON, which gate reads too.

` + exitcode.Help,
		Example: `  decodegap gate init run.json -o policy.yaml`,
		Args:    oneRun("gate init"),
		RunE: func(_ *cobra.Command, args []string) error {
			run, err := readRunArg(env, args[0])
			if err != nil {
				return err
			}
			text, err := gate.Starter(run, args[0])
			if errors.Is(err, gate.ErrNothingToGate) {
				return exitcode.With(exitcode.NotComparable, fmt.Errorf("%s: %w", reports.OneLine(args[0], 0), err))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", reports.OneLine(args[0], 0), err)
			}
			return opt.write(env, func(w io.Writer) error {
				if !opt.json {
					_, err := w.Write(text)
					return err
				}
				return gate.WriteJSONPolicy(w, text)
			})
		},
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

// readRunArg reads the run record a command names; - is standard input.
func readRunArg(env *environment, path string) (*reports.Run, error) {
	if path == "-" {
		return reports.ReadRunFrom(env.stdin, "standard input")
	}
	return reports.ReadRun(path)
}

// oneRun takes exactly one argument and says what it should be.
func oneRun(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fmt.Errorf("%s: expected one RUN record, found %d arguments; make one with: decodegap diagnose MODEL … -o run.json", command, len(args))
	}
}

// quoteArg is an argument as a shell takes it.
func quoteArg(s string) string {
	s = reports.OneLine(s, 0)
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(plainArg, r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plainArg are the characters no shell treats specially.
const plainArg = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
