package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/exitcode"
	"decodegap/reports"
	"decodegap/roofline"
)

type floorOptions struct {
	scenarioOptions
	outputOptions
}

func (o *floorOptions) AddFlags(f *pflag.FlagSet) {
	o.scenarioOptions.AddFlags(f)
	o.outputOptions.AddFlags(f)
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
	doc, err := s.floorDocument(len(s.workloads) == 1)
	if err != nil {
		return err
	}
	render := func(w io.Writer) error { return writeFloorText(w, doc, env.width()) }
	if opt.json {
		render = func(w io.Writer) error { return writeJSON(w, doc) }
	}
	if err := opt.write(env, render); err != nil {
		return err
	}
	if opt.json {
		for _, w := range doc.Warnings {
			opt.talk(env, "warning: %s", w.Text)
		}
	}
	return nil
}

// floorDocument computes every point; worth is computed where there is one.
func (s *scenario) floorDocument(worth bool) (*reports.FloorDocument, error) {
	doc := &reports.FloorDocument{
		Schema: reports.FloorSchema, Model: assemble.Model(s.model), Points: []reports.FloorPoint{},
		Warnings: append([]reports.Warning{}, assemble.ModelWarnings(s.model, s.modelOpt)...),
	}
	doc.Warnings = append(doc.Warnings, s.machine.Warnings...)
	var collectives []roofline.Collective
	for _, w := range s.workloads {
		p, err := assemble.NewPoint(s.at(w))
		if err != nil {
			return nil, err
		}
		fp := reports.FloorPoint{Operating: p.Operating(), Ledger: p.Components(), Worth: []reports.Worth{}}
		if worth {
			if fp.Worth, err = p.Worth(); err != nil {
				return nil, err
			}
		}
		doc.Points = append(doc.Points, fp)
		collectives = append(collectives, p.Collectives()...)
		prefix := ""
		if len(s.workloads) > 1 {
			prefix = describe(w) + ": "
		}
		for _, warn := range append(p.Warnings, p.MemoryWarning(s.machine)...) {
			warn.Text = prefix + warn.Text
			doc.Warnings = addWarnings(doc.Warnings, warn)
		}
	}
	doc.Hardware = s.machine.Report(s.gpus, collectives)
	if len(doc.Points) == 0 {
		return nil, fmt.Errorf("no operating point: --batch and --context are empty")
	}
	return doc, nil
}
