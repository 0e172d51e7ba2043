package model

// phi3 is the dense decoder with fused projections in the checkpoint.
var phi3 = Arch{
	Names: []string{"Phi3ForCausalLM"},
	Doc:   "dense decoder whose checkpoint fuses q, k, v and gate, up",
	Build: func(b *Builder) {
		a := b.shape()
		a.fused = true
		a.window = b.window(a)
		width := b.c.Int("intermediate_size")
		for i := range b.d.Layers {
			b.layer(i)
			b.attention(a)
			b.mlpNamed("mlp", width, "gate_up_proj", "gate_up_proj", "down_proj")
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}
