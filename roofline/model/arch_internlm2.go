package model

// internLM2 is the plain dense decoder with names of its own, q, k and v fused
// in the checkpoint.
var internLM2 = Arch{
	Names: []string{"InternLM2ForCausalLM"},
	Doc:   "dense decoder with names of its own, q, k, v fused in the checkpoint",
	Build: func(b *Builder) {
		b.embed, b.finalNorm, b.head = "tok_embeddings", "norm", "output"
		a := b.shape()
		a.module, a.qkv, a.out = "attention", "wqkv", "wo"
		a.bias = b.c.Bool(false, "bias")
		a.outBias = a.bias
		width := b.c.Int("intermediate_size")
		for i := range b.d.Layers {
			b.layer(i)
			b.attention(a)
			b.mlpNamed("feed_forward", width, "w1", "w3", "w2")
			b.norm(b.d.Hidden, "attention_norm", "ffn_norm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}
