package layout

import (
	"fmt"

	"decodegap/roofline"
)

// TRTLLM is the layout of TensorRT-LLM's PyTorch backend. --dp is its
// attention data parallelism (enable_attention_dp), in which every GPU runs all
// heads: TensorRT-LLM's own tp_size is then dp here. Read in NVIDIA/TensorRT-LLM
// below tensorrt_llm/_torch, at the commits named beside each file:
// modules/mla.py c0261ef, attention_backend/sparse/dsa/indexer.py 61e0bf1,
// modules/attention.py c6d3bb2, modules/embedding.py fbbc05d,
// modules/linear.py 00bbf71, modules/rms_norm.py 0419019, modules/mamba/mamba2_mixer.py 595da61,
// modules/fused_moe/communication/communication_factory.py 673f341,
// models/modeling_deepseekv3.py a43cf9e, models/modeling_utils.py cb4c622,
// models/modeling_minimaxm2.py 9c8b74e, models/modeling_qwen3_next.py b93e14c.
var TRTLLM = Engine{
	Name: "trtllm",
	Doc:  "TensorRT-LLM, PyTorch backend: MLA down-projections, indexer, router and norms on every rank; attention data parallelism on whole GPUs",
	Rules: map[roofline.Role]Rule{
		roofline.RoleK:            {ByKVHead, "TensorRT-LLM modules/attention.py Attention: num_key_value_heads rounded up per rank"},
		roofline.RoleV:            {ByKVHead, "TensorRT-LLM modules/attention.py Attention: num_key_value_heads rounded up per rank"},
		roofline.RoleQA:           {Replicated, "TensorRT-LLM modules/mla.py MLA: kv_a_proj_with_mqa, fused with q_a, is a Linear without tensor_parallel_mode"},
		roofline.RoleKVA:          {Replicated, "TensorRT-LLM modules/mla.py MLA: kv_a_proj_with_mqa is a Linear without tensor_parallel_mode"},
		roofline.RoleIndexQ:       {Replicated, "TensorRT-LLM attention_backend/sparse/dsa/indexer.py Indexer: wq_b is a Linear without tensor_parallel_mode"},
		roofline.RoleIndexK:       {Replicated, "TensorRT-LLM attention_backend/sparse/dsa/indexer.py Indexer: wk is a Linear without tensor_parallel_mode"},
		roofline.RoleIndexWeights: {Replicated, "TensorRT-LLM attention_backend/sparse/dsa/indexer.py Indexer: weights_proj is a Linear without tensor_parallel_mode"},
		roofline.RoleRouter:       {Replicated, "TensorRT-LLM models/modeling_deepseekv3.py DeepseekV3Gate: weight holds all experts; modeling_minimaxm2.py: gate is a Linear without tensor_parallel_mode"},
		roofline.RoleSharedGate:   {Replicated, "TensorRT-LLM models/modeling_qwen3_next.py: shared_expert_gate is a Linear without tensor_parallel_mode"},
		roofline.RoleOBias:        {Replicated, "TensorRT-LLM modules/linear.py load_weight_shard: a vector is not cut in row mode"},
		roofline.RoleNorm:         {Replicated, "TensorRT-LLM modules/rms_norm.py RMSNorm: weight has the whole hidden size"},
	},
	// models/modeling_deepseekv3.py and modeling_minimaxm2.py build their
	// Embedding without a mapping.
	WholeTables: []string{"DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM", "MiniMaxM2ForCausalLM"},
	AllToAll:    true,
	Limits: []Limit{func(d *roofline.Decoder, w roofline.Workload) error {
		if d.Experts > 0 && w.DP > 1 && w.TP > 1 {
			return fmt.Errorf("--tp %d with --dp %d: trtllm's attention data parallelism runs all heads on each GPU: use --tp 1 --dp %d", w.TP, w.DP, w.TP*w.DP)
		}
		return nil
	}},
	// mapping.py pp_layers: torch.tensor_split gives the first stages one more.
	Stages: func(layers, stages int) []int { return spreadLayers(layers, stages, 0) },
	Differences: []string{
		"The indexer's wk and weights_proj are one FP32 matrix; their stored bytes are counted (attention_backend/sparse/dsa/indexer.py: _fused_wk_wp_weight).",
		"MiniMax-M2 gathers q and k of all ranks in every layer for its QK norm: two all-gathers that are not counted (models/modeling_minimaxm2.py: apply_qk_norm).",
		"MiniMax-M2's router is FP32; where the files do not say so BF16 is counted (models/modeling_minimaxm2.py: gate).",
		"DeepSeek's shared experts and dense MLP are spread over no more ranks than they have quantization blocks, gcd(width/block, tp), but counted over all (models/modeling_deepseekv3.py: _compute_shared_expert_tp_size, _compute_mlp_tp_size).",
		"The MTP layer's eh_proj is split by rows, so each draft step has one all-reduce more, which is not counted (models/modeling_deepseekv3.py: DeepseekV3MTP).",
		"Mamba2's gated norm is split with its heads, but counted whole (modules/mamba/mamba2_mixer.py).",
		"With dp > 1 and whole experts on every GPU tokens go by all-to-all where NVLink memory can be shared, and otherwise by an all-gather and a reduce-scatter; the all-to-all is counted (modules/fused_moe/communication/communication_factory.py).",
		"Tokens quantized for the experts are sent quantized; 2 bytes a value are counted (modules/fused_moe/communication).",
	},
}
