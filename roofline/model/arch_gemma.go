package model

// gemma3 alternates sliding-window layers with global ones, has four norms a
// layer and ties its head to the embedding. Its published files leave fields
// out that equal the family's defaults (transformers Gemma3TextConfig).
var gemma3 = Arch{
	Names: []string{"Gemma3ForConditionalGeneration", "Gemma3ForCausalLM"},
	Doc:   "sliding-window and global layers in turn, four norms a layer, tied head",
	Defaults: map[string]string{
		"vocab_size": "262208", "head_dim": "256", "num_attention_heads": "8", "num_key_value_heads": "4",
		"sliding_window": "4096", "sliding_window_pattern": "6", "tie_word_embeddings": "true",
	},
	Build: func(b *Builder) {
		if b.c.Architecture == "Gemma3ForConditionalGeneration" {
			b.root = "language_model.model"
		}
		a := b.shape()
		a.qNorm, a.kNorm = a.dim, a.dim
		width, every := b.c.Int("intermediate_size"), b.c.Int("sliding_window_pattern", "_sliding_window_pattern")
		types := b.c.layerTypes(b.d.Layers, slidingAttention, fullAttention)
		for i := range b.d.Layers {
			b.layer(i)
			layer := a
			if global := (i+1)%every == 0; types == nil && !global || types != nil && types[i] == slidingAttention {
				layer.window = b.c.Int("sliding_window")
			}
			b.attention(layer)
			b.mlp("mlp", width, 3)
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
			b.layerNorms()
			b.layerNorms()
		}
		b.ends(b.c.Bool(true, "tie_word_embeddings"))
	},
}
