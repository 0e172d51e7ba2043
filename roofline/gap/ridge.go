package gap

import (
	"decodegap/roofline"
)

// Ridge is the smallest batch at which a component's arithmetic takes longer
// than its bytes.
type Ridge struct {
	Component roofline.Component // "" for the step as a whole
	Batch     int
}

// maxRidge is the largest batch that is looked at.
const maxRidge = 1 << 16

// Ridges finds where components turn from memory-bound to compute-bound as the
// batch grows, all else as in s. Those that never do up to 65,536 sequences are
// left out, and so is everything where no compute ceiling is known.
func Ridges(s Scenario) ([]Ridge, error) {
	seen := map[int]map[roofline.Component]bool{}
	at := func(batch int) (map[roofline.Component]bool, error) {
		if bound, ok := seen[batch]; ok {
			return bound, nil
		}
		bound, err := s.computeBound(batch)
		seen[batch] = bound
		return bound, err
	}
	turned := map[roofline.Component]int{} // first power of two that is compute-bound
	for batch := 1; batch <= maxRidge; batch *= 2 {
		bound, err := at(batch)
		if err != nil {
			return nil, err
		}
		for c := range bound {
			if _, seen := turned[c]; !seen && bound[c] {
				turned[c] = batch
			}
		}
	}
	var out []Ridge
	for _, c := range append([]roofline.Component{""}, names()...) {
		high, ok := turned[c]
		if !ok {
			continue
		}
		batch, err := bisect(at, c, high/2, high)
		if err != nil {
			return nil, err
		}
		out = append(out, Ridge{c, batch})
	}
	return out, nil
}

func names() []roofline.Component {
	var all []roofline.Component
	for _, c := range roofline.Components {
		all = append(all, c.Name)
	}
	return all
}

// bisect narrows a turn between a batch that is memory-bound (or 0) and one
// that is compute-bound.
func bisect(at func(int) (map[roofline.Component]bool, error), c roofline.Component, low, high int) (int, error) {
	for high-low > 1 {
		middle := (low + high) / 2
		bound, err := at(middle)
		if err != nil {
			return 0, err
		}
		if bound[c] {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}

// computeBound says for each component, and for the step as a whole under "",
// whether arithmetic takes longer than memory.
func (s Scenario) computeBound(batch int) (map[roofline.Component]bool, error) {
	s.Workload.Batch = batch
	s.Workload.DistinctExperts, s.Workload.BusiestExperts = 0, 0
	f, err := s.Floor(roofline.Layout)
	if err != nil {
		return nil, err
	}
	type both struct{ memory, compute float64 }
	sums := map[roofline.Component]both{}
	for _, t := range f.Terms {
		x := sums[t.Op.Component]
		sums[t.Op.Component] = both{x.memory + float64(t.Memory), x.compute + float64(t.Compute)}
	}
	bound := map[roofline.Component]bool{"": f.Compute > f.Memory}
	for c, x := range sums {
		bound[c] = x.compute > x.memory
	}
	return bound, nil
}
