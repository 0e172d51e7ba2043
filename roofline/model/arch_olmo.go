package model

// olmo is OLMo-2 and OLMo-3, with norms behind attention and the feed-forward
// block and query and key norms over all heads; OLMo-3 slides in three layers
// of four (transformers Olmo3Config). OLMoE is the mixture, with norms before.
var olmo = Arch{
	Names: []string{"Olmo2ForCausalLM", "Olmo3ForCausalLM", "OlmoeForCausalLM"},
	Doc:   "OLMo: query and key norms over all heads; OLMo-3 with sliding-window layers, OLMoE with a mixture in every layer",
	Build: func(b *Builder) {
		a := b.shape()
		a.bias = b.c.Bool(false, "attention_bias")
		a.outBias = a.bias
		a.qNorm, a.kNorm = a.heads*a.dim, a.kv*a.dim
		width := b.c.Int("intermediate_size")
		types := b.c.layerTypes(b.d.Layers, slidingAttention, fullAttention)
		mixed := b.c.Architecture == "OlmoeForCausalLM"
		norms := []string{"post_attention_layernorm", "post_feedforward_layernorm"}
		if mixed {
			b.mixtureShape()
			norms = []string{"input_layernorm", "post_attention_layernorm"}
		}
		for i := range b.d.Layers {
			b.layer(i)
			layer := a
			if b.c.Architecture == "Olmo3ForCausalLM" && (types == nil && (i+1)%4 != 0 || types != nil && types[i] == slidingAttention) {
				layer.window = b.c.IntOr(4096, "sliding_window")
			}
			b.attention(layer)
			if mixed {
				b.mixture(moe{module: "mlp", router: "gate", experts: "experts", width: width})
			} else {
				b.mlp("mlp", width, 3)
			}
			b.norm(b.d.Hidden, norms...)
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}
