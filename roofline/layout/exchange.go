package layout

import (
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// activation is the bytes of one activation value between GPUs. An engine that
// quantizes before it sends moves fewer.
const activation = 2

// exchanges adds what the GPUs send each other in a step.
//
// Within a tensor-parallel group every layer part that ends in a row-split
// matrix is summed by an all-reduce, and the embedding where its table is
// split. Where attention is data-parallel and the experts are spread over all
// tp·dp GPUs, the tokens of all replicas must meet them: the all-reduce of such
// a layer gives way to an all-gather of all tokens over those GPUs and a
// reduce-scatter of the sums (or to two all-to-alls), and each tensor-parallel
// group gathers its own tokens again. What pipeline stages pass on and the
// gather of the logits are left out.
func (b *builder) exchanges() {
	if b.engine.Even {
		return
	}
	shared := b.sharedLayers()
	reduces := b.d.AllReduces - shared
	if _, ok := b.table(); ok && b.engine.table(b.d) != TableSplit {
		reduces--
	}
	own := b.tokens * b.d.Hidden
	if b.n > 1 {
		value := activation
		if f := b.engine.ReducedValue; f != nil {
			value = f(own, b.n)
		}
		b.exchange(roofline.AllReduce, 0, b.d.Layers, roofline.Collective{Count: reduces, Bytes: unit.Bytes(value * own), GPUs: b.n})
	}
	if shared == 0 {
		return
	}
	if b.engine.AllToAll && b.w.EP == b.moe {
		remote := roofline.RanksHit(b.moe, b.d.Experts, b.d.TopK) * float64(b.moe-1) / float64(b.moe)
		b.exchange(roofline.AllToAll, 0, shared, roofline.Collective{
			Count: 2 * shared, Bytes: unit.Bytes(float64(activation*own) * remote), GPUs: b.moe,
		})
		return
	}
	all := unit.Bytes(activation * b.all * b.d.Hidden)
	gathers := shared
	if b.engine.Rule(roofline.RoleHead, b.d, b.w).Shard == OverAll {
		gathers++ // the head needs all tokens too
	}
	b.exchange(roofline.AllGather, 0, shared, roofline.Collective{Count: gathers, Bytes: all, GPUs: b.moe})
	b.exchange(roofline.ReduceScatter, 0, shared, roofline.Collective{Count: shared, Bytes: all, GPUs: b.moe})
	if b.n > 1 {
		b.exchange(roofline.AllGather, 1, shared, roofline.Collective{Count: shared, Bytes: unit.Bytes(activation * own), GPUs: b.n})
	}
}

func (b *builder) exchange(kind roofline.Component, group, repeat int, c roofline.Collective) {
	c.Kind = kind
	o := b.op(kind, group)
	o.Repeat = repeat
	o.From = roofline.FromConfig
	o.Comm = &c
}

// sharedLayers counts the layers whose feed-forward part is spread over more
// GPUs than one attention replica has: those with experts, and the dense ones
// where the engine spreads them too.
func (b *builder) sharedLayers() int {
	if !b.engine.spread(b.d, b.w) {
		return 0
	}
	n := 0
	for _, t := range b.d.Tensors {
		if t.Role == roofline.RoleRouter && t.Matrix {
			n += t.Repeat
		}
	}
	if b.engine.Rule(roofline.RoleMLP, b.d, b.w).Shard == OverAll {
		for _, k := range b.d.Kernels {
			if k.Component == roofline.MLPDense { // one entry a layer
				n += k.Repeat
			}
		}
	}
	return n
}
