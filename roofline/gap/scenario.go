package gap

import (
	"fmt"
	"slices"
	"sort"

	"decodegap/roofline"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
	"decodegap/roofline/unit"
)

// Scenario is everything a layout or latency floor is computed from.
type Scenario struct {
	Decoder  *roofline.Decoder
	Engine   layout.Engine
	Workload roofline.Workload
	Machine  roofline.Machine
}

// Floor computes one floor of the scenario.
func (s Scenario) Floor(kind roofline.Kind) (roofline.Floor, error) {
	engine := s.Engine
	if kind == roofline.Ideal {
		engine = layout.Ideal
	}
	step, err := engine.Build(s.Decoder, s.Workload)
	if err != nil {
		return roofline.Floor{}, err
	}
	return roofline.Compute(step, s.Machine, kind)
}

// Change is something an engineer could do, and how it changes the scenario.
type Change struct {
	Name  string
	Apply func(Scenario) (Scenario, bool) // false: it does not apply here
}

// Changes lists the known changes of the layout floor.
var Changes = []Change{
	{"attention projections in NVFP4", requantize(model.NVFP4, roofline.RoleQ, roofline.RoleK, roofline.RoleV, roofline.RoleO,
		roofline.RoleQA, roofline.RoleKVA, roofline.RoleQB, roofline.RoleKVB)},
	{"attention projections in FP8", requantize(model.FP8Block, roofline.RoleQ, roofline.RoleK, roofline.RoleV, roofline.RoleO,
		roofline.RoleQA, roofline.RoleKVA, roofline.RoleQB, roofline.RoleKVB)},
	{"indexer split over the ranks (costs an all-gather)", split(roofline.RoleIndexQ, roofline.RoleIndexK, roofline.RoleIndexWeights)},
	{"q_a and kv_a split over the ranks (costs an all-gather)", split(roofline.RoleQA, roofline.RoleKVA)},
	{"routed experts in NVFP4", requantize(model.NVFP4, roofline.RoleExpert)},
	{"dense MLP in NVFP4", requantize(model.NVFP4, roofline.RoleMLP)},
	{"shared experts in NVFP4", requantize(model.NVFP4, roofline.RoleShared)},
	{"head in FP8", requantize(model.FP8Tensor, roofline.RoleHead)},
	{"KV cache in FP8", func(s Scenario) (Scenario, bool) {
		ok := s.Workload.KVType.Size() > 1
		s.Workload.KVType = roofline.FP8
		return s, ok
	}},
}

// requantize stores the matrices of these roles in format f where that is
// smaller than what they have.
func requantize(f model.Format, roles ...roofline.Role) func(Scenario) (Scenario, bool) {
	return func(s Scenario) (Scenario, bool) {
		d := *s.Decoder
		d.Tensors = slices.Clone(d.Tensors)
		changed := false
		for i, t := range d.Tensors {
			bytes := unit.Bytes(float64(t.Params) * f.Bytes)
			if t.Matrix && slices.Contains(roles, t.Role) && bytes < t.Bytes {
				d.Tensors[i].Bytes, d.Tensors[i].Math, d.Tensors[i].Format = bytes, f.Math, f.Name
				changed = true
			}
		}
		s.Decoder = &d
		return s, changed
	}
}

// split shards roles that the engine replicates.
func split(roles ...roofline.Role) func(Scenario) (Scenario, bool) {
	return func(s Scenario) (Scenario, bool) {
		has := slices.ContainsFunc(s.Decoder.Tensors, func(t roofline.Tensor) bool { return slices.Contains(roles, t.Role) })
		s.Engine = s.Engine.Split(roles...)
		return s, has && s.Workload.TP > 1
	}
}

// Saving is what a change takes off the layout floor per emitted token.
type Saving struct {
	Change string
	Time   Nanoseconds
}

// Worth computes every change that lowers the layout floor, largest first.
func Worth(s Scenario) ([]Saving, error) {
	before, err := s.Floor(roofline.Layout)
	if err != nil {
		return nil, fmt.Errorf("what changes are worth: %w", err)
	}
	e := Evidence{Workload: s.Workload}
	var out []Saving
	for _, c := range Changes {
		changed, ok := c.Apply(s)
		if !ok {
			continue
		}
		after, err := changed.Floor(roofline.Layout)
		if err != nil {
			return nil, fmt.Errorf("what %q is worth: %w", c.Name, err)
		}
		if t := e.perToken(before.Total) - e.perToken(after.Total); t > 0 {
			out = append(out, Saving{c.Name, t})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Time > out[j].Time })
	return out, nil
}
