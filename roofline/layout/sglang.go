package layout

import "decodegap/roofline"

// SGLang is SGLang's tensor-parallel layout.
var SGLang = Engine{
	Name: "sglang",
	Doc:  "SGLang, tensor parallel: MLA down-projections, indexer, router and norms on every rank",
	Rules: map[roofline.Role]Rule{
		roofline.RoleK:            {ByKVHead, "sglang srt/layers/linear.py QKVParallelLinear: num_kv_head_replicas"},
		roofline.RoleV:            {ByKVHead, "sglang srt/layers/linear.py QKVParallelLinear: num_kv_head_replicas"},
		roofline.RoleQA:           {Replicated, "sglang srt/models/deepseek_v2.py: fused_qkv_a_proj_with_mqa is a ReplicatedLinear"},
		roofline.RoleKVA:          {Replicated, "sglang srt/models/deepseek_v2.py: fused_qkv_a_proj_with_mqa is a ReplicatedLinear"},
		roofline.RoleIndexQ:       {Replicated, "sglang srt/layers/attention/nsa/nsa_indexer.py: wq_b is a ReplicatedLinear"},
		roofline.RoleIndexK:       {Replicated, "sglang srt/layers/attention/nsa/nsa_indexer.py: wk is a ReplicatedLinear"},
		roofline.RoleIndexWeights: {Replicated, "sglang srt/layers/attention/nsa/nsa_indexer.py: weights_proj is a ReplicatedLinear"},
		roofline.RoleRouter:       {Replicated, "sglang srt/models/deepseek_v2.py: MoEGate holds the whole matrix"},
		roofline.RoleSharedGate:   {Replicated, "sglang srt/models/qwen2_moe.py: shared_expert_gate is a plain Linear"},
		roofline.RoleOBias:        {Replicated, "sglang srt/layers/linear.py RowParallelLinear: bias whole on each rank"},
		roofline.RoleNorm:         {Replicated, "sglang srt/layers/layernorm.py: RMSNorm is not sharded"},
	},
}
