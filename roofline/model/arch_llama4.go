package model

import "slices"

// llama4 has a mixture with one shared expert in every
// interleave_moe_layer_step-th layer (1: every layer), and chunked attention
// in all but every fourth layer, a family default the files do not state
// (transformers Llama4TextConfig: no_rope_layer_interval 4).
var llama4 = Arch{
	Names: []string{"Llama4ForConditionalGeneration", "Llama4ForCausalLM"},
	Doc:   "chunked attention in three layers of four, mixture with one shared expert",
	Build: func(b *Builder) {
		if b.c.Architecture == "Llama4ForConditionalGeneration" {
			b.root = "language_model.model"
		}
		a := b.shape()
		a.bias = b.c.Bool(false, "attention_bias")
		a.outBias = a.bias
		b.mixtureShape()
		width := b.c.Int("intermediate_size")
		m := moe{
			module: "feed_forward", router: "router", experts: "experts", shared: "shared_expert",
			width: width, sharedAt: width,
		}
		step := max(b.c.IntOr(1, "interleave_moe_layer_step"), 1)
		listed := b.c.Ints("moe_layers")
		rope := b.c.Ints("no_rope_layers") // 1: rotary and chunked, 0: global
		every := max(b.c.IntOr(4, "no_rope_layer_interval"), 1)
		for i := range b.d.Layers {
			b.layer(i)
			layer := a
			global := (i+1)%every == 0
			if len(rope) == b.d.Layers {
				global = rope[i] == 0
			}
			if !global {
				layer.chunk = b.c.IntOr(0, "attention_chunk_size")
			}
			b.attention(layer)
			mixture := (i+1)%step == 0
			if len(listed) > 0 {
				mixture = slices.Contains(listed, i)
			}
			if mixture {
				b.mixture(m)
			} else {
				b.mlp("feed_forward", b.c.Int("intermediate_size_mlp"), 3)
			}
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}
