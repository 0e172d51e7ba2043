package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

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
by what the hardware allows. MODEL is a checkpoint folder, a config.json, a
.safetensors file or index, a .gguf file, or a name of the catalogue
(decodegap list models).

Three floors, lowest first:
  ideal    every byte read once across the group, evenly split
  layout   what the engine's sharding reads on the busiest rank
  latency  layout plus all-reduce latency and kernel boundaries

` + exitcode.Help,
		Example: `  decodegap floor llama-3.1-8b --hardware "H200 SXM"
  decodegap floor glm-5-nvfp4 --hardware "RTX PRO 6000 Blackwell Workstation" --tp 8 --engine sglang --context 0,16k,128k`,
		Args: oneModel,
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
		"text": func(w io.Writer, doc *reports.FloorDocument) error { return writeFloorText(w, doc, env.tableWidth()) },
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
	if err := opt.write(env, func(w io.Writer) error { return write(w, doc) }, ref, opt.quantConfig, opt.expertsFile, opt.ceilingsFile); err != nil {
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
	points, err := s.floorPoints(ctx, few, target)
	if err != nil {
		return nil, err
	}
	var collectives []roofline.Collective
	var notes sweepNotes
	ridged := map[[2]int]bool{}
	for i, p := range points {
		w := s.workloads[i]
		if key := [2]int{w.Context, w.TP}; !ridged[key] && len(ridged) < fewPoints {
			ridged[key] = true
			ridges, err := p.point.Ridges()
			if err != nil {
				return nil, err
			}
			doc.Ridges = append(doc.Ridges, ridges...)
		}
		doc.Points = append(doc.Points, p.doc)
		collectives = append(collectives, p.point.Collectives()...)
		notes.add(describe(w), append(p.point.Warnings, p.point.MemoryWarning(s.machine)...)...)
	}
	doc.Warnings = append(doc.Warnings, notes.warnings(len(s.workloads))...)
	doc.Hardware = s.machine.Report(s.gpus, collectives)
	return doc, nil
}

// floorPoint is one computed point with its part of the document.
type floorPoint struct {
	point *assemble.Point
	doc   reports.FloorPoint
}

// floorPoints computes every operating point, on all processors.
func (s *scenario) floorPoints(ctx context.Context, worth bool, target *unit.Seconds) ([]floorPoint, error) {
	out := make([]floorPoint, len(s.workloads))
	errs := make([]error, len(s.workloads))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(out)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(out); i = int(next.Add(1)) - 1 {
				if errs[i] = ctx.Err(); errs[i] == nil {
					out[i], errs[i] = s.floorPoint(s.workloads[i], worth, target)
				}
				if errs[i] != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *scenario) floorPoint(w roofline.Workload, worth bool, target *unit.Seconds) (floorPoint, error) {
	p, err := assemble.NewPoint(s.at(w), s.machine.Probed)
	if err != nil {
		return floorPoint{}, err
	}
	out := floorPoint{p, reports.FloorPoint{Operating: p.Operating(), Ledger: p.Components(), Worth: []reports.Worth{}}}
	if worth {
		if out.doc.Worth, err = p.Worth(s.machine); err != nil {
			return out, err
		}
	}
	if target != nil {
		out.doc.Target, err = p.Target(*target)
	}
	return out, err
}
