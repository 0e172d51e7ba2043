package model

// glm4moe is GLM-4.5 to 4.7: grouped-query attention with biases on q, k and v
// only, dense first layers, then a mixture with shared experts.
var glm4moe = Arch{
	Names: []string{"Glm4MoeForCausalLM"},
	Doc:   "grouped-query attention with q, k, v biases, mixture with shared experts",
	Build: func(b *Builder) {
		a := b.glm4Attention()
		m := b.sharedMixture()
		mixed := b.mixtureLayers(1)
		for i := range b.d.Layers {
			b.layer(i)
			b.attention(a)
			if mixed[i] {
				b.mixture(m)
			} else {
				b.mlp("mlp", b.c.Int("intermediate_size"), 3)
			}
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
	Draft: func(b *Builder) {
		a, m := b.glm4Attention(), b.sharedMixture()
		b.nextLayer()
		b.attention(a)
		b.mixture(m)
		b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
		b.layerNorms()
		b.ends(false)
	},
}

func (b *Builder) glm4Attention() gqa {
	a := b.shape()
	a.bias = b.c.Bool(false, "attention_bias")
	if b.c.Bool(false, "use_qk_norm") {
		a.qNorm, a.kNorm = a.dim, a.dim
	}
	return a
}
