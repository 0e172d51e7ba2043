package model

import "decodegap/roofline"

// deepseek is multi-head latent attention, dense first layers, then a mixture
// with shared experts; with index_topk also a sparse-attention index.
// Decode runs it absorbed: W_UK and W_UV, together exactly kv_b, are read once
// (DeepSeek-V2 report, 2.1.2).
var deepseek = Arch{
	Names: []string{"DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "DeepseekV2ForCausalLM", "GlmMoeDsaForCausalLM", "Glm4MoeLiteForCausalLM"},
	Doc:   "latent attention (MLA), optional sparse index (DSA), mixture with shared experts",
	Build: func(b *Builder) {
		a, m := b.latentShape(), b.sharedMixture()
		mixed := b.mixtureLayers(max(b.c.IntOr(1, "moe_layer_freq"), 1))
		index := b.indexLayers()
		for i := range b.d.Layers {
			b.layer(i)
			b.latentAttention(a, index != nil, index != nil && index[i])
			if mixed[i] {
				b.mixture(m)
			} else {
				b.mlp("mlp", b.c.Int("intermediate_size"), 3)
			}
			b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
			b.layerNorms()
		}
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
	Draft: func(b *Builder) {
		a, m := b.latentShape(), b.sharedMixture()
		b.nextLayer()
		b.latentAttention(a, b.d.Indexed, b.d.Indexed)
		b.mixture(m)
		b.norm(b.d.Hidden, "input_layernorm", "post_attention_layernorm")
		b.layerNorms()
		b.ends(false)
	},
}

// sharedMixture is a mixture with n_shared_experts shared ones of the routed
// experts' width, as DeepSeek and GLM spell it.
func (b *Builder) sharedMixture() moe {
	b.mixtureShape()
	width := b.c.Int("moe_intermediate_size")
	shared := b.c.IntOr(0, "n_shared_experts")
	if !b.c.Has("n_shared_experts") {
		shared = mixtureDefaults[b.c.Architecture].shared
		b.note("n_shared_experts is not in the file: %d are counted, the default of the family's configuration class", shared)
	}
	return moe{
		module: "mlp", router: "gate", experts: "experts", shared: "shared_experts",
		width: width, sharedAt: width * shared,
	}
}

// nextLayer starts the MTP layer behind the decoder's: a projection of the
// hidden state beside the token's embedding, with a norm each, then one layer
// and the shared head (DeepSeek-V3 report, 2.2).
func (b *Builder) nextLayer() {
	h := int64(b.d.Hidden)
	b.layer(b.c.Int("num_hidden_layers"))
	// Engines hold it as a plain torch.nn.Linear, which no quantized checkpoint could fill.
	b.plain(roofline.RoleDraft, roofline.Draft, "eh_proj", 2*h*h, BF16)
	b.norm(b.d.Hidden, "enorm", "hnorm")
	b.launch(roofline.Draft, 1)
	b.launch(roofline.Norm, 1)
}

// latent is the shape of multi-head latent attention. head_dim is not used:
// files of this family put the rope or the nope part there.
type latent struct {
	heads, q, c, rope, nope, v int
	indexHeads, indexDim, topK int
}

func (b *Builder) latentShape() latent {
	a := latent{
		heads: b.c.Int("num_attention_heads"),
		q:     b.c.IntOr(0, "q_lora_rank"),
		c:     b.c.Int("kv_lora_rank"),
		rope:  b.c.Int("qk_rope_head_dim"),
		nope:  b.c.Int("qk_nope_head_dim"),
		v:     b.c.Int("v_head_dim"),
	}
	if b.c.Has("index_topk") {
		a.topK = b.c.Int("index_topk")
		a.indexHeads = b.c.Int("index_n_heads")
		a.indexDim = b.c.Int("index_head_dim")
		b.d.Indexed = true
		if a.q == 0 {
			b.c.fail("q_lora_rank", "missing; the sparse index reads the query's latent")
		}
	}
	b.d.Heads, b.d.KVHeads = a.heads, 0
	return a
}

// latentAttention adds one layer; indexed layers read their index first.
func (b *Builder) latentAttention(a latent, sparse, ownIndex bool) {
	h, heads, at := int64(b.d.Hidden), int64(a.heads), "self_attn."
	qOut := heads * int64(a.nope+a.rope)
	if a.q > 0 {
		b.matrix(roofline.RoleQA, roofline.AttentionQKV, at+"q_a_proj", h*int64(a.q))
		b.matrix(roofline.RoleQB, roofline.AttentionQKV, at+"q_b_proj", int64(a.q)*qOut)
		b.norm(a.q, at+"q_a_layernorm")
	} else {
		b.matrix(roofline.RoleQB, roofline.AttentionQKV, at+"q_proj", h*qOut)
	}
	b.matrix(roofline.RoleKVA, roofline.AttentionQKV, at+"kv_a_proj_with_mqa", h*int64(a.c+a.rope))
	b.matrix(roofline.RoleKVB, roofline.AttentionQKV, at+"kv_b_proj", int64(a.c)*heads*int64(a.nope+a.v))
	b.norm(a.c, at+"kv_a_layernorm")
	b.matrix(roofline.RoleO, roofline.AttentionOut, at+"o_proj", heads*int64(a.v)*h)
	cache := roofline.Cache{
		Kind: roofline.CacheLatent, Component: roofline.AttentionCore,
		Heads: a.heads, Latent: a.c, Rope: a.rope,
	}
	if sparse {
		cache.TopK = a.topK
	}
	b.cache(cache)
	b.launch(roofline.Norm, 1)          // q_a and kv_a norms in one
	b.launch(roofline.AttentionQKV, 2)  // q_a with kv_a; W_UV
	b.launch(roofline.AttentionCore, 1) // with rotation, append and combine
	b.launch(roofline.AttentionOut, 1)
	if !ownIndex {
		b.launch(roofline.AttentionQKV, 2) // q_b, W_UK
		return
	}
	index := int64(a.indexHeads) * int64(a.indexDim)
	b.matrix(roofline.RoleIndexQ, roofline.Indexer, at+"indexer.wq_b", int64(a.q)*index)
	b.matrix(roofline.RoleIndexK, roofline.Indexer, at+"indexer.wk", h*int64(a.indexDim))
	b.indexWeights(at+"indexer.weights_proj", h*int64(a.indexHeads))
	b.indexNorm(at+"indexer.k_norm", a.indexDim)
	b.cache(roofline.Cache{
		Kind: roofline.CacheIndex, Component: roofline.Indexer,
		IndexHeads: a.indexHeads, HeadDim: a.indexDim,
	})
	b.launch(roofline.Indexer, 3)           // wq_b, scan, top-k; q_b and W_UK run beside them
	b.launchDense(roofline.AttentionQKV, 2) // q_b, W_UK
}

// indexWeights adds the index's head weights, which stay BF16 whatever the
// checkpoint's format; only an assumed format covers them too.
func (b *Builder) indexWeights(module string, params int64) {
	if b.assume != nil {
		b.matrix(roofline.RoleIndexWeights, roofline.Indexer, module, params)
		return
	}
	b.plain(roofline.RoleIndexWeights, roofline.Indexer, module, params, BF16)
}
