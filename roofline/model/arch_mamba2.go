package model

import "decodegap/roofline"

// mamba2LM is Mamba2 alone: no attention, no feed-forward block, one norm and
// one all-reduce a layer (transformers Mamba2Config).
var mamba2LM = Arch{
	Names: []string{"Mamba2ForCausalLM"},
	Doc:   "Mamba2 layers only",
	Build: func(b *Builder) {
		b.root, b.embed, b.finalNorm = "backbone", "embeddings", "norm_f"
		m := mambaShape{
			heads: b.c.Int("num_heads"), dim: b.c.Int("head_dim"), groups: b.c.Int("n_groups"),
			state: b.c.Int("state_size"), conv: b.c.Int("conv_kernel"),
			convBias: b.c.Bool(true, "use_conv_bias"), bias: b.c.Bool(false, "use_bias"), at: "mixer.",
		}
		if inner := b.c.IntOr(2, "expand") * b.d.Hidden; m.heads*m.dim != inner && b.c.err == nil {
			b.c.fail("num_heads", "%d heads of %d are not expand · hidden_size = %d", m.heads, m.dim, inner)
		}
		b.d.StateHeads = m.heads
		for i := range b.d.Layers {
			b.layer(i)
			b.mamba2(m)
			b.norm(b.d.Hidden, "norm")
			b.launch(roofline.Norm, 1)
		}
		b.d.AllReduces = b.d.Layers + 1
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}
