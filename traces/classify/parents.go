package classify

import "regexp"

// maxParents bounds how many operators above a kernel are looked at.
const maxParents = 32

// parentRules say what an operator, annotation or module above a kernel
// means. The innermost name that a rule matches wins; rules are ordered.
// Module names are those of Hugging Face checkpoints, which engines keep.
var parentRules = []struct {
	pattern *regexp.Regexp
	class   string // component or class word
	gemms   bool   // may name a matrix product
}{
	{regexp.MustCompile(`(^|[./: ])(q|k|v|qkv|q_a|q_b|kv_a|kv_b|q_[ab]|kv_a_proj_with_mqa|fused_qkv_a|W_pack|c_attn|query_key_value)(_proj)?(_with_mqa)?(_\d+)?$`), "attention.qkv", true},
	{regexp.MustCompile(`(^|[./: ])(o_proj|out_proj|attention\.dense|attn\.c_proj)(_\d+)?$`), "attention.out", true},
	{regexp.MustCompile(`(^|[./: ])shared_experts?(_gate|\.|$)`), "moe.shared", true},
	{regexp.MustCompile(`(^|[./: ])((mlp|moe|block_sparse_moe|feed_forward)\.(gate|router)|router)(_\d+)?$`), "moe.router", true},
	{regexp.MustCompile(`(^|[./: ])experts?(\.|$)|fused_moe|FusedMoE|moe_forward|_grouped_mm$`), "moe.experts", true},
	{regexp.MustCompile(`(^|[./: ])(gate_proj|up_proj|gate_up_proj|down_proj|mlp\.c_fc|mlp\.c_proj|fc[12])(_\d+)?$`), "mlp.dense", true},
	{regexp.MustCompile(`(^|[./: ])(lm_head|embed_out|output_layer)(_\d+)?$|LogitsProcessor`), "lm_head", true},
	{regexp.MustCompile(`(^|[./: ])indexer(\.|$)`), "attention.indexer", true},
	{regexp.MustCompile(`rotary_emb|RotaryEmbedding|apply_rotary`), "rope", true},
	{regexp.MustCompile(`(^|[./: ])\w*(layernorm|layer_norm|rms_norm|rmsnorm|q_norm|k_norm|batch_norm|group_norm)(_\d+)?$|RMSNorm|LayerNorm`), "norm", false},
	{regexp.MustCompile(`scaled_dot_product|_flash_attention_forward|_cudnn_attention|_efficient_attention|unified_attention(_with_output)?$|flash_attn.*varlen|paged_attention`), "attention_prep", true},
	{regexp.MustCompile(`^aten::(silu|gelu|relu)_?$|act_fn|SiluAndMul|silu_and_mul`), "activation", false},
	{regexp.MustCompile(`^aten::(embedding|embedding_bag)$|embed_tokens|VocabParallelEmbedding`), "embedding", false},
	{regexp.MustCompile(`^aten::(argmax|multinomial|exponential_)$|(^|[./: ])sampler(\.|$)|Sampler|gpu_model_runner: sample`), "sampling", false},
	{regexp.MustCompile(`reshape_and_cache|^aten::index_copy_?$`), "kv_cache_write", false},
	{regexp.MustCompile(`^(aten|vllm|_C|sgl_kernel)::.*(fp8_quant|_quantize|per_token_quant)`), "quantize", false},
	{regexp.MustCompile(`(^|:)(nccl:)?_?(all_?reduce)_?$|c10d::allreduce_`), "allreduce_nccl", false},
	{regexp.MustCompile(`(^|:)(nccl:)?_?(all_?gather)\w*$|c10d::_?allgather`), "allgather", false},
	{regexp.MustCompile(`(^|:)(nccl:)?_?(reduce_?scatter)\w*$|c10d::_?reduce_scatter`), "reduce_scatter", false},
	{regexp.MustCompile(`(^|:)(nccl:)?_?all_?to_?all\w*$|c10d::alltoall`), "alltoall_ep", false},
	{regexp.MustCompile(`nccl:(send|recv)|c10d::(send|recv)`), "send_recv", false},
}

// draftScope is an annotation of work for a speculative draft model.
var draftScope = regexp.MustCompile(`gpu_model_runner: draft|(^|[./: ])(draft_model|mtp|eagle)(\.|_|$)|EagleWorker`)

// collectives are the words a parent may put in place of a kernel that hides
// which collective it is.
func collective(class string) bool {
	switch class {
	case "allreduce_nccl", "allgather", "reduce_scatter", "alltoall_ep", "send_recv":
		return true
	}
	return false
}

// byParents uses the operators above a kernel where the name leaves it open:
// for matrix products, elementary operations, unknown names and collectives
// that hide what they do.
func (s *sequence) byParents() {
	for i := range s.items {
		it := &s.items[i]
		if it.final || len(it.k.Parent) == 0 {
			continue
		}
		chain := it.k.Parent
		if len(chain) > maxParents {
			chain = chain[:maxParents]
		}
		hidden := it.word == "collective_unknown"
		open := it.isMatmul() || it.word.generic() || it.word == ""
		if !open && !hidden {
			continue
		}
		for _, name := range chain {
			if len(name) > maxName {
				name = name[:maxName]
			}
			class, ok := s.parent(name, it.isMatmul(), hidden)
			if !ok {
				continue
			}
			it.setWord(word(class), "operator "+clip(name))
			break
		}
	}
}

// parent is the class that the first matching rule gives for one name.
func (s *sequence) parent(name string, gemm, hidden bool) (string, bool) {
	key := parentKey{name, gemm, hidden}
	if class, ok := s.parents[key]; ok {
		return class, class != ""
	}
	found := ""
	for _, r := range parentRules {
		if gemm && !r.gemms || collective(r.class) != hidden {
			continue
		}
		if r.pattern.MatchString(name) {
			found = r.class
			break
		}
	}
	if len(s.parents) >= maxSeen {
		clear(s.parents)
	}
	s.parents[key] = found
	return found, found != ""
}

type parentKey struct {
	name         string
	gemm, hidden bool
}

// clip bounds a name that goes into a reason.
func clip(name string) string {
	if len(name) > 80 {
		return name[:77] + "..."
	}
	return name
}
