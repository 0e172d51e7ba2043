package layout

import (
	"slices"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Build turns a decoder and a workload into the step of the busiest rank under
// this engine's layout. It fails where the engine could not run: degrees of
// parallelism that do not divide heads or experts.
func (e Engine) Build(d *roofline.Decoder, w roofline.Workload) (roofline.Step, error) {
	if err := e.check(d, w); err != nil {
		return roofline.Step{}, err
	}
	if !e.Even && w.PP > 1 {
		return e.pipeline(d, w), nil
	}
	return e.stage(d, w), nil
}

// stage is the step of one GPU that holds all of d, or of one that holds a
// pipeline stage of it.
func (e Engine) stage(d *roofline.Decoder, w roofline.Workload) roofline.Step {
	b := newBuilder(e, d, w)
	for _, t := range d.Tensors {
		b.tensor(t)
	}
	for _, c := range d.Caches {
		b.cache(c)
	}
	for _, k := range d.Kernels {
		b.kernels(k)
	}
	b.exchanges()
	return b.step()
}

// builder collects the ops of one step.
type builder struct {
	engine Engine
	d      *roofline.Decoder
	w      roofline.Workload

	sequences int // of the rank: its data-parallel share, in one pipeline slot
	tokens    int // of the rank
	all       int // tokens that reach a MoE layer's experts
	n         int // tensor-parallel ranks
	moe       int // ranks that share the experts
	distinct  float64
	busiest   float64

	ops  []roofline.Op
	keys []opKey // of the ops
}

type opKey struct {
	component roofline.Component
	part      int // 0: the component's own op; attention over each cache kind, and a second group's exchange, apart
}

func newBuilder(e Engine, d *roofline.Decoder, w roofline.Workload) *builder {
	const usual = 24 // ops of a step: a sweep makes many
	b := &builder{engine: e, d: d, w: w, n: w.TP, ops: make([]roofline.Op, 0, usual), keys: make([]opKey, 0, usual)}
	perToken := 1 + w.DraftTokens
	if e.Even {
		// All sequences, all GPUs: the caller divides nothing further.
		b.sequences, b.n = w.Batch, w.GPUs()
		b.tokens = b.sequences * perToken
		b.all, b.moe = b.tokens, b.n
	} else {
		slot := w.Batch
		if !e.OneSlot {
			slot = ceilDiv(w.Batch, w.PP) // one pipeline stage works on one slot at a time
		}
		b.sequences = ceilDiv(slot, w.DP)
		b.tokens = b.sequences * perToken
		b.moe = w.TP * w.DP
		b.all = slot * perToken
	}
	if d.Experts > 0 {
		b.distinct = roofline.DistinctExperts(d.Experts, d.TopK, b.all)
		if w.DistinctExperts > 0 {
			b.distinct = w.DistinctExperts
		}
		b.busiest = b.distinct
		switch {
		case w.EP == 1 || e.Even:
		case w.BusiestExperts > 0:
			b.busiest = w.BusiestExperts
		case w.DistinctExperts > 0:
			b.busiest = w.DistinctExperts / float64(w.EP) // at least the mean
		default:
			b.busiest = d.Counts.Busiest(d.Experts, d.TopK, b.all, w.EP)
		}
	}
	return b
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// op returns the op of a component, made on first use.
func (b *builder) op(c roofline.Component, part int) *roofline.Op {
	key := opKey{c, part}
	i := slices.Index(b.keys, key) // so few that a map is slower
	if i < 0 {
		i = len(b.ops)
		b.keys = append(b.keys, key)
		b.ops = append(b.ops, roofline.Op{Component: c})
	}
	return &b.ops[i]
}

// rule is how the engine treats a tensor here.
func (b *builder) rule(t roofline.Tensor) Rule {
	if t.Role == roofline.RoleHead && b.engine.WholeTiedHead {
		if table, ok := b.table(); ok && table.Uncounted { // counted once, as the head
			return Rule{Shard: Replicated}
		}
	}
	return b.engine.Rule(t.Role, b.d, b.w)
}

// table is the input embedding, false for a draft, which has none of its own.
func (b *builder) table() (roofline.Tensor, bool) {
	for _, t := range b.d.Tensors {
		if t.Role == roofline.RoleEmbed {
			return t, true
		}
	}
	return roofline.Tensor{}, false
}

func (b *builder) tensor(t roofline.Tensor) {
	if b.w.DenseAttention && b.indexOnly(t) {
		return
	}
	o := b.op(t.Component, 0)
	repeat := unit.Bytes(t.Repeat)
	switch {
	case t.Role == roofline.RoleEmbed:
		// One row a token, all on the rank that holds it.
		row := t.Bytes / unit.Bytes(b.d.Vocab) * unit.Bytes(b.tokens)
		if b.engine.Even {
			row /= unit.Bytes(b.n)
		}
		o.Weights += row
	case t.IsExpert():
		one := t.Bytes / unit.Bytes(b.d.Experts)
		parts := float64(b.moe)
		if !b.engine.Even {
			parts /= float64(b.w.EP)
			if t.Role == roofline.RoleExpertOutBias {
				parts = 1
			}
		}
		o.Weights += repeat * one * unit.Bytes(b.busiest/parts)
		if t.Matrix {
			work := 2 * float64(b.all) * float64(b.d.TopK) * float64(t.Params) / float64(b.d.Experts)
			o.Work.Add(t.Math, unit.FLOPs(float64(t.Repeat)*work/float64(b.moe)))
		}
	default:
		parts, tokens := b.spreadOf(b.rule(t))
		o.Weights += repeat * t.Bytes / unit.Bytes(parts)
		if t.Matrix {
			o.Work.Add(t.Math, unit.FLOPs(2*tokens*float64(t.Params)*float64(t.Repeat)/parts))
		}
	}
	o.From = weaker(o.From, t.Evidence)
	o.Format = joinFormat(o.Format, t.Format)
}

// indexOnly says whether t serves only the sparse-attention index.
func (b *builder) indexOnly(t roofline.Tensor) bool {
	return t.Component == roofline.Indexer || t.IndexNorm
}

func (b *builder) kernels(k roofline.Kernels) {
	if b.engine.Even || k.OnlyDense && !b.w.DenseAttention ||
		b.w.DenseAttention && k.Component == roofline.Indexer {
		return
	}
	o := b.op(k.Component, 0)
	o.Launches += k.Repeat * k.Count
}

func (b *builder) step() roofline.Step {
	for i := range b.ops {
		o := &b.ops[i]
		if o.From == "" {
			o.From = roofline.FromConfig // caches and kernels: counted from the shapes
		}
		if o.Comm == nil {
			o.Repeat = b.d.LayersWith[o.Component]
		}
	}
	return roofline.Step{Ops: b.ops, Distinct: b.distinct, Busiest: b.busiest}
}

// weaker is the less certain of two sources: a sum is as good as its worst part.
func weaker(a, b roofline.Evidence) roofline.Evidence {
	if certainty(b) > certainty(a) {
		return b
	}
	return a
}

// certainty ranks sources, the surest first; an empty one ranks before all.
func certainty(e roofline.Evidence) int {
	switch e {
	case roofline.FromHeaders:
		return 1
	case roofline.FromSideFile:
		return 2
	case roofline.FromConfig:
		return 3
	case roofline.FromAssumption:
		return 4
	}
	return 0
}

func joinFormat(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "" || slices.Contains(strings.Split(a, "+"), b):
		return a
	}
	return a + "+" + b
}
