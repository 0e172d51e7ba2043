package layout

import (
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// pipeline is the step of a GPU in the busiest of several pipeline stages: the
// one that moves most bytes, the last of several such. A token passes all of
// them one after another.
func (e Engine) pipeline(d *roofline.Decoder, w roofline.Workload) roofline.Step {
	var steps []roofline.Step
	busiest, most := 0, unit.Bytes(-1)
	for i, stage := range e.stages(d, w) {
		steps = append(steps, e.stage(stage, w))
		if bytes := steps[i].Weights() + steps[i].KVRead() + steps[i].KVWrite(); bytes >= most {
			busiest, most = i, bytes
		}
	}
	out := steps[busiest]
	for i, s := range steps {
		if i != busiest {
			out.Elsewhere = append(out.Elsewhere, s.Ops)
		}
	}
	return out
}

// stages cuts a decoder into its pipeline stages. The embedding is in the
// first, final norm and head are in the last.
func (e Engine) stages(d *roofline.Decoder, w roofline.Workload) []*roofline.Decoder {
	if e.Even || w.PP == 1 {
		return []*roofline.Decoder{d}
	}
	perLayer := (d.AllReduces - 1) / d.Layers
	var out []*roofline.Decoder
	from := 0
	for i, layers := range e.Stages(d.Layers, w.PP) {
		c := cut{from: from, to: from + layers, first: i == 0, last: i == w.PP-1, with: map[roofline.Component]map[int]bool{}}
		s := *d
		s.Layers, s.AllReduces = layers, perLayer*layers
		if c.first {
			s.AllReduces++
		}
		s.Tensors, s.Caches, s.Kernels, s.LayersWith = nil, nil, nil, map[roofline.Component]int{}
		for _, t := range d.Tensors {
			if t.Repeat = c.count(t.At, t.Component); t.Repeat > 0 {
				s.Tensors = append(s.Tensors, t)
			}
		}
		for _, k := range d.Caches {
			if k.Repeat = c.count(k.At, k.Component); k.Repeat > 0 {
				s.Caches = append(s.Caches, k)
			}
		}
		for _, k := range d.Kernels {
			if k.Repeat = c.count(k.At, k.Component); k.Repeat > 0 {
				s.Kernels = append(s.Kernels, k)
			}
		}
		for component, at := range c.with {
			s.LayersWith[component] = len(at)
		}
		out = append(out, &s)
		from = c.to
	}
	return out
}

// cut is one stage: the blocks from (inclusive) to (exclusive).
type cut struct {
	from, to    int
	first, last bool
	with        map[roofline.Component]map[int]bool // the places that have a component
}

// count is how many instances of an entry the stage has.
func (c cut) count(at *roofline.Places, component roofline.Component) int {
	n := 0
	for _, layer := range *at {
		switch {
		case layer != roofline.Ends && layer >= c.from && layer < c.to:
		case layer == roofline.Ends && component == roofline.Embedding && c.first:
		case layer == roofline.Ends && component != roofline.Embedding && c.last:
		default:
			continue
		}
		if c.with[component] == nil {
			c.with[component] = map[int]bool{}
		}
		c.with[component][layer] = true
		n++
	}
	return n
}

// spreadLayers gives each stage the same number of layers, and from stage
// first on one more, until none is left.
func spreadLayers(layers, stages, first int) []int {
	counts := make([]int, stages)
	for i := range counts {
		counts[i] = layers / stages
		if i >= first && i < first+layers%stages {
			counts[i]++
		}
	}
	return counts
}
