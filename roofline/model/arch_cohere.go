package model

import "decodegap/roofline"

// cohere is Command R: attention and feed-forward block side by side behind
// one norm, head tied to the embedding; Command R7B and A (Cohere2) slide in
// all but every sliding_window_pattern-th layer (transformers Cohere2Config).
var cohere = Arch{
	Names:    []string{"CohereForCausalLM", "Cohere2ForCausalLM"},
	Doc:      "Command R: one norm a layer, tied head; Cohere2 with sliding-window layers",
	Defaults: map[string]string{"tie_word_embeddings": "true"},
	Build: func(b *Builder) {
		a := b.shape()
		a.bias = b.c.Bool(false, "attention_bias")
		a.outBias = a.bias
		if b.c.Bool(false, "use_qk_norm") {
			a.qNorm, a.kNorm = a.heads*a.dim, a.kv*a.dim
		}
		width := b.c.Int("intermediate_size")
		types := b.c.layerTypes(b.d.Layers, slidingAttention, fullAttention)
		every := max(b.c.IntOr(4, "sliding_window_pattern", "_sliding_window_pattern"), 1)
		for i := range b.d.Layers {
			b.layer(i)
			layer := a
			if b.c.Architecture == "Cohere2ForCausalLM" && (types == nil && (i+1)%every != 0 || types != nil && types[i] == slidingAttention) {
				layer.window = b.c.IntOr(4096, "sliding_window")
			}
			b.attention(layer)
			b.mlp("mlp", width, 3)
			b.norm(b.d.Hidden, "input_layernorm")
			b.launch(roofline.Norm, 1)
		}
		b.ends(b.c.Bool(true, "tie_word_embeddings"))
	},
}
