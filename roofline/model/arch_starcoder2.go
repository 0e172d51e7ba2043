package model

// starcoder2 has a feed-forward block of two matrices, biases on every
// projection and layer norms with a bias each; its configuration class ties
// the head (transformers Starcoder2Config).
var starcoder2 = Arch{
	Names:    []string{"Starcoder2ForCausalLM"},
	Doc:      "grouped-query attention with biases, two-matrix feed-forward block, layer norms with biases",
	Defaults: map[string]string{"use_bias": "true", "tie_word_embeddings": "true"},
	Build: func(b *Builder) {
		a := b.shape()
		a.bias = b.c.Bool(true, "use_bias")
		a.outBias, b.mlpBias = a.bias, a.bias
		a.window = b.window(a)
		width := b.c.Int("intermediate_size")
		for i := range b.d.Layers {
			b.layer(i)
			b.attention(a)
			b.mlpNamed("mlp", width, "c_fc", "c_proj")
			b.norm(b.d.Hidden, "input_layernorm", "input_layernorm.bias", "post_attention_layernorm", "post_attention_layernorm.bias")
			b.layerNorms()
		}
		b.ends(b.c.Bool(true, "tie_word_embeddings"))
		b.norm(b.d.Hidden, join(b.root, "norm.bias"))
	},
}
