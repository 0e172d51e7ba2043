package layout

import (
	"fmt"
	"slices"

	"decodegap/roofline"
)

// LlamaCPP is llama.cpp's layout on its CUDA backend: --tp is -sm tensor, --pp
// is -sm layer. Read in ggml-org/llama.cpp at commit 0c1e57098, which
// llama-cpp-python 0.3.36 ships.
var LlamaCPP = Engine{
	Name: "llamacpp",
	Doc:  "llama.cpp, -sm tensor (--tp) or -sm layer (--pp): attention split by KV head; router, shared experts and norms on every GPU; embedding in host memory",
	Rules: map[roofline.Role]Rule{
		roofline.RoleQ:          {ByKVHead, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: granularity_q is the query heads of one KV head"},
		roofline.RoleK:          {ByKVHead, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: granularity_kv is one KV head"},
		roofline.RoleV:          {ByKVHead, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: granularity_v is one KV head"},
		roofline.RoleO:          {ByKVHead, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: attn_output has the granularity of q"},
		roofline.RoleSinks:      {ByKVHead, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: attn_sinks has the granularity of q"},
		roofline.RoleOBias:      {Replicated, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: attn_output.bias and ffn_down.bias are mirrored"},
		roofline.RoleRouter:     {Replicated, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: ffn_gate_inp matches no pattern and is mirrored"},
		roofline.RoleShared:     {Replicated, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: ffn_*_shexp match no pattern but DeepSeek-V4's and are mirrored"},
		roofline.RoleSharedGate: {Replicated, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: ffn_gate_inp_shexp matches no pattern and is mirrored"},
		roofline.RoleNorm:       {Replicated, "llama.cpp src/llama-model.cpp llama_meta_device_get_split_state: norms match no pattern, or are vectors, and are mirrored"},
	},
	Table:         TableHost, // src/llama-model.cpp: dev_input is the CPU
	WholeTiedHead: true,      // src/llama-model-loader.cpp: it keeps the name token_embd.weight, which is mirrored
	OneSlot:       true,      // src/llama-context.cpp: pipeline_parallel overlaps micro-batches, and a decode batch is one
	ReducedValue:  ggmlReducedValue,
	Limits:        []Limit{llamaLimits},
	// src/llama-model.cpp load_tensors: the head counts as one more layer, and
	// layer i of L+1 lies on GPU ⌊i·N/(L+1)⌋ where all GPUs have the same memory free.
	Stages: func(layers, stages int) []int {
		counts := make([]int, stages)
		for i := range layers {
			counts[i*stages/(layers+1)]++
		}
		return counts
	},
	Differences: []string{
		"-sm row is not laid out: the CUDA backend, and with it HIP, dropped it (ggml-org/llama.cpp#24216); it cut only dense weights by rows (docs/multi-gpu.md) and left caches and all other weights on the GPU that owns the layer (ggml-org/llama.cpp#10026).",
		"FFN and expert widths are cut in multiples of 128 columns, or of the quantization block where that is larger, so the busiest GPU may read more than 1/n (src/llama-model.cpp: blck_size_perf).",
		"GGUF files keep norms, biases, the router and convolutions in FP32; the types of a config.json are counted unless a .gguf is read (conversion/base.py).",
		"Quantized caches are --kv-dtype q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl, with their scales; -sm tensor has none (docs/multi-gpu.md), but they are counted with --tp too.",
		"With two GPUs and no NCCL its own all-reduce sends BF16 at every size; NCCL's sizes are counted (ggml/src/ggml-cuda/allreduce.cu).",
	},
}

// ggmlReducedValue is the bytes of one value in llama.cpp's NCCL all-reduce:
// FP32, and BF16 from the size on where the links' bandwidth decides
// (ggml/src/ggml-cuda/ggml-cuda.cu: ggml_backend_cuda_comm_allreduce_nccl).
func ggmlReducedValue(values, ranks int) int {
	switch {
	case ranks <= 2 && values < 32768, ranks == 3 && values < 131072, ranks >= 4 && values < 262144:
		return 4
	}
	return 2
}

// noTensorMode are the architectures that -sm tensor refuses
// (src/llama-arch.cpp: llm_arch_supports_sm_tensor), of those known here.
var noTensorMode = []string{
	"DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM",
	"MiniMaxM2ForCausalLM", "NemotronHForCausalLM",
}

// llamaLimits refuses what llama.cpp has no option for.
func llamaLimits(d *roofline.Decoder, w roofline.Workload) error {
	switch {
	case w.EP > 1:
		return fmt.Errorf("--ep %d: llama.cpp has no expert parallelism: use --tp (-sm tensor) or --pp (-sm layer)", w.EP)
	case w.DP > 1:
		return fmt.Errorf("--dp %d: llama.cpp has no data parallelism: ask for one server, with its share of the batch", w.DP)
	case w.TP > 1 && w.PP > 1:
		return fmt.Errorf("--tp %d with --pp %d: llama.cpp has one split mode at a time: use --tp (-sm tensor) or --pp (-sm layer)", w.TP, w.PP)
	case w.TP > 1 && slices.Contains(noTensorMode, d.Architecture):
		return fmt.Errorf("--tp %d: llama.cpp's -sm tensor does not run %s: use --pp %d (-sm layer)", w.TP, d.Architecture, w.TP)
	}
	return nil
}
