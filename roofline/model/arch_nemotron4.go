package model

// nemotron4 is the dense Nemotron: a feed-forward block of two matrices
// (relu²) and layer norms with a bias each.
var nemotron4 = Arch{
	Names: []string{"NemotronForCausalLM"},
	Doc:   "grouped-query attention, two-matrix feed-forward block, layer norms with biases",
	Build: func(b *Builder) {
		a := b.shape()
		a.bias = b.c.Bool(false, "attention_bias")
		a.outBias = a.bias
		width := b.c.Int("intermediate_size")
		for i := range b.d.Layers {
			b.layer(i)
			b.attention(a)
			b.mlp("mlp", width, 2)
			b.norm(b.d.Hidden, "input_layernorm", "input_layernorm.bias", "post_attention_layernorm", "post_attention_layernorm.bias")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
		b.norm(b.d.Hidden, join(b.root, "norm.bias"))
	},
}
