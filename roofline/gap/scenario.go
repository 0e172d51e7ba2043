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

// Scenario is everything a floor is computed from.
type Scenario struct {
	Decoder  *roofline.Decoder
	Engine   layout.Engine
	Workload roofline.Workload
	Machine  roofline.Machine

	// Draft runs once for each of the workload's draft tokens, one token a
	// sequence each time; nil leaves its cost out.
	Draft *roofline.Decoder
}

// Step is what one decode step does under the engine's layout, or evenly
// split for the ideal floor, the drafts included.
func (s Scenario) Step(kind roofline.Kind) (roofline.Step, error) {
	engine := s.Engine
	if kind == roofline.Ideal {
		engine = layout.Ideal
	}
	step, err := engine.Build(s.Decoder, s.Workload)
	if err != nil || s.Draft == nil || s.Workload.DraftTokens == 0 {
		return step, err
	}
	w := s.Workload
	w.DraftTokens, w.DistinctExperts, w.BusiestExperts = 0, 0, 0
	w.PP = 1
	if s.Draft.Experts == 0 || s.Draft.Experts%max(w.EP, 1) != 0 { // an MTP layer has the model's experts, and they its layout
		w.EP = 1
	}
	draft, err := engine.Build(s.Draft, w)
	if err != nil {
		return step, fmt.Errorf("draft model: %w", err)
	}
	for _, op := range draft.Ops {
		step.Ops = append(step.Ops, repeated(op, s.Workload.DraftTokens))
	}
	return step, nil
}

// repeated is an op of the draft model, run n times.
func repeated(op roofline.Op, n int) roofline.Op {
	times := unit.Bytes(n)
	out := op
	out.Component = roofline.Draft
	out.Weights, out.KVRead, out.KVWrite = op.Weights*times, op.KVRead*times, op.KVWrite*times
	out.Launches *= n
	out.Work = nil
	for _, w := range op.Work {
		out.Work.Add(w.Type, w.FLOPs*unit.FLOPs(n))
	}
	if op.Comm != nil {
		c := *op.Comm
		c.Count *= n
		out.Comm = &c
	}
	return out
}

// Floor computes one floor of the scenario.
func (s Scenario) Floor(kind roofline.Kind) (roofline.Floor, error) {
	step, err := s.Step(kind)
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
	{"experts by expert parallelism over all ranks", func(s Scenario) (Scenario, bool) {
		ok := s.Decoder.Experts > 0 && s.Workload.EP == 1 && s.Workload.TP*s.Workload.DP > 1
		s.Workload.EP = s.Workload.TP * s.Workload.DP
		return s, ok
	}},
	{"experts by tensor parallelism", func(s Scenario) (Scenario, bool) {
		ok := s.Workload.EP > 1
		s.Workload.EP = 1
		return s, ok
	}},
	{"attention data-parallel, experts over all ranks", func(s Scenario) (Scenario, bool) {
		ok := s.Decoder.Experts > 0 && s.Workload.DP == 1 && s.Workload.TP > 1
		s.Workload.DP, s.Workload.TP = s.Workload.TP, 1
		return s, ok
	}},
	{"attention without the sparse index", func(s Scenario) (Scenario, bool) {
		ok := s.Decoder.Indexed && !s.Workload.DenseAttention
		s.Workload.DenseAttention = true
		return s, ok
	}},
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
			bytes := unit.Bytes(t.Params) * f.Bytes
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
		if !ok || changed.check() != nil {
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
