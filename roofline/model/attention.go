package model

import "decodegap/roofline"

// gqa describes grouped-query attention of one layer; every dense family uses
// it with its own names and extras.
type gqa struct {
	heads, kv, dim int
	bias, outBias  bool
	qNorm, kNorm   int  // weights of the query and key norms, 0 for none
	gated          bool // q carries an output gate: twice as wide
	sinks          bool
	window, chunk  int

	fused  bool   // the checkpoint holds one qkv_proj
	qkv    string // the same under another name
	module string // "self_attn" unless set
	out    string // "o_proj" unless set
}

// shape reads the head counts. head_dim is what the file says, else
// hidden/heads: Qwen3 and gpt-oss say something else than that.
func (b *Builder) shape() gqa {
	heads := b.c.Int("num_attention_heads")
	kv := b.c.IntOr(heads, "num_key_value_heads")
	dim := b.c.IntOr(0, "head_dim", "attention_head_dim")
	if dim == 0 {
		if b.d.Hidden%heads != 0 {
			b.c.fail("num_attention_heads", "%d does not divide hidden_size %d and there is no head_dim", heads, b.d.Hidden)
		}
		dim = b.d.Hidden / heads
	}
	if kv < 1 || heads%kv != 0 {
		b.c.fail("num_key_value_heads", "%d does not divide num_attention_heads %d", kv, heads)
		kv = heads
	}
	b.d.Heads, b.d.KVHeads = heads, kv
	return gqa{heads: heads, kv: kv, dim: dim}
}

// attention adds one layer of grouped-query attention.
func (b *Builder) attention(a gqa) {
	if a.module == "" {
		a.module = "self_attn"
	}
	if a.out == "" {
		a.out = "o_proj"
	}
	h, q, kv := int64(b.d.Hidden), int64(a.heads*a.dim), int64(a.kv*a.dim)
	names := [3]string{"q_proj", "k_proj", "v_proj"}
	if a.fused {
		a.qkv = "qkv_proj"
	}
	if a.qkv != "" {
		names = [3]string{a.qkv, a.qkv, a.qkv}
	}
	qOut := q
	if a.gated {
		qOut *= 2
	}
	at := a.module + "."
	b.matrix(roofline.RoleQ, roofline.AttentionQKV, at+names[0], h*qOut)
	b.matrix(roofline.RoleK, roofline.AttentionQKV, at+names[1], h*kv)
	b.matrix(roofline.RoleV, roofline.AttentionQKV, at+names[2], h*kv)
	b.matrix(roofline.RoleO, roofline.AttentionOut, at+a.out, q*h)
	if a.bias {
		b.vector(roofline.RoleQ, roofline.AttentionQKV, at+names[0]+".bias", qOut)
		b.vector(roofline.RoleK, roofline.AttentionQKV, at+names[1]+".bias", kv)
		b.vector(roofline.RoleV, roofline.AttentionQKV, at+names[2]+".bias", kv)
	}
	if a.outBias {
		b.vector(roofline.RoleOBias, roofline.AttentionOut, at+a.out+".bias", h)
	}
	if a.sinks {
		b.vector(roofline.RoleSinks, roofline.AttentionQKV, at+"sinks", int64(a.heads))
	}
	if a.qNorm > 0 {
		b.norm(a.qNorm, at+"q_norm")
		b.norm(a.kNorm, at+"k_norm")
	}
	b.cache(roofline.Cache{
		Kind: roofline.CacheKV, Component: roofline.AttentionCore,
		Heads: a.heads, KVHeads: a.kv, HeadDim: a.dim, Window: a.window, Chunk: a.chunk,
	})
	b.launch(roofline.AttentionQKV, 1)
	b.launch(roofline.AttentionCore, 1) // with rotation, append and combine
	b.launch(roofline.AttentionOut, 1)
}

// mlp adds a dense feed-forward block of the given width; matrices is 3 with a
// gate (SwiGLU), 2 without.
func (b *Builder) mlp(module string, width, matrices int) {
	b.mlpNamed(module, width, mlpNames(matrices)...)
}

// mlpNamed is mlp with the checkpoint's own names of the matrices.
func (b *Builder) mlpNamed(module string, width int, names ...string) {
	each := int64(b.d.Hidden) * int64(width)
	for i, n := range names {
		b.matrix(roofline.RoleMLP, roofline.MLPDense, module+"."+n, each)
		switch {
		case !b.mlpBias && !b.c.Bool(false, "mlp_bias"):
		case i == len(names)-1:
			b.vector(roofline.RoleOBias, roofline.MLPDense, module+"."+n+".bias", int64(b.d.Hidden))
		default:
			b.vector(roofline.RoleMLP, roofline.MLPDense, module+"."+n+".bias", int64(width))
		}
	}
	b.launch(roofline.MLPDense, 2) // gate and up in one, down
}

func mlpNames(matrices int) []string {
	if matrices == 2 {
		return []string{"up_proj", "down_proj"}
	}
	return []string{"gate_proj", "up_proj", "down_proj"}
}

// moe describes a layer's mixture of experts.
type moe struct {
	module   string // "mlp"
	router   string // "gate"
	experts  string // "experts"
	shared   string // "shared_experts"
	names    []string
	width    int // of one routed expert
	sharedAt int // width of all shared experts together, 0 for none
	gate     bool
}

// mixture adds router, routed and shared experts of one layer.
func (b *Builder) mixture(m moe) {
	if m.names == nil {
		m.names = mlpNames(3)
	}
	h := int64(b.d.Hidden)
	b.router(m.module + "." + m.router)
	b.experts(m.module+"."+m.experts, h*int64(m.width), m.names...)
	if m.sharedAt > 0 {
		for _, n := range m.names {
			b.matrix(roofline.RoleShared, roofline.MoEShared, m.module+"."+m.shared+"."+n, h*int64(m.sharedAt))
		}
		if m.gate {
			b.plain(roofline.RoleSharedGate, roofline.MoEShared, m.module+".shared_expert_gate", h, BF16)
		}
	}
	b.launch(roofline.MoERouter, 2) // gate matrix, top-k
	b.launch(roofline.MoEExperts, 2)
	b.launch(roofline.MoECombine, 1)
}

// mixtureShape reads the expert counts under any of their names.
func (b *Builder) mixtureShape() {
	names := []string{"n_routed_experts", "num_experts", "num_local_experts"}
	b.d.Experts = b.c.Int(names...)
	chosen := []string{"num_experts_per_tok", "experts_per_token", "moe_topk"}
	b.d.TopK = b.c.Int(chosen...)
	if b.d.Experts > maxExperts {
		b.c.fail(b.c.present(names...), "%d experts are above the limit of %d", b.d.Experts, maxExperts)
		b.d.Experts = maxExperts
	}
	if b.d.TopK > b.d.Experts {
		b.c.fail(b.c.present(chosen...), "%d is more than the %d experts", b.d.TopK, b.d.Experts)
		b.d.TopK = b.d.Experts
	}
}

// maxExperts bounds the experts of a layer: the busiest rank's share takes
// time with their square.
const maxExperts = 2048
