package model

import (
	"slices"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// qwenNext is Qwen3-Next and Qwen3.5: gated delta net in most layers, gated
// attention in every full_attention_interval-th, a mixture with a gated shared
// expert, or in dense variants a plain feed-forward block.
var qwenNext = Arch{
	Names: []string{"Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration", "Qwen3_5MoeForCausalLM",
		"Qwen3_5ForConditionalGeneration", "Qwen3_5ForCausalLM"},
	Doc: "gated delta net with gated attention every few layers, mixture with a gated shared expert",
	Build: func(b *Builder) {
		if b.c.nested() {
			b.root = "model.language_model"
		}
		a := b.shape()
		a.gated = b.c.Bool(true, "attn_output_gate")
		a.qNorm, a.kNorm = a.dim, a.dim
		a.bias = b.c.Bool(false, "attention_bias")
		g := b.deltaNet()
		mixed := b.c.Has("num_experts")
		var m moe
		if mixed {
			b.mixtureShape()
			m = moe{
				module: "mlp", router: "gate", experts: "experts", shared: "shared_expert",
				width: b.c.Int("moe_intermediate_size"), sharedAt: b.c.IntOr(0, "shared_expert_intermediate_size"), gate: true,
			}
		}
		types := b.c.layerTypes(b.d.Layers, linearAttention, fullAttention)
		every := max(b.c.IntOr(4, "full_attention_interval"), 1)
		step, dense := max(b.c.IntOr(1, "decoder_sparse_step"), 1), b.c.Ints("mlp_only_layers")
		for i := range b.d.Layers {
			b.layer(i)
			if types != nil && types[i] == fullAttention || types == nil && (i+1)%every == 0 {
				b.attention(a)
			} else {
				b.linearAttention(g)
			}
			if mixed && (i+1)%step == 0 && !slices.Contains(dense, i) {
				b.mixture(m)
			} else {
				b.mlp("mlp", b.c.Int("intermediate_size"), 3)
			}
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.stateType("mamba_ssm_dtype")
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}

// delta is the shape of a gated delta net layer.
type delta struct{ keyHeads, keyDim, valueHeads, valueDim, conv int }

func (b *Builder) deltaNet() delta {
	g := delta{
		keyHeads: b.c.Int("linear_num_key_heads"), keyDim: b.c.Int("linear_key_head_dim"),
		valueHeads: b.c.Int("linear_num_value_heads"), valueDim: b.c.Int("linear_value_head_dim"),
		conv: b.c.Int("linear_conv_kernel_dim"),
	}
	b.d.StateHeads = g.valueHeads
	return g
}

// linearAttention adds one gated delta net layer. Its state is H_v·D_k·D_v
// values a sequence, its FLOPs about 7 a state value and token.
func (b *Builder) linearAttention(g delta) {
	h, at := int64(b.d.Hidden), "linear_attn."
	keys, values := int64(g.keyHeads*g.keyDim), int64(g.valueHeads*g.valueDim)
	channels := 2*keys + values
	if strings.HasPrefix(b.c.Architecture, "Qwen3_5") { // the same projections, kept apart
		b.matrix(roofline.RoleState, roofline.SSM, at+"in_proj_qkv", h*channels)
		b.matrix(roofline.RoleState, roofline.SSM, at+"in_proj_z", h*values)
		b.matrix(roofline.RoleState, roofline.SSM, at+"in_proj_b", h*int64(g.valueHeads))
		b.matrix(roofline.RoleState, roofline.SSM, at+"in_proj_a", h*int64(g.valueHeads))
	} else {
		b.matrix(roofline.RoleState, roofline.SSM, at+"in_proj_qkvz", h*(channels+values))
		b.matrix(roofline.RoleState, roofline.SSM, at+"in_proj_ba", h*2*int64(g.valueHeads))
	}
	b.matrix(roofline.RoleState, roofline.SSM, at+"out_proj", values*h)
	b.plain(roofline.RoleState, roofline.SSM, at+"conv1d", channels*int64(g.conv), BF16)
	b.vector(roofline.RoleState, roofline.SSM, at+"A_log", int64(g.valueHeads))
	b.vector(roofline.RoleState, roofline.SSM, at+"dt_bias", int64(g.valueHeads))
	b.norm(g.valueDim, at+"norm")
	state := int64(g.valueHeads) * int64(g.keyDim) * int64(g.valueDim)
	b.cache(roofline.Cache{
		Kind: roofline.CacheState, Component: roofline.SSM,
		StateValues: state, ConvValues: channels * int64(g.conv-1), StateFLOPs: unit.FLOPs(7 * float64(state)),
	})
	b.launch(roofline.SSM, 4) // input, convolution, recurrence with its norm, output
}
