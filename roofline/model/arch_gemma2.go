package model

import "decodegap/roofline"

// gemma2 is Gemma-2, which slides in every other layer from the first on and
// has four norms a layer, and the first Gemma, which does neither. Both tie
// their head to the embedding (transformers Gemma2Config, GemmaConfig).
var gemma2 = Arch{
	Names: []string{"Gemma2ForCausalLM", "GemmaForCausalLM"},
	Doc:   "Gemma and Gemma-2: tied head; Gemma-2 with sliding-window and global layers in turn, four norms a layer",
	Defaults: map[string]string{
		"head_dim": "256", "tie_word_embeddings": "true",
	},
	Build: func(b *Builder) {
		a := b.shape()
		a.bias = b.c.Bool(false, "attention_bias")
		a.outBias = a.bias
		second := b.c.Architecture == "Gemma2ForCausalLM"
		width := b.c.Int("intermediate_size")
		types := b.c.layerTypes(b.d.Layers, slidingAttention, fullAttention)
		norms := []string{"input_layernorm", "post_attention_layernorm"}
		if second {
			norms = append(norms, "pre_feedforward_layernorm", "post_feedforward_layernorm")
		}
		for i := range b.d.Layers {
			b.layer(i)
			layer := a
			if second && (types == nil && i%2 == 0 || types != nil && types[i] == slidingAttention) {
				layer.window = b.c.IntOr(4096, "sliding_window")
			}
			b.attention(layer)
			b.mlp("mlp", width, 3)
			b.norm(b.d.Hidden, norms...)
			b.launch(roofline.Norm, len(norms))
		}
		b.ends(b.c.Bool(true, "tie_word_embeddings"))
	},
}
