package model

import "decodegap/roofline"

// glm is the dense GLM-4: biases on q, k and v as the file says, gate and up
// fused in the checkpoint; the 0414 releases (Glm4) have a norm behind
// attention and behind the feed-forward block as well.
var glm = Arch{
	Names: []string{"GlmForCausalLM", "Glm4ForCausalLM"},
	Doc:   "dense GLM-4: q, k, v biases, gate and up fused in the checkpoint, two or four norms a layer",
	Build: func(b *Builder) {
		a := b.shape()
		a.bias = b.c.Bool(false, "attention_bias")
		width := b.c.Int("intermediate_size")
		norms := []string{"input_layernorm", "post_attention_layernorm"}
		if b.c.Architecture == "Glm4ForCausalLM" {
			norms = append(norms, "post_self_attn_layernorm", "post_mlp_layernorm")
		}
		for i := range b.d.Layers {
			b.layer(i)
			b.attention(a)
			b.mlpNamed("mlp", width, "gate_up_proj", "gate_up_proj", "down_proj")
			b.norm(b.d.Hidden, norms...)
			b.launch(roofline.Norm, len(norms))
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}
