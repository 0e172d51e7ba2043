package assemble

import (
	"fmt"
	"strings"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
)

// Assumption is a floor somebody claims: every linear in one format, evenly
// split, at a bandwidth of their own.
type Assumption struct {
	Format    model.Format
	Bandwidth float64 // GB/s, 0 for the machine's
}

// ParseAssumption reads FORMAT or FORMAT@GB/s, such as nvfp4@1800.
func ParseAssumption(s string) (Assumption, error) {
	name, rate, given := strings.Cut(s, "@")
	f, err := model.ParseFormat(name)
	if err != nil {
		return Assumption{}, err
	}
	a := Assumption{Format: f}
	if given {
		if _, err := fmt.Sscanf(rate, "%g", &a.Bandwidth); err != nil || !(a.Bandwidth > 0 && a.Bandwidth < 1e7) {
			return Assumption{}, fmt.Errorf("%q: expected FORMAT@GB/s such as nvfp4@1800", s)
		}
	}
	return a, nil
}

// Assumed sets the weights that an assumption reads at a point beside what the
// checkpoint and the layout really ask. All rows are weights only.
func Assumed(a Assumption, assumed *roofline.Decoder, p *Point, m *Machine) ([]reports.Assumed, error) {
	w := p.Scenario.Workload
	step, err := layout.Ideal.Build(linears(assumed), w)
	if err != nil {
		return nil, err
	}
	own, _ := m.Roofline.Bandwidth()
	rate := a.Bandwidth
	if rate == 0 {
		rate = float64(own) / 1e9
	}
	row := func(name, text string, bytes, gbs float64, honest bool) reports.Assumed {
		t := bytes / (gbs * 1e6) / w.AcceptedTokens
		return reports.Assumed{Name: name, Text: text, WeightGB: bytes / 1e9, Bandwidth: gbs,
			MsPerToken: t, TokPerS: 1000 * float64(w.Batch) / t, Honest: honest}
	}
	sheet := float64(own) / 1e9
	return []reports.Assumed{
		row("every linear in "+a.Format.Name+", evenly split",
			"assumption: attention, indexer, MLP, experts and head all in "+a.Format.Name+"; router, norms and embedding left out", float64(step.Weights()), rate, false),
		row("this checkpoint, evenly split (ideal)", "each matrix in the format the files state, read once across the group", float64(p.idealStep.Weights()), sheet, true),
		row("this checkpoint, "+p.Scenario.Engine.Name+" layout", "with what the engine repeats on every rank", float64(p.layoutStep.Weights()), sheet, true),
	}, nil
}

// linears keeps a decoder's matrices only.
func linears(d *roofline.Decoder) *roofline.Decoder {
	only := *d
	only.Tensors = nil
	for _, t := range d.Tensors {
		if t.Matrix {
			only.Tensors = append(only.Tensors, t)
		}
	}
	return &only
}
