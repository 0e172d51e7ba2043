package classify

import (
	"strings"
	"testing"

	"decodegap/roofline"
)

// Names of kernels as profilers write them, shortened where only the head
// matters, each with the trace kind it was read in and why it misleads.
var occurrences = []struct {
	name string
	want roofline.Component
	word string
	why  string
}{
	{"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2> > > >(flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2> >::Params)", roofline.AttentionCore, "attention_unified", "device_kernel is attention by its template argument (FlashAttention 3)"},
	{"void cutlass::device_kernel<cutlass::fmha::kernel::Sm100FmhaMlaKernelTmaWarpspecialized<cutlass::fmha::Shape> >(cutlass::fmha::Params)", roofline.AttentionCore, "mla_decode", "device_kernel is MLA by its template argument"},
	{"_ZN7cutlass13device_kernelIN2at4cuda6detail25enable_3x_kernel_for_sm9xINS_4gemm6kernel13GemmUniversalINS5_17GroupProblemShapeIN4cute5tupleIJiiiEEEEEN", roofline.MoEExperts, "moe_gemm", "cut mangled name of a grouped product (qwen3moe_graph)"},
	{"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_transOut_schedP2x1x2x3_biasM_bN_tma_tmaOpt_clmp_swiGlu_dynBatch_sm100f", roofline.MoEExperts, "moe_gemm_fp4", "bmm is no attention product (vLLM B200)"},
	{"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_transOut_schedP2x1x2x3_biasM_bN_tmaOpt_clmp_dynBatch_sm100f", roofline.MoEExperts, "moe_gemm_fp4", "the down product of the same (vLLM B200)"},
	{"_combined_routing_memset", roofline.MoERouter, "moe_routing", "a memset that is routing (vLLM MI300X)"},
	{"_combined_routing_compute", roofline.MoERouter, "moe_routing", "compute is no communication (vLLM MI300X)"},
	{"_sum_bitmatrix_rows", roofline.MoERouter, "moe_routing", "a sum that is routing (vLLM MI300X)"},
	{"_topk_forward", roofline.MoERouter, "moe_routing", "a top-k that is routing (vLLM MI300X)"},
	{"topk_transform_512", roofline.Indexer, "dsa_indexer", "a top-k of the sparse indexer"},
	{"void flashinfer::sampling::TopKSamplingFromProbKernel<1024u, float, int>(float*, int*)", roofline.Sampling, "sampling", "a top-k that samples"},
	{"reduce_segments", roofline.AttentionCore, "attention_combine", "reduce without a collective (vLLM MI300X)"},
	{"void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 3, false>(__hip_bfloat16*, float const*)", roofline.AttentionCore, "attention_combine", "reduce of attention (SGLang MI300X)"},
	{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4>)", roofline.Elementwise, "reduce", "reduce of PyTorch alone (qwen3 eager)"},
	{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<c10::BFloat16, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4>)", roofline.Sampling, "sampling", "reduce that picks a token (llama8b)"},
	{"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)", roofline.AllReduce, "allreduce_custom", "reduce that is an all-reduce"},
	{"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", roofline.Other, "collective_unknown", "hides the collective (ResNet MI300X)"},
	{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", roofline.AllReduce, "allreduce_nccl", "spins for the slowest rank (llama70b)"},
	{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", roofline.AllGather, "allgather", "logits (llama70b)"},
	{"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", roofline.ReduceScatter, "reduce_scatter", "reduce and scatter in one word"},
	{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", roofline.P2P, "send_recv", "pipeline stage"},
	{"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long, unsigned int**, unsigned long, unsigned long)", roofline.AllReduce, "allreduce_nvls", "no nccl in the name (vLLM B200)"},
	{"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<3, __nv_bfloat16, 8>(flashinfer::Params)", roofline.AllReduce, "allreduce_norm_fused", "the norm is inside"},
	{"compute_position_kernel", roofline.Elementwise, "step_metadata", "position is no rotary embedding"},
	{"void (anonymous namespace)::clamp_position_kernel<long>(long*, long const*, unsigned long)", roofline.Elementwise, "step_metadata", "the same (SGLang MI300X)"},
	{"prepare_varlen_num_blocks_kernel", roofline.AttentionCore, "attention_metadata", "blocks of a schedule, no product"},
	{"_copy_page_indices_kernel", roofline.Elementwise, "step_metadata", "a copy of indices, not of cache (vLLM B200)"},
	{"create_flashinfer_kv_indices_triton", roofline.Elementwise, "step_metadata", "kv in the name of index work (SGLang MI300X)"},
	{"triton_red_fused__to_copy__unsafe_view_add_mean_mul_pow_rsqrt_14", roofline.Norm, "norm", "mean and rsqrt in Inductor's list (llama8b)"},
	{"triton_red_fused__to_copy_add_embedding_mean_mul_pow_rsqrt_0", roofline.Norm, "norm", "embedding fused into the first norm (llama8b)"},
	{"triton_poi_fused__unsafe_view_mul_silu_8", roofline.Activation, "activation", "silu in Inductor's list (llama8b)"},
	{"triton_poi_fused_0", roofline.Elementwise, "elementwise", "fused_0 says nothing (vLLM MI300X)"},
	{"triton_poi_fused__unsafe_view_add_arange_index_copy_transpose_view_3", roofline.KVWrite, "kv_cache_write", "static cache (llama8b)"},
	{"triton_poi_fused__grouped_mm__to_copy__unsafe_view_add_embedding_floor_divide_ge_index_masked_fill_mean_mul_pow_rsqrt_sort_transpose_unsqueeze_view_11", roofline.MoEDispatch, "moe_permute", "mean and rsqrt of a dispatch that repeats the norm (qwen3moe_graph)"},
	{"triton_poi_fused__grouped_mm_ge_masked_fill_mul_silu_split_transpose_unsqueeze_12", roofline.Activation, "activation", "mm in the name of an activation (qwen3moe_graph)"},
	{"triton_poi_fused_constant_pad_nd_moe_forward_0", roofline.MoEDispatch, "moe_permute", "pads tokens (vLLM MI300X)"},
	{"triton_per_fused__scaled_dot_product_cudnn_attention__to_copy__unsafe_view_add_arange_bmm_cat_clone_cos_expand_le_mean_mul_neg_pow_rsqrt_scalar_tensor_sin_slice_transpose_unsqueeze_view_where_2", roofline.Rope, "norm_rope_fused", "attention and bmm in the name of the query's norm and rotation (qwen3moe_graph)"},
	{"cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35_16x128x128_1x4x1_cga1x1x1_kernel0_0", roofline.AttentionCore, "attention_unified", "fprop is no convolution here (llama8b)"},
	{"void cudnn::fusion::lean_reduction_kernel<false, false, false>(void*, float*, float*)", roofline.AttentionCore, "attention_combine", "reduction of attention's splits (llama8b)"},
	{"void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, false, 0, 0>(cudnnTensorStruct)", roofline.Other, "conv", "no decode step has one"},
	{"nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_TNT", roofline.Other, "gemm_bf16", "a product alone has no place (llama8b)"},
	{"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bfloat16, false>(cublasLt::cublasSplitKParams<float>)", roofline.Other, "gemm_splitk_reduce", "reduce that belongs to a product (llama8b)"},
	{"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN_LDSB1", roofline.Other, "gemm_bf16", "a product alone (SGLang MI300X)"},
	{"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8::Params)", roofline.Other, "gemm", "Kernel2 is a product; relu is no activation kernel (BERT H100)"},
	{"void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*, long*, float*)", roofline.AllToAll, "alltoall_ep", "dispatch by its namespace"},
	{"void deep_ep::internode_ll::combine<false, 8, 7168, 9>(void*)", roofline.AllToAll, "alltoall_ep", "combine by its namespace"},
	{"void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<(int)128, (int)64, (int)128, (int)4>, (int)4>(Flash_fwd_params)", roofline.AttentionCore, "attention_combine", "combine of attention, nsys spelling"},
	{"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*)", roofline.Norm, "norm", "return type in front (vLLM B200)"},
	{"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib", roofline.Norm, "norm", "quant in the name of a norm, mangled (SGLang MI300X)"},
	{"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassI", roofline.Norm, "norm", "cut mangled name (vLLM MI300X)"},
	{"_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i", roofline.Activation, "activation", "mangled (SGLang MI300X)"},
	{"void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous namespace)::StoreKVCacheParams)", roofline.KVWrite, "kv_cache_write", "SGLang MI300X"},
	{"void vllm::concat_and_cache_mla_kernel<__nv_bfloat16, unsigned char>(__nv_bfloat16 const*)", roofline.KVWrite, "kv_cache_write", "mla in the name of a cache write"},
	{"kernel_unified_attention_3d", roofline.AttentionCore, "attention_decode", "vLLM MI300X"},
	{"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", roofline.AttentionCore, "attention_unified", "PagedKv is read, not written (vLLM B200)"},
	{"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", roofline.MoEExperts, "moe_gemm_fp4", "swiglu inside an expert product (vLLM MI300X)"},
	{"_finalize_matmul_scatter_bf16", roofline.MoECombine, "moe_finalize", "matmul in the name of the combine (vLLM MI300X)"},
	{"void moe::dev::routing::routingIndicesOffsetsKernel<moe::dev::routing::routingRenormalize::KernelParams<__nv_bfloat16, __nv_bfloat16, 128, false, true, true> >(int)", roofline.MoERouter, "moe_routing", "vLLM B200"},
	{"void at::cuda::detail::prepare_grouped_gemm_data<cutlass::bfloat16_t, cutlass::bfloat16_t>(cutlass::bfloat16_t*)", roofline.MoEExperts, "moe_gemm_setup", "gemm in the name of pointer work (qwen3moe)"},
	{"void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, long, bool)", roofline.Elementwise, "gather", "a gather alone may be anything (SGLang MI300X)"},
	{"void at::native::vectorized_elementwise_kernel<(int)4, at::native::<unnamed>::silu_kernel(at::TensorIteratorBase &)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 6)], std::array<char *, (unsigned long)2>>(int, T2, T3)", roofline.Activation, "activation", "nsys spelling (DeepSeek-OCR)"},
	{"Memcpy DtoD (Device -> Device)", roofline.Memcpy, "memcpy", "a copy (all)"},
	{"__amd_rocclr_copyBuffer", roofline.Memcpy, "memcpy", "a copy that looks like a kernel (ROCm)"},
	{"Memset (Device)", roofline.Memset, "memset", "a fill (all)"},
	{"my_own_kernel", roofline.Other, "", "no rule knows it"},
}

func TestOccurrences(t *testing.T) {
	if len(occurrences) < 60 {
		t.Fatalf("%d occurrences, want at least 60", len(occurrences))
	}
	c := New()
	for _, o := range occurrences {
		got := c.Kernel(Kernel{Name: o.name, InGraph: true})
		if got.Component != o.want || got.Word != o.word {
			t.Errorf("%.90s\n  %s (%s), want %s (%s): %s", o.name, got.Component, got.Word, o.want, o.word, o.why)
		}
		if got.Known != (o.want != roofline.Other) {
			t.Errorf("%.90s: known %v", o.name, got.Known)
		}
	}
}

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"void f<(int)4, (bool)1>(int, T2 *)", "f<4, 1>"},
		{"void a::<unnamed>::g(int)", "a::{anon}::g"},
		{"void (anonymous namespace)::g<int>(int) const", "{anon}::g<int>"},
		{"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, (bool)0>(T13)", "internal::gemvx::kernel<int, 0>"},
		{"_Z3addPfS_", "add"},
		{"_ZNcut", "_ZNcut"},
		{"kernel.kd", "kernel"},
		{"void h<x>(at::native::ReduceOp<float, at::nat", "h<x>"},
		{"Memcpy DtoD (Device -> Device)", "Memcpy DtoD"},
		{"", ""},
	} {
		if got := Normalize(c.in); got != c.want {
			t.Errorf("Normalize(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := Normalize(strings.Repeat("x", 1<<20)); len(got) > maxNormal {
		t.Errorf("%d bytes, want at most %d", len(got), maxNormal)
	}
}

func TestPrecision(t *testing.T) {
	for name, want := range map[string]string{
		"nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT":      "bf16",
		"nvjet_sm100_qqtst_64x8_64x16_2x1_v_bz_TNT":   "fp8",
		"nvjet_hsh_64x8_64x16_2x1_v_bz_TNT":           "fp16",
		"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT16x16": "bf16",
		"Cijk_Alik_Bljk_F8BS_BH_Bias_MT16x16":         "fp8",
		"kernel_unified_attention_3d":                 "",
		"f<__nv_bfloat16, c10::Float8_e4m3fn>":        "fp8",
	} {
		if got := precisionOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A step of two layers with tensor parallelism, by name and order alone.
func TestLayerOrder(t *testing.T) {
	const (
		gemm = "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT"
		splK = "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_TNT"
		redK = "void cublasLt::splitKreduce_kernel<32, 16>(int)"
		norm = "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)"
		rope = "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(int)"
		kv   = "void vllm::reshape_and_cache_flash_kernel<int>(int)"
		attn = "kernel_unified_attention_3d"
		comb = "reduce_segments"
		ar   = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)"
		act  = "void vllm::act_and_mul_kernel<c10::BFloat16>(int)"
		emb  = "void at::native::vectorized_gather_kernel<16, long>(char*)"
		arg  = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float> > >(int)"
		topk = "_topk_forward"
		moe  = "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1"
	)
	type kc struct {
		name string
		want roofline.Component
	}
	dense := []kc{{norm, roofline.Norm}, {splK, roofline.AttentionQKV}, {redK, roofline.AttentionQKV},
		{norm, roofline.Norm}, {norm, roofline.Norm}, // query and key norm
		{rope, roofline.Rope}, {kv, roofline.KVWrite}, {attn, roofline.AttentionCore}, {comb, roofline.AttentionCore},
		{gemm, roofline.AttentionOut}, {ar, roofline.AllReduce}, {norm, roofline.Norm},
		{gemm, roofline.MLPDense}, {act, roofline.Activation}, {gemm, roofline.MLPDense}, {ar, roofline.AllReduce}}
	experts := append(append([]kc{}, dense[:12]...),
		kc{gemm, roofline.MoEShared}, kc{act, roofline.Activation}, kc{gemm, roofline.MoEShared},
		kc{gemm, roofline.MoERouter}, kc{topk, roofline.MoERouter}, kc{moe, roofline.MoEExperts}, kc{ar, roofline.AllReduce})
	step := append([]kc{{emb, roofline.Embedding}}, dense...)
	step = append(step, experts...)
	step = append(step, kc{norm, roofline.Norm}, kc{gemm, roofline.LMHead}, kc{arg, roofline.Sampling})
	var names []string
	var want []roofline.Component
	for range 3 { // three steps in a row: the head of one must not join the next
		for _, k := range step {
			names, want = append(names, k.name), append(want, k.want)
		}
	}
	for i, got := range New().Layer(names) {
		if got.Component != want[i] {
			t.Errorf("kernel %d of %d, %.60s: %s (%s), want %s", i, len(names), names[i], got.Component, got.Why, want[i])
		}
	}
}

func TestParentsAndShapes(t *testing.T) {
	const gemm = "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT"
	c := New().WithModel([]Shape{
		{roofline.LMHead, 151936, 1024}, {roofline.AttentionOut, 1024, 2048},
		{roofline.MLPDense, 3072, 1024}, {roofline.MLPDense, 1024, 3072},
		{roofline.AttentionQKV, 512, 512}, {roofline.AttentionOut, 512, 512},
	})
	for _, tt := range []struct {
		k    Kernel
		want roofline.Component
	}{
		{Kernel{Name: gemm, Parent: []string{"aten::mm", "aten::linear", "model.layers.0.self_attn.q_proj"}}, roofline.AttentionQKV},
		{Kernel{Name: gemm, Parent: []string{"aten::mm", "model.layers.0.self_attn.o_proj"}}, roofline.AttentionOut},
		{Kernel{Name: gemm, Parent: []string{"model.layers.0.mlp.shared_expert.down_proj"}}, roofline.MoEShared},
		{Kernel{Name: gemm, Parent: []string{"model.layers.0.mlp.gate"}}, roofline.MoERouter},
		{Kernel{Name: gemm, Parent: []string{"aten::mm", "lm_head"}}, roofline.LMHead},
		{Kernel{Name: gemm, Parent: []string{"aten::mm", "aten::linear"}}, roofline.Other},
		{Kernel{Name: gemm, Dims: "[[1, 1024], [1024, 151936]]"}, roofline.LMHead},
		{Kernel{Name: gemm, Dims: "[[1024], [4, 2048], [2048, 1024], [], []]"}, roofline.AttentionOut},
		{Kernel{Name: gemm, Dims: "[[1, 1, 1024], [3072, 1024]]"}, roofline.MLPDense},
		{Kernel{Name: gemm, Dims: "[[1, 512], [512, 512]]"}, roofline.Other}, // two components share it
		{Kernel{Name: gemm, Dims: "[[1, 7], [7, 9]]"}, roofline.Other},
		{Kernel{Name: gemm, Dims: "]][[,x"}, roofline.Other},
		{Kernel{Name: "ncclDevKernel_Generic(int)", Parent: []string{"nccl:all_reduce", "record_param_comms"}}, roofline.AllReduce},
		{Kernel{Name: "ncclDevKernel_Generic(int)", Parent: []string{"nccl:_all_gather_base"}}, roofline.AllGather},
		{Kernel{Name: "void at::native::vectorized_gather_kernel<16, long>(char*)", Parent: []string{"aten::index_select", "aten::embedding"}}, roofline.Embedding},
		{Kernel{Name: gemm, Parent: []string{"aten::mm", "gpu_model_runner: draft"}}, roofline.Draft},
	} {
		if got := c.Kernel(tt.k); got.Component != tt.want {
			t.Errorf("%.40s %v %s: %s (%s), want %s", tt.k.Name, tt.k.Parent, tt.k.Dims, got.Component, got.Why, tt.want)
		}
	}
}

// A product's neighbours place it where the window holds the attention.
func TestNeighbours(t *testing.T) {
	got := New().Kernel(Kernel{Name: "nvjet_tst_64x8_TNT", Prev: []string{"kernel_unified_attention_2d"}, Next: []string{"void vllm::rms_norm_kernel<int>(int)"}})
	if got.Component != roofline.AttentionOut {
		t.Errorf("%s (%s), want %s", got.Component, got.Why, roofline.AttentionOut)
	}
	got = New().Kernel(Kernel{Name: "nvjet_tst_64x8_TNT", Prev: []string{"my_kernel"}, Next: []string{"my_kernel"}})
	if got.Known {
		t.Errorf("%s (%s), want an unclassified product", got.Component, got.Why)
	}
}

// The indexer's projections stand among attention's: neither is known.
func TestIndexerLeavesProjectionsOpen(t *testing.T) {
	gemm := "nvjet_tst_64x8_TNT"
	cs := New().Layer([]string{"void vllm::rms_norm_kernel<int>(int)", gemm, gemm, "sm90_fp8_paged_mqa_logits", "topk_transform_512", "flash_fwd_splitkv_mla_fp8_sparse_kernel", gemm, gemm, "void vllm::rms_norm_kernel<int>(int)"})
	for i, want := range map[int]roofline.Component{1: roofline.Other, 3: roofline.Indexer, 4: roofline.Indexer, 5: roofline.AttentionCore, 6: roofline.AttentionQKV, 7: roofline.AttentionOut} {
		if cs[i].Component != want {
			t.Errorf("%d: %s, want %s", i, cs[i].Component, want)
		}
	}
}

// Attention written out: product, bias, softmax, product, output projection.
func TestEagerAttention(t *testing.T) {
	const (
		gemm = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_execute_kernel__5x_cublas"
		norm = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)"
		soft = "void <unnamed>::softmax_warp_forward<float, float, float, (int)6, (bool)0, (bool)0>(T2 *, const T1 *, int, int)"
		add  = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, std::array<char *, (unsigned long)3>>(int, T2, T3)"
		topk = "void at::native::sbtopk::gatherTopK<float, unsigned int, (int)1, (bool)0>(int)"
	)
	want := []struct {
		name string
		c    roofline.Component
	}{
		{norm, roofline.Norm}, {gemm, roofline.AttentionQKV}, {gemm, roofline.AttentionQKV}, {gemm, roofline.AttentionQKV}, {gemm, roofline.AttentionCore},
		{add, roofline.AttentionCore}, {soft, roofline.AttentionCore}, {gemm, roofline.AttentionCore},
		{gemm, roofline.AttentionOut}, {add, roofline.Elementwise}, {norm, roofline.Norm},
		{gemm, roofline.MLPDense}, {gemm, roofline.MLPDense}, {norm, roofline.Norm}, {gemm, roofline.LMHead},
	}
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = w.name
	}
	for i, got := range New().Layer(names) {
		if got.Component != want[i].c {
			t.Errorf("%d %.40s: %s (%s), want %s", i, names[i], got.Component, got.Why, want[i].c)
		}
	}
	// The same softmax ahead of a top-k is a router's.
	for i, got := range New().Layer([]string{gemm, soft, topk, gemm, gemm}) {
		if got.Component == roofline.AttentionCore {
			t.Errorf("%d: a router taken for attention", i)
		}
	}
}
