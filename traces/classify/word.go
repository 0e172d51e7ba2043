package classify

import (
	"strings"

	"decodegap/roofline"
)

// word is what a kernel's name says it is, before its place in a layer is
// known. A detail may follow a colon ("elementwise:mul").
type word string

// family is the word without its detail.
func (w word) family() string {
	f, _, _ := strings.Cut(string(w), ":")
	return f
}

// detail is what follows the colon, "" if nothing does.
func (w word) detail() string {
	_, d, _ := strings.Cut(string(w), ":")
	return d
}

// matmul is the component of the words whose place must be found: it is never
// given out.
const matmul roofline.Component = "?matmul"

// families maps the class words of kernel names to components. Words of one
// elementary operation stand under what they are when nothing around them
// says more.
var families = []struct {
	word      string
	component roofline.Component
	phase     string // what the word says of the step's phase
}{
	{"gemm", matmul, ""},
	{"gemm_bf16", matmul, ""},
	{"gemm_fp32", matmul, ""},
	{"gemm_fp8", matmul, ""},
	{"gemm_fp4", matmul, ""},
	{"gemm_int4", matmul, ""},
	{"gemm_quantised", matmul, ""},
	{"gemv", matmul, ""},
	{"gemv_quantised", matmul, ""},
	{"ambiguous_cutlass", matmul, ""},
	{"gemm_splitk_reduce", matmul, ""},
	{"gemm_router", roofline.MoERouter, ""},
	{"moe_gemm", roofline.MoEExperts, ""},
	{"moe_gemm_fp8", roofline.MoEExperts, ""},
	{"moe_gemm_fp4", roofline.MoEExperts, ""},
	{"moe_gemm_int4", roofline.MoEExperts, ""},
	{"moe_gemm_quantised", roofline.MoEExperts, ""},
	{"moe_gemm_setup", roofline.MoEExperts, ""},
	{"moe_mega", roofline.MoEExperts, ""},
	{"moe_routing", roofline.MoERouter, ""},
	{"moe_permute", roofline.MoEDispatch, ""},
	{"moe_finalize", roofline.MoECombine, ""},
	{"attention_decode", roofline.AttentionCore, "decode"},
	{"attention_prefill", roofline.AttentionCore, "prefill"},
	{"attention_unified", roofline.AttentionCore, ""},
	{"attention_combine", roofline.AttentionCore, ""},
	{"attention_metadata", roofline.AttentionCore, ""},
	{"attention_prep", roofline.AttentionCore, ""},
	{"mla_decode", roofline.AttentionCore, "decode"},
	{"mla_prefill", roofline.AttentionCore, "prefill"},
	{"dsa_indexer", roofline.Indexer, ""},
	{"kv_cache_write", roofline.KVWrite, ""},
	{"kv_cache_copy", roofline.Memcpy, ""},
	{"rope", roofline.Rope, ""},
	{"norm", roofline.Norm, ""},
	{"norm_rope_fused", roofline.Rope, ""},
	{"rope_quant_fused", roofline.Rope, ""},
	{"activation", roofline.Activation, ""},
	{"activation_quant_fused", roofline.Activation, ""},
	{"quantize", roofline.Quantize, ""},
	{"sampling", roofline.Sampling, ""},
	{"spec_decode", roofline.Sampling, "decode"},
	{"embedding", roofline.Embedding, ""},
	{"allreduce_custom", roofline.AllReduce, ""},
	{"allreduce_norm_fused", roofline.AllReduce, ""},
	{"allreduce_moe_fused", roofline.AllReduce, ""},
	{"allreduce_nccl", roofline.AllReduce, ""},
	{"allreduce_nvls", roofline.AllReduce, ""},
	{"allgather", roofline.AllGather, ""},
	{"reduce_scatter", roofline.ReduceScatter, ""},
	{"broadcast", roofline.Other, ""},
	{"send_recv", roofline.P2P, ""},
	{"collective_symmetric", roofline.Other, ""},
	{"collective_unknown", roofline.Other, ""},
	{"alltoall_ep", roofline.AllToAll, ""},
	{"ssm_gdn", roofline.SSM, ""},
	{"ssm_conv1d", roofline.SSM, ""},
	{"hyper_connection", roofline.Other, ""},
	{"step_metadata", roofline.Elementwise, ""},
	{"softmax", roofline.Elementwise, ""},
	{"sort_topk", roofline.Elementwise, ""},
	{"histogram", roofline.Elementwise, ""},
	{"gather", roofline.Elementwise, ""},
	{"scatter", roofline.Elementwise, ""},
	{"copy_cast", roofline.Elementwise, ""},
	{"elementwise", roofline.Elementwise, ""},
	{"elementwise_fused", roofline.Elementwise, ""},
	{"reduce", roofline.Elementwise, ""},
	{"scan", roofline.Elementwise, ""},
	{"random", roofline.Elementwise, ""},
	{"fill", roofline.Memset, ""},
	{"memcpy", roofline.Memcpy, ""},
	{"memset", roofline.Memset, ""},
	{"weight_repack", roofline.Other, ""},
	{"conv", roofline.Other, ""},
	{"training", roofline.Other, ""},
}

// lookupWord is a word's component and phase. A component's own name stands
// for itself.
func lookupWord(w word) (c roofline.Component, phase string, ok bool) {
	f := w.family()
	for _, e := range families {
		if e.word == f {
			return e.component, e.phase, true
		}
	}
	for _, e := range roofline.Components {
		if string(e.Name) == string(w) {
			return e.Name, "", true
		}
	}
	return "", "", false
}

// generic says whether w is an elementary operation that belongs to whatever
// surrounds it.
func (w word) generic() bool {
	switch w.family() {
	case "softmax", "sort_topk", "histogram", "gather", "scatter", "copy_cast",
		"elementwise", "elementwise_fused", "reduce", "scan", "random", "fill":
		return true
	}
	return false
}
