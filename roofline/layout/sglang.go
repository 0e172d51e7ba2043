package layout

import "decodegap/roofline"

// SGLang is SGLang's layout. --dp is its attention data parallelism: SGLang's
// own tp-size is then tp·dp here. Read in release 0.5.23 (October 2026), below
// python/sglang/srt.
var SGLang = Engine{
	Name: "sglang",
	Doc:  "SGLang, tensor parallel: MLA down-projections, indexer, router and norms on every rank",
	Rules: map[roofline.Role]Rule{
		roofline.RoleK:            {ByKVHead, "sglang srt/layers/linear.py QKVParallelLinear: num_kv_head_replicas"},
		roofline.RoleV:            {ByKVHead, "sglang srt/layers/linear.py QKVParallelLinear: num_kv_head_replicas"},
		roofline.RoleQA:           {Replicated, "sglang srt/models/deepseek_v2.py DeepseekV2AttentionMLA: fused_qkv_a_proj_with_mqa is a ReplicatedLinear"},
		roofline.RoleKVA:          {Replicated, "sglang srt/models/deepseek_v2.py DeepseekV2AttentionMLA: fused_qkv_a_proj_with_mqa, or kv_a_proj_with_mqa where there is no q_a, is a ReplicatedLinear"},
		roofline.RoleIndexQ:       {Replicated, "sglang srt/layers/attention/dsa/dsa_indexer.py Indexer: wq_b is a ReplicatedLinear"},
		roofline.RoleIndexK:       {Replicated, "sglang srt/layers/attention/dsa/dsa_indexer.py Indexer: wk, or the fused wk_weights_proj, is a ReplicatedLinear"},
		roofline.RoleIndexWeights: {Replicated, "sglang srt/layers/attention/dsa/dsa_indexer.py Indexer: weights_proj, or the fused wk_weights_proj, is a ReplicatedLinear"},
		roofline.RoleRouter:       {Replicated, "sglang srt/models/deepseek_v2.py MoEGate: weight holds all experts; qwen3_moe.py, minimax_m2.py: gate is a ReplicatedLinear"},
		roofline.RoleSharedGate:   {Replicated, "sglang srt/models/qwen2_moe.py Qwen2MoeSparseMoeBlock: shared_expert_gate is a torch.nn.Linear"},
		roofline.RoleOBias:        {Replicated, "sglang srt/layers/linear.py RowParallelLinear: the bias is whole on each rank and rank 0 adds it"},
		roofline.RoleDraft:        {Replicated, "sglang srt/models/deepseek_nextn.py DeepseekModelNextN, glm4_moe_nextn.py: eh_proj is a torch.nn.Linear"},
		roofline.RoleNorm:         {Replicated, "sglang srt/layers/layernorm.py RMSNorm: weight has the whole hidden size"},
	},
	DP: map[roofline.Role]Rule{
		roofline.RoleMLP:    {OverAll, "sglang srt/models/deepseek_v2.py DeepseekV2DecoderLayer: the dense MLP is in group \"tp\", which spans all GPUs, unless --moe-dense-tp-size 1"},
		roofline.RoleShared: {OverAll, "sglang srt/models/deepseek_v2.py DeepseekV2MoE: shared_experts are in group \"tp\", which spans all GPUs, unless an all-to-all backend is chosen"},
		roofline.RoleHead:   {OverAll, "sglang srt/models/deepseek_v2.py: lm_head uses the attention group only with --enable-dp-lm-head"},
	},
	// srt/distributed/utils.py get_pp_indices: the last stages have one more.
	Stages: func(layers, stages int) []int { return spreadLayers(layers, stages, stages-layers%stages) },
	Differences: []string{
		"The absorbed kv_b is dequantized to BF16 where the checkpoint has FP8 in blocks of 128, unless SGLANG_USE_DEEPGEMM_BMM is set on Hopper; its FP8 bytes are counted (srt/models/deepseek_common/deepseek_weight_loader.py: w_kc, w_vc).",
		"With the fused indexer projection (CUDA, indexer_rope_interleave) wk and weights_proj are BF16 whatever the checkpoint has; their stored bytes are counted (srt/layers/attention/dsa/dsa_indexer.py: wk_weights_proj).",
		"MiniMax-M2's QK norm adds one all-reduce of 8 bytes a token in every layer, which is not counted, and splits its weights by rank, which are counted whole (srt/models/minimax_m2.py: MiniMaxM2RMSNormTP).",
		"MiniMax-M2's router is FP32, and so are all routers with router_fp32; where the files do not say so BF16 is counted (srt/models/minimax_m2.py: gate; deepseek_v2.py: MoEGate).",
		"gpt-oss experts in MXFP4 are cut in whole blocks of 32 columns, so the busiest rank may read more than 1/n (srt/models/gpt_oss.py: _load_mxfp4_experts_weights).",
		"Mamba2's gated norm is split with its heads, but counted whole; with one group, B and C are repeated on every rank, but counted split (srt/layers/attention/mamba/mamba.py: MambaMixer2).",
		"An all-to-all backend for experts (--moe-a2a-backend) keeps shared experts whole on each rank and sends tokens only where they are needed; the default without one is counted (srt/models/deepseek_v2.py: _shared_expert_use_tp1).",
		"With attention data parallelism, decode batches that fit its custom all-reduce are gathered and summed by all-reduces over all GPUs, in place of the all-gather and reduce-scatter counted (srt/layers/dp_attention.py: _decode_sum_len_fits_custom_all_reduce).",
	},
}
