package model

// falconH1 has Mamba2 and attention side by side behind one norm in every
// layer, then a feed-forward block. Engines reduce the output of each before
// adding them (vllm model_executor/models/falcon_h1.py: two row-parallel
// projections), so a layer has three all-reduces.
var falconH1 = Arch{
	Names: []string{"FalconH1ForCausalLM"},
	Doc:   "Mamba2 beside attention in every layer, then a feed-forward block",
	Build: func(b *Builder) {
		b.finalNorm, b.embed = "final_layernorm", "embed_tokens"
		a := b.shape()
		a.bias = b.c.Bool(false, "attention_bias")
		a.outBias = a.bias
		m := mambaShape{
			heads: b.c.Int("mamba_n_heads"), dim: b.c.Int("mamba_d_head"), groups: b.c.Int("mamba_n_groups"),
			state: b.c.Int("mamba_d_state"), conv: b.c.Int("mamba_d_conv"),
			convBias: b.c.Bool(true, "mamba_conv_bias"), bias: b.c.Bool(false, "mamba_proj_bias"),
			at: "mamba.", ungated: !b.c.Bool(false, "mamba_rms_norm"),
		}
		if inner := b.c.IntOr(0, "mamba_d_ssm"); inner > 0 && m.heads*m.dim != inner {
			b.c.fail("mamba_d_ssm", "%d is not %d heads of %d", inner, m.heads, m.dim)
		}
		b.d.StateHeads = m.heads
		width := b.c.Int("intermediate_size")
		for i := range b.d.Layers {
			b.layer(i)
			b.mamba2(m)
			b.attention(a)
			b.mlp("feed_forward", width, 3)
			b.norm(b.d.Hidden, "input_layernorm", "pre_ff_layernorm")
			b.layerNorms()
		}
		b.d.AllReduces = 3*b.d.Layers + 1
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}
