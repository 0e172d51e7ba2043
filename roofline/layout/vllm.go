package layout

import "decodegap/roofline"

// VLLM is vLLM's tensor-parallel layout.
var VLLM = Engine{
	Name: "vllm",
	Doc:  "vLLM, tensor parallel: MLA down-projections, indexer, router and norms on every rank",
	// Qwen3-Next's file says nothing, and vLLM then takes the model's type.
	StateTypes: map[string]roofline.DType{"Qwen3NextForCausalLM": roofline.BF16},
	Rules: map[roofline.Role]Rule{
		roofline.RoleK:            {ByKVHead, "vllm model_executor/layers/linear.py QKVParallelLinear: num_kv_head_replicas"},
		roofline.RoleV:            {ByKVHead, "vllm model_executor/layers/linear.py QKVParallelLinear: num_kv_head_replicas"},
		roofline.RoleQA:           {Replicated, "vllm model_executor/models/deepseek_v2.py: fused_qkv_a_proj with disable_tp"},
		roofline.RoleKVA:          {Replicated, "vllm model_executor/models/deepseek_v2.py: fused_qkv_a_proj with disable_tp"},
		roofline.RoleIndexQ:       {Replicated, "vllm model_executor/models/deepseek_v2.py Indexer: wq_b is a ReplicatedLinear"},
		roofline.RoleIndexK:       {Replicated, "vllm model_executor/models/deepseek_v2.py Indexer: wk is a ReplicatedLinear"},
		roofline.RoleIndexWeights: {Replicated, "vllm model_executor/models/deepseek_v2.py Indexer: weights_proj is a ReplicatedLinear"},
		roofline.RoleRouter:       {Replicated, "vllm model_executor/models/deepseek_v2.py: gate is a ReplicatedLinear"},
		roofline.RoleSharedGate:   {Replicated, "vllm model_executor/models/qwen2_moe.py: shared_expert_gate is a ReplicatedLinear"},
		roofline.RoleOBias:        {Replicated, "vllm model_executor/layers/linear.py RowParallelLinear: bias whole on each rank"},
		roofline.RoleNorm:         {Replicated, "vllm model_executor/layers/layernorm.py: RMSNorm is not sharded"},
	},
}
