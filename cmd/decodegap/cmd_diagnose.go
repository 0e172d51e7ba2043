package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/exitcode"
	"decodegap/reports"
	"decodegap/reports/all"
	"decodegap/reports/text"
)

type diagnoseOptions struct {
	scenarioOptions
	outputOptions
	probing

	probe    bool
	device   string
	measured string
	bench    []string
	launch   string
	trace    []string
	rules    string
	assume   []string
	facts    []string
	report   []string

	fixedBatch, fixedContext, fixedTP, fixedEngine bool // given on the command line
}

func (o *diagnoseOptions) AddFlags(f *pflag.FlagSet) {
	o.scenarioOptions.AddFlags(f)
	o.outputOptions.AddFlags(f)
	f.BoolVar(&o.probe, "probe", false, "probe this machine first, its GPU or else its CPUs, and use what it reaches, as --ceilings does")
	f.StringVar(&o.device, "device", "", "`DEVICE` that --probe probes: cpu, cuda or cuda:1; default the machine's GPU if --hardware is such a one, the CPU for --hardware cpu and where there is no GPU")
	o.probing.AddFlags(f, time.Minute)
	f.StringVar(&o.measured, "measured", "", "time per output token, such as 97.1ms or 10.36tok/s")
	f.StringSliceVar(&o.bench, "bench", nil, "benchmark result `FILE`s; each is a series")
	f.StringSliceVar(&o.trace, "trace", nil, "profiler trace `FILE`s of the same point, one a rank: explains the ledger")
	f.StringVar(&o.rules, "rules", "", "kernel rules `FILE`, asked before the built-in ones")
	f.StringVar(&o.launch, "launch", "", "the server's launch script or command line, a `FILE`")
	f.StringArrayVar(&o.assume, "assume", nil, "also show the weights-only floor under this assumption: `FORMAT[@GB/s]` for every linear, evenly split")
	f.StringArrayVar(&o.facts, "fact", nil, "a fact about a benchmark series: `SERIES:key=value`, such as a:host.kernel=6.14.11")
	f.StringSliceVar(&o.report, "report", nil, "write reports to these `FILE`s; the extension says the format (html, pdf, md, txt, json, csv)")
}

func newDiagnoseCommand(env *environment) *cobra.Command {
	var opt diagnoseOptions
	cmd := &cobra.Command{
		Use:     "diagnose MODEL",
		GroupID: "main",
		Short:   "The gap report: floor, measurement and what lies between them",
		Long: `diagnose sets a measured time per output token against the floors of the same
operating point and explains the difference as a ledger that adds up. What no
evidence explains is shown as unattributed.

It prints the report's first page; --report writes the whole of it. With -o it
writes the run record, from which report and gate work later.

` + exitcode.Help,
		Example: `  decodegap diagnose llama-3.1-8b --hardware "H200 SXM" --measured 7.18ms --context 513
  decodegap diagnose glm-5-nvfp4 --hardware "RTX PRO 6000 Blackwell Workstation" --tp 8 --engine sglang \
      --bench result.jsonl --launch serve.sh --report gap.html,gap.pdf -o run.json`,
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			changed := cmd.Flags().Changed
			opt.fixedBatch, opt.fixedContext = changed("batch"), changed("context")
			opt.fixedTP, opt.fixedEngine = changed("tp") || changed("gpus"), changed("engine")
			return runDiagnose(cmd, env, args[0], opt)
		},
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

func runDiagnose(cmd *cobra.Command, env *environment, ref string, opt diagnoseOptions) error {
	renderers, err := reportFiles(opt.report)
	if err != nil {
		return err
	}
	if err := opt.check(ref); err != nil {
		return err
	}
	run, belowFloor, err := diagnose(cmd.Context(), env, ref, opt)
	if err != nil {
		return err
	}
	// All outputs are made before the first is written.
	var files []outputFile
	for i, r := range renderers {
		var buf bytes.Buffer
		if err := r.Render(&buf, run); err != nil {
			return fmt.Errorf("report %s: %w", opt.report[i], err)
		}
		files = append(files, outputFile{opt.report[i], buf.Bytes()})
	}
	if opt.file != "-" {
		var buf bytes.Buffer
		if err := writeJSON(&buf, run); err != nil {
			return err
		}
		files = append(files, outputFile{opt.file, buf.Bytes()})
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := writeFiles(files); err != nil {
		return err
	}
	for _, f := range files {
		opt.talk(env, "wrote %s", f.path)
	}
	if opt.json {
		err = writeJSON(env.stdout, run)
	} else {
		err = text.Summary(env.stdout, run)
	}
	if err != nil {
		return err
	}
	if belowFloor != "" {
		return exitcode.With(exitcode.NotComparable, fmt.Errorf("%s", belowFloor))
	}
	return nil
}

// check refuses what cannot be meant before anything is computed.
func (o *diagnoseOptions) check(ref string) error {
	if o.measured != "" && len(o.bench) > 0 {
		return fmt.Errorf("--measured and --bench both state a measurement: give one of them")
	}
	if len(o.facts) > 0 && len(o.bench) == 0 {
		return fmt.Errorf("--fact is about a benchmark series: give --bench too")
	}
	for _, b := range o.bench {
		if b == "" {
			return fmt.Errorf("--bench names an empty file")
		}
	}
	if o.probe && o.ceilingsFile != "" {
		return fmt.Errorf("--probe and --ceilings both state what this machine reaches: give one of them")
	}
	if o.device != "" {
		if !o.probe {
			return fmt.Errorf("--device says what to probe: give --probe too")
		}
		if err := checkDevice(o.device); err != nil {
			return err
		}
	}
	if err := o.probing.check(); err != nil {
		return err
	}
	outputs := slices.Clone(o.report)
	if o.file != "-" {
		outputs = append(outputs, o.file)
	}
	return checkOutputs(outputs, slices.Concat([]string{ref, o.launch, o.quantConfig, o.expertsFile, o.ceilingsFile, o.rules}, o.bench, o.trace))
}

// reportFiles finds the renderer of each report file by its extension.
func reportFiles(paths []string) ([]reports.Renderer, error) {
	var out []reports.Renderer
	var known []string
	for _, r := range all.All {
		known = append(known, r.Ext)
	}
next:
	for _, p := range paths {
		for _, r := range all.All {
			if strings.HasSuffix(strings.ToLower(p), r.Ext) {
				out = append(out, r)
				continue next
			}
		}
		return nil, fmt.Errorf("--report %s: no report has the extension %q; known are %s", p, strings.ToLower(filepath.Ext(p)), strings.Join(known, ", "))
	}
	return out, nil
}
