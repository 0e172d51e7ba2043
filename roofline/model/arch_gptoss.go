package model

import "decodegap/roofline"

// gptOSS alternates a short sliding window with full attention, has biases on
// every projection and expert, and one attention sink a head.
var gptOSS = Arch{
	Names: []string{"GptOssForCausalLM"},
	Doc:   "alternating 128-token windows, attention sinks, MXFP4 experts with biases",
	Build: func(b *Builder) {
		a := b.shape()
		a.bias = b.c.Bool(true, "attention_bias")
		a.outBias, a.sinks = a.bias, true
		b.mixtureShape()
		width := b.c.Int("intermediate_size")
		types := b.c.layerTypes(b.d.Layers, slidingAttention, fullAttention)
		for i := range b.d.Layers {
			b.layer(i)
			layer := a
			if types == nil && i%2 == 0 || types != nil && types[i] == slidingAttention {
				layer.window = b.c.IntOr(128, "sliding_window")
			}
			b.attention(layer)
			b.mixture(moe{module: "mlp", router: "router", experts: "experts", width: width,
				names: []string{"gate_up_proj", "gate_up_proj", "down_proj"}})
			b.vector(roofline.RoleRouter, roofline.MoERouter, "mlp.router.bias", int64(b.d.Experts))
			b.expertBias(roofline.RoleExpert, "mlp.experts.gate_up_proj_bias", 2*width)
			b.expertBias(roofline.RoleExpertOutBias, "mlp.experts.down_proj_bias", b.d.Hidden)
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}

// expertBias adds one bias vector an expert, in BF16.
func (b *Builder) expertBias(role roofline.Role, module string, width int) {
	params := int64(b.d.Experts) * int64(width)
	b.whole(roofline.Tensor{Role: role, Component: roofline.MoEExperts, Name: b.prefix + module, Params: params}, BF16)
}
