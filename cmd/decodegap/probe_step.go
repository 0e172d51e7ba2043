package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/term"
	"decodegap/probes"
	"decodegap/reports"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
	"decodegap/roofline/unit"
)

// stepOptions say which model's whole decode step is to be run.
type stepOptions struct {
	model       string
	batch       int
	context     string
	kvType      string
	weights     string
	quantConfig string
}

func (o *stepOptions) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.model, "model", "", "also run a whole decode step of this `MODEL`, the probe named step")
	f.IntVar(&o.batch, "batch", 1, "sequences in that step")
	f.StringVar(&o.context, "context", "0", "tokens already cached of every sequence, such as 512 or 4k")
	f.StringVar(&o.kvType, "kv-dtype", "", "cache `TYPE` of that step: bf16 or fp8; default what the files say, else bf16")
	f.StringVar(&o.weights, "weights", "", "assume every matrix of that step in this `FORMAT` (nvfp4, fp8, …)")
	f.StringVar(&o.quantConfig, "quant-config", "", "quantization side `FILE` of the model")
}

// step reads the model; nil without one.
func (o *stepOptions) step(run assemble.StepProbe) (*assemble.Attainable, error) {
	if o.model == "" {
		return nil, nil
	}
	scenario := scenarioOptions{weights: o.weights, kvType: o.kvType, batch: []int{o.batch}, context: []string{o.context},
		engine: layout.Ideal.Name, ep: 1, dp: 1, pp: 1, accepted: 1}
	var opt model.Options
	if o.weights != "" {
		f, err := model.ParseFormat(o.weights)
		if err != nil {
			return nil, fmt.Errorf("--weights: %w", err)
		}
		opt.Assume = &f
	}
	loaded, err := model.Load(o.model, o.quantConfig, opt)
	if err != nil {
		return nil, err
	}
	points, err := scenario.points(loaded.Decoder, layout.Ideal)
	if err != nil {
		return nil, err
	}
	return assemble.NewAttainable(loaded.Decoder, layout.Ideal, points[0], run)
}

// withStep adds the model's step to the probes, and explains itself where it
// was asked for by name but no model was given.
func withStep(list []probes.Probe, step *assemble.Attainable, names []string) ([]probes.Probe, error) {
	if step != nil {
		return append(slices.Clone(list), step.Probe), nil
	}
	if slices.ContainsFunc(names, func(n string) bool { return n == "step" || n == probes.StepName("cpu") }) {
		return nil, errors.New("probe step: which model's? give --model MODEL, a checkpoint folder or a name of decodegap list models")
	}
	return list, nil
}

// writeStepText prints an attainable step by component.
func writeStepText(w io.Writer, s *reports.AttainableStep, width int) error {
	fmt.Fprintln(w)
	writeWrapped(w, fmt.Sprintf("attainable step of %s, batch %d, context %d: %s, %.2f× the layout floor at the read ceiling beside it (%s), %s",
		term.Clean(s.Model), s.Batch, s.Context, unit.Seconds(s.Ms/1e3), s.OverFloor, unit.Seconds(s.FloorMs/1e3), s.Verdict), width, "")
	t := term.Table{Columns: []term.Column{{Title: "component"}, {Title: "in the step", Align: term.Right}, {Title: "floor", Align: term.Right},
		{Title: "over", Align: term.Right}, {Title: "share", Align: term.Right}}}
	for _, p := range s.Parts {
		row := []string{p.Component, "–", "–", "–", fmt.Sprintf("%.1f %%", 100*p.Ms/s.Ms)}
		if p.Ms > 0 {
			row[1] = unit.Seconds(p.Ms / 1e3).String()
		}
		if p.FloorMs > 0 {
			row[2] = unit.Seconds(p.FloorMs / 1e3).String()
			if p.Ms > 0 && !small(p, s) {
				row[3] = fmt.Sprintf("%.2f×", p.Ms/p.FloorMs)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w, width)
}

// small says that a component's floor is too little of the step for a ratio to
// mean anything: norms read a thousandth of what one barrier takes.
func small(p reports.StepPart, s *reports.AttainableStep) bool { return p.FloorMs < 0.01*s.FloorMs }
