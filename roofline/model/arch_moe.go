package model

import "slices"

// mixtral is the dense decoder with every feed-forward block a mixture.
var mixtral = Arch{
	Names: []string{"MixtralForCausalLM"},
	Doc:   "grouped-query attention, mixture of experts in every layer",
	Build: func(b *Builder) {
		a := b.shape()
		a.window = b.window(a)
		b.mixtureShape()
		m := moe{
			module: "block_sparse_moe", router: "gate", experts: "experts",
			names: []string{"w1", "w2", "w3"}, width: b.c.Int("intermediate_size"),
		}
		for i := range b.d.Layers {
			b.layer(i)
			b.attention(a)
			b.mixture(m)
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}

// qwenMoE mixes experts in every decoder_sparse_step-th layer; where all are,
// intermediate_size is never used.
var qwenMoE = Arch{
	Names: []string{"Qwen3MoeForCausalLM", "Qwen2MoeForCausalLM"},
	Doc:   "Qwen attention, mixture of experts in every or every few layers; Qwen2 with a gated shared expert",
	Build: func(b *Builder) {
		a := b.shape()
		b.mixtureShape()
		m := moe{module: "mlp", router: "gate", experts: "experts", width: b.c.Int("moe_intermediate_size")}
		if b.c.Architecture == "Qwen2MoeForCausalLM" {
			a.bias = true // the family has q, k, v biases and states none
			m.shared, m.sharedAt, m.gate = "shared_expert", b.c.Int("shared_expert_intermediate_size"), true
		} else {
			a.qNorm, a.kNorm = a.dim, a.dim
			a.bias = b.c.Bool(false, "attention_bias")
		}
		step, dense := max(b.c.IntOr(1, "decoder_sparse_step"), 1), b.c.Ints("mlp_only_layers")
		for i := range b.d.Layers {
			b.layer(i)
			b.attention(a)
			if (i+1)%step == 0 && !slices.Contains(dense, i) {
				b.mixture(m)
			} else {
				b.mlp("mlp", b.c.Int("intermediate_size"), 3)
			}
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}
