package main

import (
	"encoding/json"
	"fmt"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/lenient"
	"decodegap/roofline/model"
)

// expertCounts is one number, or one a MoE layer, of which the mean counts.
type expertCounts struct{ mean float64 }

func (c *expertCounts) UnmarshalJSON(data []byte) error {
	var one float64
	if err := json.Unmarshal(data, &one); err == nil {
		c.mean = one
		return nil
	}
	var list []float64
	if err := json.Unmarshal(data, &list); err != nil || len(list) == 0 {
		return fmt.Errorf("expected a number, or a list with one a MoE layer")
	}
	for _, v := range list {
		c.mean += v / float64(len(list))
	}
	return nil
}

// measuredExperts reads --experts-file: the distinct experts a MoE layer
// really read in a step, over the group and on the busiest expert-parallel
// rank, such as {"batch": 32, "distinct_experts": [121, 118.5], "busiest_rank": 18}.
func (o *scenarioOptions) measuredExperts(s *scenario) error {
	if o.expertsFile == "" {
		return nil
	}
	data, err := readBounded(o.expertsFile, 16<<20)
	if err != nil {
		return fmt.Errorf("--experts-file: %w", err)
	}
	var file struct {
		Batch    *int          `json:"batch"`
		Distinct *expertCounts `json:"distinct_experts"`
		Busiest  *expertCounts `json:"busiest_rank"`
	}
	if err := lenient.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("--experts-file %s: %w", o.expertsFile, err)
	}
	if file.Distinct == nil {
		return fmt.Errorf("--experts-file %s: field \"distinct_experts\" is missing: expected a number, or a list with one a MoE layer", o.expertsFile)
	}
	d := s.model.Decoder
	for i := range s.workloads {
		w := &s.workloads[i]
		if file.Batch != nil && *file.Batch != w.Batch {
			return fmt.Errorf("--experts-file %s was measured at batch %d, not %d", o.expertsFile, *file.Batch, w.Batch)
		}
		if w.Batch != s.workloads[0].Batch {
			return fmt.Errorf("--experts-file is of one batch, but --batch names several")
		}
		w.DistinctExperts = file.Distinct.mean
		if file.Busiest != nil {
			w.BusiestExperts = file.Busiest.mean
		}
		if err := possible(d, *w); err != nil {
			return fmt.Errorf("--experts-file %s: %w", o.expertsFile, err)
		}
	}
	s.sources = append(s.sources, model.Source{Path: o.expertsFile, SHA256: sumOf(data), Role: "experts"})
	s.notes = append(s.notes, reports.Warning{Code: "measured-experts", Text: fmt.Sprintf(
		"%s: %.2f distinct experts a MoE layer, measured, in place of the %.2f expected under uniform routing",
		o.expertsFile, file.Distinct.mean, roofline.DistinctExperts(d.Experts, d.TopK, s.workloads[0].Tokens()))})
	return nil
}

// possible checks measured counts against what routing allows.
func possible(d *roofline.Decoder, w roofline.Workload) error {
	if d.Experts == 0 {
		return fmt.Errorf("%s has no experts", d.Name)
	}
	most := min(float64(d.Experts), float64(d.TopK)*float64(w.Tokens()))
	if !(w.DistinctExperts >= float64(d.TopK)) || w.DistinctExperts > most {
		return fmt.Errorf("%v distinct experts: %d tokens that choose %d of %d can only read %d to %.0f", w.DistinctExperts, w.Tokens(), d.TopK, d.Experts, d.TopK, most)
	}
	if b := w.BusiestExperts; b != 0 && (b < w.DistinctExperts/float64(w.EP) || b > float64(d.Experts/w.EP)) {
		return fmt.Errorf("%v experts on the busiest rank: expected %.2f to %d with ep %d", b, w.DistinctExperts/float64(w.EP), d.Experts/w.EP, w.EP)
	}
	return nil
}
