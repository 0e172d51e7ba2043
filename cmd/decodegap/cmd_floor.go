package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/exitcode"
	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

type floorOptions struct {
	scenarioOptions
	outputOptions
	format string
	target string
}

func (o *floorOptions) AddFlags(f *pflag.FlagSet) {
	o.scenarioOptions.AddFlags(f)
	o.outputOptions.AddFlags(f)
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the output: text, csv, svg (a chart of the sweep), json")
	f.StringVar(&o.target, "target", "", "a time per token such as 20ms or 50tok/s: say which changes bring the floor there")
}

func newFloorCommand(env *environment) *cobra.Command {
	var opt floorOptions
	cmd := &cobra.Command{
		Use:     "floor MODEL",
		GroupID: "parts",
		Short:   "The theoretical floor of a decode step and its ledger",
		Long: `floor counts what one decode step must read and write on each GPU and divides
by what the hardware allows. MODEL is a checkpoint folder, a config.json, or a
name of the catalogue (decodegap list models).

Three floors, lowest first:
  ideal    every byte read once across the group, evenly split
  layout   what the engine's sharding reads on the busiest rank
  latency  layout plus all-reduce latency and kernel boundaries

` + exitcode.Help,
		Example: `  decodegap floor llama-3.1-8b --hardware "H200 SXM"
  decodegap floor glm-5-nvfp4 --hardware "RTX PRO 6000 Blackwell Workstation" --tp 8 --engine sglang --context 0,16k,128k`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runFloor(cmd, env, args[0], opt) },
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

func runFloor(cmd *cobra.Command, env *environment, ref string, opt floorOptions) error {
	s, err := opt.resolve(cmd.Context(), env, ref)
	if err != nil {
		return err
	}
	if opt.json {
		opt.format = "json"
	}
	var target *unit.Seconds
	if opt.target != "" {
		t, err := unit.ParseTPOT(opt.target)
		if err != nil {
			return fmt.Errorf("--target: %w", err)
		}
		target = &t
	}
	write, ok := map[string]func(io.Writer, *reports.FloorDocument) error{
		"text": func(w io.Writer, doc *reports.FloorDocument) error { return writeFloorText(w, doc, env.width()) },
		"json": func(w io.Writer, doc *reports.FloorDocument) error { return writeJSON(w, doc) },
		"csv":  writeFloorCSV,
		"svg":  writeFloorSVG,
	}[opt.format]
	if !ok {
		return fmt.Errorf("--format %q: expected text, csv, svg or json", opt.format)
	}
	doc, err := s.floorDocument(cmd.Context(), target)
	if err != nil {
		return err
	}
	if err := opt.write(env, func(w io.Writer) error { return write(w, doc) }); err != nil {
		return err
	}
	if opt.format != "text" {
		for _, w := range doc.Warnings {
			opt.talk(env, "warning: %s", w.Text)
		}
	}
	return nil
}

// fewPoints is up to how many points a document says what changes are worth;
// a larger sweep is about the floors.
const fewPoints = 16

// floorDocument computes every point, and the ridges of every context and tp.
func (s *scenario) floorDocument(ctx context.Context, target *unit.Seconds) (*reports.FloorDocument, error) {
	doc := &reports.FloorDocument{
		Schema: reports.FloorSchema, Model: assemble.Model(s.model), Points: []reports.FloorPoint{}, Ridges: []reports.Ridge{},
		Warnings: append([]reports.Warning{}, assemble.ModelWarnings(s.model, s.modelOpt)...),
	}
	doc.Warnings = append(append(doc.Warnings, s.machine.Warnings...), s.notes...)
	few := len(s.workloads) <= fewPoints
	var collectives []roofline.Collective
	ridged := map[[2]int]bool{}
	for _, w := range s.workloads {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := assemble.NewPoint(s.at(w))
		if err != nil {
			return nil, err
		}
		fp := reports.FloorPoint{Operating: p.Operating(), Ledger: p.Components(), Worth: []reports.Worth{}}
		if few {
			if fp.Worth, err = p.Worth(s.machine); err != nil {
				return nil, err
			}
		}
		if target != nil {
			if fp.Target, err = p.Target(*target); err != nil {
				return nil, err
			}
		}
		if key := [2]int{w.Context, w.TP}; !ridged[key] && len(ridged) < fewPoints {
			ridged[key] = true
			ridges, err := p.Ridges()
			if err != nil {
				return nil, err
			}
			doc.Ridges = append(doc.Ridges, ridges...)
		}
		doc.Points = append(doc.Points, fp)
		collectives = append(collectives, p.Collectives()...)
		for _, warn := range append(p.Warnings, p.MemoryWarning(s.machine)...) {
			if few && len(s.workloads) > 1 {
				warn.Text = describe(w) + ": " + warn.Text
			}
			doc.Warnings = addWarnings(doc.Warnings, warn)
		}
	}
	doc.Hardware = s.machine.Report(s.gpus, collectives)
	return doc, nil
}
