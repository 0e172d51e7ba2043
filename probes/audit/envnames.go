package audit

import (
	"slices"
	"strings"
)

// tuningPrefixes are families of variables of which all may be shown.
var tuningPrefixes = []string{"NCCL_", "OMP_", "MKL_", "KMP_", "GOMP_"}

// tuningNames are the other variables whose value may be shown: those that
// change how fast a server decodes, or what is measured.
var tuningNames = []string{
	"SAFETENSORS_FAST_GPU", "TOKENIZERS_PARALLELISM", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS",

	"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_LAUNCH_BLOCKING",
	"CUDA_MODULE_LOADING", "CUDA_CACHE_DISABLE", "CUDA_CACHE_MAXSIZE", "CUDA_AUTO_BOOST", "CUDA_FORCE_PTX_JIT",
	"CUDA_DISABLE_PTX_JIT", "CUDA_PROFILE", "COMPUTE_PROFILE", "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
	"CUDA_DEVICE_WAITS_ON_EXCEPTION", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_SCALE_LAUNCH_QUEUES",
	"CUDA_HOME", "CUDA_INJECTION32_PATH", "CUDA_INJECTION64_PATH", "CUDA_COREDUMP_FILE", // names only: paths are not kept

	"TORCH_CUDA_ARCH_LIST", "TORCH_DISTRIBUTED_DEBUG", "TORCH_NCCL_BLOCKING_WAIT", "TORCH_NCCL_ASYNC_ERROR_HANDLING",
	"TORCH_NCCL_AVOID_RECORD_STREAMS", "TORCH_NCCL_ENABLE_MONITORING", "TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE",
	"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TORCHINDUCTOR_COMPILE_THREADS", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF",

	"SGLANG_ENABLE_SPEC_V2", "SGLANG_ENABLE_JIT_DEEPGEMM", "SGL_ENABLE_JIT_DEEPGEMM", "SGLANG_DISABLE_TP_MEMORY_INBALANCE_CHECK",
	"SGLANG_SET_CPU_AFFINITY", "SGLANG_SKIP_P2P_CHECK", "SGLANG_USE_AITER", "SGLANG_USE_MESSAGE_QUEUE_BROADCASTER",
	"SGLANG_NVFP4_CKPT_FP8_GEMM_IN_ATTN", "SGLANG_PER_TOKEN_GROUP_QUANT_8BIT_V2", "SGLANG_TORCH_PROFILER_DIR",
	"SGLANG_ENABLE_TORCH_COMPILE", "SGLANG_MOE_PADDING",

	"VLLM_USE_V1", "VLLM_ATTENTION_BACKEND", "VLLM_ENABLE_PCIE_ALLREDUCE", "VLLM_ALLREDUCE_USE_SYMM_MEM",
	"VLLM_ALL2ALL_BACKEND", "VLLM_MOE_DP_CHUNK_SIZE", "VLLM_USE_DEEP_GEMM", "VLLM_USE_FLASHINFER_MOE_FP4",
	"VLLM_USE_FLASHINFER_MOE_FP8", "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", "VLLM_FLASHINFER_MOE_BACKEND",
	"VLLM_USE_FLASHINFER_SAMPLER", "VLLM_USE_TRTLLM_ATTENTION", "VLLM_CPU_OMP_THREADS_BIND", "VLLM_WORKER_MULTIPROC_METHOD",
	"VLLM_ROCM_USE_AITER", "VLLM_ROCM_USE_AITER_MOE", "VLLM_ROCM_USE_AITER_MLA", "VLLM_MARLIN_USE_ATOMIC_ADD",
	"VLLM_TEST_FORCE_FP8_MARLIN", "VLLM_LOG_STATS_INTERVAL", "VLLM_SLEEP_WHEN_IDLE", "VLLM_TORCH_PROFILER_DIR",
	"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS",

	"GGML_CUDA_DISABLE_GRAPHS", "GGML_CUDA_FORCE_MMQ", "GGML_CUDA_FORCE_CUBLAS", "GGML_CUDA_ENABLE_UNIFIED_MEMORY",
	"GGML_CUDA_GRAPH_OPT", "TRTLLM_SERVER_DISABLE_GC", "TRTLLM_ENABLE_PDL", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
}

// secretParts in a variable's name keep its value out, whatever list it is on.
var secretParts = []string{"TOKEN", "KEY", "SECRET", "PASS", "AUTH", "CRED"}

// tuning says whether a variable's value may be shown.
func tuning(name string) bool {
	if name == "TOKENIZERS_PARALLELISM" { // the one known name that holds TOKEN and no secret
		return true
	}
	if slices.ContainsFunc(secretParts, func(p string) bool { return strings.Contains(strings.ToUpper(name), p) }) {
		return false
	}
	return slices.Contains(tuningNames, name) ||
		slices.ContainsFunc(tuningPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// envValue is what is kept of a variable's value.
func envValue(name, text string) string {
	switch {
	case !tuning(name):
		return Hidden
	case (name == "NCCL_ALGO" || name == "NCCL_PROTO") && len(text) < 200:
		// "allreduce:tree,ring" holds a colon and no host.
		return plainValue(strings.ReplaceAll(text, ":", "="))
	case strings.HasSuffix(name, "ALLOC_CONF") && len(text) < 200:
		return plainValue(strings.ReplaceAll(text, ":", "="))
	}
	return plainValue(text)
}
