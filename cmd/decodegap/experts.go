package main

import (
	"fmt"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/model"
)

// measuredExperts puts the counts of --experts-file into the workloads.
func (o *scenarioOptions) measuredExperts(s *scenario) error {
	if o.expertsFile == "" {
		return nil
	}
	data, err := readBounded(o.expertsFile, 1<<20)
	if err != nil {
		return fmt.Errorf("--experts-file: %w", err)
	}
	file, err := parseExperts(data)
	if err != nil {
		return fmt.Errorf("--experts-file %s: %w", o.expertsFile, err)
	}
	d := s.model.Decoder
	for i := range s.workloads {
		w := &s.workloads[i]
		if file.batch != 0 && file.batch != w.Batch {
			return fmt.Errorf("--experts-file %s: key \"batch\": it was measured at batch %d, not %d", o.expertsFile, file.batch, w.Batch)
		}
		if w.Batch != s.workloads[0].Batch {
			return fmt.Errorf("--experts-file %s is of one batch, but --batch names several", o.expertsFile)
		}
		if err := file.possible(d, *w); err != nil {
			return fmt.Errorf("--experts-file %s: %w", o.expertsFile, err)
		}
		w.DistinctExperts = file.distinct.mean
		if file.busiest != nil {
			w.BusiestExperts = file.busiest.mean
		}
	}
	s.sources = append(s.sources, model.Source{Path: o.expertsFile, SHA256: sumOf(data), Role: "experts"})
	s.notes = append(s.notes, reports.Warning{Code: "measured-experts", Text: fmt.Sprintf(
		"%s: %.2f distinct experts a MoE layer, measured, in place of the %.2f expected under uniform routing",
		o.expertsFile, file.distinct.mean, roofline.DistinctExperts(d.Experts, d.TopK, s.workloads[0].Tokens()))})
	if file.busiest == nil && o.ep > 1 {
		s.notes = append(s.notes, reports.Warning{Code: "busiest-rank-unknown", Text: fmt.Sprintf(
			"%s has no \"busiest_rank\": the mean of %.2f / %d = %.2f distinct experts a rank is counted, although the busiest of the %d expert-parallel ranks reads more; measure it too for a tighter floor",
			o.expertsFile, file.distinct.mean, o.ep, file.distinct.mean/float64(o.ep), o.ep)})
	}
	return nil
}

// possible checks measured counts against what routing allows.
func (f *expertsFile) possible(d *roofline.Decoder, w roofline.Workload) error {
	if d.Experts == 0 {
		return fmt.Errorf("%s has no experts", d.Name)
	}
	most := min(float64(d.Experts), float64(d.TopK)*float64(w.Tokens()))
	for _, v := range []float64{f.distinct.least, f.distinct.most} {
		if v < float64(d.TopK) || v > most {
			return fmt.Errorf("key \"distinct_experts\": %v distinct experts: %d tokens that choose %d of %d can only read %d to %.0f", v, w.Tokens(), d.TopK, d.Experts, d.TopK, most)
		}
	}
	if f.busiest == nil {
		return nil
	}
	// A whole file's mean may be a rounded one.
	least, block := f.distinct.mean/float64(w.EP)*(1-1e-9), float64(d.Experts)/float64(w.EP)
	if b := f.busiest; b.mean < least || b.most > block {
		v := b.mean
		if b.most > block {
			v = b.most
		}
		return fmt.Errorf("key \"busiest_rank\": %v experts on the busiest rank: expected %.2f to %.0f with ep %d", v, least, block, w.EP)
	}
	return nil
}
