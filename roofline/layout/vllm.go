package layout

import (
	"fmt"

	"decodegap/roofline"
)

// VLLM is vLLM's layout. --ep is 1, or tp·dp with --enable-expert-parallel;
// degrees between are laid out too, with a caveat.
// Read in release 0.33.0 (commit 4ba787ec9, November 2026), below vllm, and in
// docs/serving/data_parallel_deployment.md and expert_parallel_deployment.md.
var VLLM = Engine{
	Name: "vllm",
	Doc:  "vLLM, tensor parallel: MLA down-projections, indexer, router and norms on every rank",
	// Qwen3-Next's file says nothing, and vLLM then takes the model's type
	// (model_executor/layers/mamba/mamba_utils.py: _mamba_state_dtype).
	StateTypes: map[string]roofline.DType{"Qwen3NextForCausalLM": roofline.BF16},
	Rules: map[roofline.Role]Rule{
		roofline.RoleK:            {ByKVHead, "vllm model_executor/layers/linear.py QKVParallelLinear: num_kv_head_replicas"},
		roofline.RoleV:            {ByKVHead, "vllm model_executor/layers/linear.py QKVParallelLinear: num_kv_head_replicas"},
		roofline.RoleQA:           {Replicated, "vllm model_executor/models/deepseek_v2.py DeepSeekV2FusedQkvAProjLinear: disable_tp"},
		roofline.RoleKVA:          {Replicated, "vllm model_executor/models/deepseek_v2.py DeepSeekV2FusedQkvAProjLinear: disable_tp; without q_a, kv_a_proj_with_mqa is a ReplicatedLinear"},
		roofline.RoleIndexQ:       {Replicated, "vllm model_executor/models/deepseek_v2.py Indexer: wq_b is a ReplicatedLinear"},
		roofline.RoleIndexK:       {Replicated, "vllm model_executor/models/deepseek_v2.py Indexer: wk_weights_proj with disable_tp"},
		roofline.RoleIndexWeights: {Replicated, "vllm model_executor/models/deepseek_v2.py Indexer: wk_weights_proj with disable_tp"},
		roofline.RoleRouter:       {Replicated, "vllm model_executor/layers/fused_moe/router/gate_linear.py: GateLinear is a ReplicatedLinear"},
		roofline.RoleSharedGate:   {Replicated, "vllm model_executor/models/qwen2_moe.py, qwen3_next.py: shared_expert_gate is a ReplicatedLinear"},
		roofline.RoleOBias:        {Replicated, "vllm model_executor/layers/linear.py RowParallelLinear: the bias is whole on each rank and rank 0 adds it"},
		roofline.RoleDraft:        {Replicated, "vllm model_executor/models/deepseek_mtp.py DeepSeekMultiTokenPredictorLayer, glm4_moe_mtp.py: eh_proj is a torch.nn.Linear"},
		roofline.RoleNorm:         {Replicated, "vllm model_executor/layers/layernorm.py RMSNorm: weight has the whole hidden size"},
	},
	DPEP: map[roofline.Role]Rule{
		roofline.RoleShared: {ByToken, "vllm model_executor/models/deepseek_v2.py DeepseekV2MoE: shared_experts with disable_tp where config/parallel.py use_sequence_parallel_moe"},
	},
	Caveats: []Caveat{func(d *roofline.Decoder, w roofline.Workload) string {
		all := w.TP * w.DP
		if d.Experts == 0 || w.EP == 1 || w.EP == all {
			return ""
		}
		return fmt.Sprintf("--ep %d: vLLM itself only spreads whole experts over all tp·dp = %d GPUs (--enable-expert-parallel) or none: this floor is for the hypothetical layout of %d expert-parallel ranks, each cut over %d GPUs", w.EP, all, w.EP, all/w.EP)
	}},
	// distributed/utils.py get_pp_indices: the rest of the layers goes one each
	// to the stages before the last, which has the head.
	Stages: func(layers, stages int) []int { return spreadLayers(layers, stages, stages-1-layers%stages) },
	Differences: []string{
		"The absorbed kv_b is kept in the activations' type (BF16) whatever the checkpoint has; its stored bytes are counted (model_executor/layers/attention/mla_attention.py: split_kv_b_proj).",
		"The indexer's wk and weights_proj are one BF16 matrix, and an FP8 wk is dequantized while loading; their stored bytes are counted (model_executor/models/deepseek_v2.py: wk_weights_proj).",
		"MiniMax-M2's QK norm adds one all-reduce of 8 bytes a token in every layer, which is not counted, and splits its weights by rank, which are counted whole (model_executor/layers/minimax_rms_norm/rms_norm_tp.py: MiniMaxText01RMSNormTP).",
		"MiniMax-M2's router is FP32; where the files do not say so BF16 is counted (model_executor/models/minimax_m2.py: gate).",
		"gpt-oss experts in MXFP4 are cut in whole blocks of 32 columns, so the busiest rank may read more than 1/n (model_executor/models/gpt_oss.py: per_rank_intermediate_size_block).",
		"Mamba2's gated norm is split with its heads, but counted whole; with one group, B and C are repeated on every rank, but counted split (model_executor/layers/mamba/mamba_mixer2.py: MambaMixer2).",
		"With dp > 1 and ep 1, tokens are gathered and scattered over the dp ranks and then all-reduced over tp, in place of the exchanges over all GPUs counted (distributed/device_communicators/all2all.py: AgRsAll2AllManager).",
		"Whole experts are spread over all tp·dp GPUs or none; an --ep between is counted as if each expert-parallel rank were cut over tp·dp/ep GPUs (model_executor/layers/fused_moe/config.py: FusedMoEParallelConfig).",
		"The other --all2all-backend values send tokens only where they are needed; the default, allgather_reducescatter, is counted (config/parallel.py: all2all_backend).",
	},
}
