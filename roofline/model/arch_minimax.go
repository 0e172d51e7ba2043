package model

// minimax is MiniMax-M2: grouped-query attention whose query and key norms
// span all heads, and a mixture in every layer. Expert width is plain
// intermediate_size; mlp_intermediate_size is never used.
var minimax = Arch{
	Names: []string{"MiniMaxM2ForCausalLM"},
	Doc:   "grouped-query attention with whole-layer query and key norms, mixture in every layer",
	Build: func(b *Builder) {
		a := b.shape()
		if b.c.Bool(false, "use_qk_norm") {
			a.qNorm, a.kNorm = a.heads*a.dim, a.kv*a.dim
		}
		b.mixtureShape()
		shared := b.c.IntOr(0, "shared_intermediate_size")
		m := moe{
			module: "block_sparse_moe", router: "gate", experts: "experts", shared: "shared_experts",
			names: []string{"w1", "w2", "w3"}, width: b.c.Int("intermediate_size"), sharedAt: shared,
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
