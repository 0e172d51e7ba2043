package model

// llama is the plain dense decoder: grouped-query attention and SwiGLU.
var llama = Arch{
	Names: []string{"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM",
		"GraniteForCausalLM", "SeedOssForCausalLM", "SmolLM3ForCausalLM", "InternLM3ForCausalLM"},
	Doc: "dense decoder with grouped-query attention and SwiGLU",
	Build: func(b *Builder) {
		a := b.shape()
		switch b.c.Architecture {
		case "Qwen2ForCausalLM":
			a.bias = true // the family has q, k, v biases and states none
		case "Qwen3ForCausalLM":
			a.qNorm, a.kNorm = a.dim, a.dim
			a.bias = b.c.Bool(false, "attention_bias")
		case "SeedOssForCausalLM":
			a.bias = b.c.Bool(true, "attention_bias")
			a.outBias = b.c.Bool(false, "attention_out_bias")
		case "InternLM3ForCausalLM":
			a.bias, a.outBias = b.c.Bool(false, "qkv_bias"), b.c.Bool(false, "bias")
			b.mlpBias = a.outBias
		default:
			a.bias = b.c.Bool(false, "attention_bias")
			a.outBias = a.bias
		}
		a.window = b.window(a)
		width := b.c.Int("intermediate_size")
		for i := range b.d.Layers {
			b.layer(i)
			layer := a
			if b.fullAttention(i) {
				layer.window = 0
			}
			b.attention(layer)
			b.mlp("mlp", width, 3)
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(b.c.Architecture == "SmolLM3ForCausalLM", "tie_word_embeddings"))
	},
}
