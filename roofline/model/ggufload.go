package model

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/model/gguf"
	"decodegap/roofline/nearest"
	"decodegap/roofline/unit"
)

// ggufArch says how a GGUF architecture reads as one of our families.
type ggufArch struct {
	name   string // general.architecture
	as     string // the architecture's name in a config.json
	mixed  string // its name where the file has experts, if another
	router string // module path of the router below a layer
	expert string // module path of the experts below a layer
	fields map[string]string
	names  map[string]string // tensor names that differ from ggufNames
}

// ggufArchs are the GGUF architectures that are known. To add one, name its
// family and what it spells differently.
var ggufArchs = []ggufArch{
	{name: "llama", as: "LlamaForCausalLM", mixed: "MixtralForCausalLM", router: "block_sparse_moe.gate", expert: "block_sparse_moe.experts",
		fields: map[string]string{"feed_forward_length": "intermediate_size"}},
	{name: "qwen2", as: "Qwen2ForCausalLM"},
	{name: "qwen3", as: "Qwen3ForCausalLM"},
	{name: "qwen3moe", as: "Qwen3MoeForCausalLM"},
	{name: "phi3", as: "Phi3ForCausalLM", names: map[string]string{"attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}},
	{name: "gemma3", as: "Gemma3ForCausalLM", names: map[string]string{
		"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm"}},
	{name: "gpt-oss", as: "GptOssForCausalLM", router: "mlp.router", names: map[string]string{
		"post_attention_norm": "post_attention_layernorm", "attn_sinks": "self_attn.sinks",
		"ffn_gate_exps.bias": "mlp.experts.gate_up_proj_bias", "ffn_up_exps.bias": "mlp.experts.gate_up_proj_bias",
		"ffn_down_exps.bias": "mlp.experts.down_proj_bias"}},
	{name: "glm4moe", as: "Glm4MoeForCausalLM", names: map[string]string{"post_attention_norm": "post_attention_layernorm"}},
	{name: "deepseek2", as: "DeepseekV3ForCausalLM"},
	{name: "minimax-m2", as: "MiniMaxM2ForCausalLM", router: "block_sparse_moe.gate", expert: "block_sparse_moe.experts"},
}

// ggufFields are the metadata keys below the architecture's name, as fields of
// a config.json.
var ggufFields = map[string]string{
	"embedding_length":             "hidden_size",
	"block_count":                  "num_hidden_layers",
	"context_length":               "max_position_embeddings",
	"feed_forward_length":          "intermediate_size",
	"attention.head_count":         "num_attention_heads",
	"attention.head_count_kv":      "num_key_value_heads",
	"attention.key_length":         "head_dim",
	"attention.sliding_window":     "sliding_window",
	"attention.q_lora_rank":        "q_lora_rank",
	"attention.kv_lora_rank":       "kv_lora_rank",
	"rope.dimension_count":         "qk_rope_head_dim",
	"expert_count":                 "num_local_experts",
	"expert_used_count":            "num_experts_per_tok",
	"expert_feed_forward_length":   "moe_intermediate_size",
	"expert_shared_count":          "n_shared_experts",
	"leading_dense_block_count":    "first_k_dense_replace",
	"nextn_predict_layers":         "num_nextn_predict_layers",
	"attention.indexer.head_count": "index_n_heads",
	"attention.indexer.key_length": "index_head_dim",
	"attention.indexer.top_k":      "index_topk",
}

// ggufNames are tensor names below "blk.N." as module paths below a layer.
var ggufNames = map[string]string{
	"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
	"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
	"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
	"attn_q_a": "self_attn.q_a_proj", "attn_q_b": "self_attn.q_b_proj", "attn_kv_a_mqa": "self_attn.kv_a_proj_with_mqa",
	"attn_kv_b": "self_attn.kv_b_proj", "attn_k_b": "self_attn.kv_b_proj", "attn_v_b": "self_attn.kv_b_proj",
	"attn_q_a_norm": "self_attn.q_a_layernorm", "attn_kv_a_norm": "self_attn.kv_a_layernorm",
	"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
	"ffn_gate_shexp": "mlp.shared_experts.gate_proj", "ffn_up_shexp": "mlp.shared_experts.up_proj", "ffn_down_shexp": "mlp.shared_experts.down_proj",
	"exp_probs_b": "mlp.gate.e_score_correction_bias",
}

// loadGGUF reads a .gguf file, or all parts of a split one. Everything a step
// reads stands in it, so no other file is needed.
func loadGGUF(path string, opt Options) (*Loaded, error) {
	f, err := gguf.ReadFile(path)
	if err != nil {
		return nil, err
	}
	arch, err := findGGUF(f.Architecture)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	config, err := arch.config(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c, err := parseConfig(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h := arch.headers(f)
	d, err := build(strings.TrimSuffix(filepath.Base(path), ".gguf"), c, unquantized(FP16), h, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: metadata: %w", path, err)
	}
	if len(f.Missing) > 0 {
		note := fmt.Sprintf("%d parts of the model are missing (%s)", len(f.Missing), few(f.Missing))
		if f.MissingTensors > 0 {
			note += fmt.Sprintf(": their %d tensors are counted in FP16", f.MissingTensors)
		}
		d.Notes = append(d.Notes, note)
	}
	if len(f.Truncated) > 0 {
		d.Notes = append(d.Notes, "files that end before their data, as a download cut short does: "+few(f.Truncated))
	}
	l := &Loaded{Decoder: d}
	for i, name := range f.Files {
		role := "tensors"
		if i == 0 {
			role = "model"
		}
		l.Sources = append(l.Sources, Source{Path: filepath.Join(filepath.Dir(path), name), Role: role})
	}
	return l, nil
}

func findGGUF(name string) (ggufArch, error) {
	var known []string
	for _, a := range ggufArchs {
		if a.name == name {
			return a, nil
		}
		known = append(known, a.name)
	}
	return ggufArch{}, fmt.Errorf("unknown GGUF architecture %q: known are %s", name, strings.Join(known, ", ")+hintOf(name, known))
}

func hintOf(name string, known []string) string {
	if near := nearest.Names(name, known); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}

// config writes the metadata as the fields of a config.json.
func (a ggufArch) config(f *gguf.File) ([]byte, error) {
	c := map[string]any{"architectures": []string{a.as}}
	for key, field := range ggufFields {
		if v, ok := f.Int(a.name + "." + key); ok {
			c[field] = v
		} else if list, ok := f.Ints(a.name + "." + key); ok && len(list) > 0 {
			if !same(list) {
				return nil, fmt.Errorf("%s.%s differs from layer to layer, which this family's reading does not know", a.name, key)
			}
			c[field] = list[0]
		}
	}
	if n, ok := c["num_local_experts"].(int64); ok && n > 0 && a.mixed != "" {
		c["architectures"] = []string{a.mixed}
	} else if !ok || n == 0 {
		delete(c, "num_local_experts")
	}
	next, ok1 := c["num_nextn_predict_layers"].(int64)
	if blocks, ok2 := c["num_hidden_layers"].(int64); ok1 && ok2 {
		c["num_hidden_layers"] = blocks - next // GGUF counts MTP layers as blocks
	}
	if a.name == "deepseek2" || a.name == "glm4moe" {
		// A key that is not there is none of them (llama.cpp src/llama-model.cpp,
		// load_hparams), not what a configuration class would take.
		for _, field := range []string{"first_k_dense_replace", "n_shared_experts"} {
			if _, ok := c[field]; !ok {
				c[field] = 0
			}
		}
	}
	a.latent(f, c)
	has := map[string]bool{}
	for _, t := range f.Tensors {
		has[t.Name] = true
		if t.Name == "token_embd.weight" && len(t.Shape) == 2 {
			c["vocab_size"] = t.Shape[1]
		}
	}
	if _, ok := c["vocab_size"]; !ok {
		if n, ok := f.Len("tokenizer.ggml.tokens"); ok {
			c["vocab_size"] = n
		}
	}
	c["tie_word_embeddings"] = !has["output.weight"] && len(f.Missing) == 0
	c["attention_bias"] = has["blk.0.attn_q.bias"]
	c["use_qk_norm"] = has["blk.0.attn_q_norm.weight"]
	if a.name == "gpt-oss" {
		c["intermediate_size"] = c["moe_intermediate_size"]
	}
	if a.name == "minimax-m2" {
		c["intermediate_size"] = c["moe_intermediate_size"]
	}
	return json.Marshal(c)
}

// latent derives MLA's head sizes: key_length_mla and value_length_mla, or in
// older files key_length and value_length, are those of one uncompressed head.
func (a ggufArch) latent(f *gguf.File, c map[string]any) {
	rope, ok := c["qk_rope_head_dim"].(int64)
	if _, mla := c["kv_lora_rank"]; !mla || !ok {
		return
	}
	for _, keys := range [][2]string{{"attention.key_length_mla", "attention.value_length_mla"}, {"attention.key_length", "attention.value_length"}} {
		k, ok1 := f.Int(a.name + "." + keys[0])
		v, ok2 := f.Int(a.name + "." + keys[1])
		if ok1 && ok2 {
			c["qk_nope_head_dim"], c["v_head_dim"] = k-rope, v
			return
		}
	}
}

func same(list []int64) bool {
	for _, v := range list {
		if v != list[0] {
			return false
		}
	}
	return true
}

// headers gives the tensors under the module paths the family asks for.
func (a ggufArch) headers(f *gguf.File) *headers {
	h := &headers{modules: map[string]*stored{}, layers: "model", rooted: true}
	for _, t := range f.Tensors {
		m := a.module(t.Name)
		s := h.modules[m]
		if s == nil {
			s = &stored{format: ggufFormat(t.Type)}
			h.modules[m] = s
			h.sorted = append(h.sorted, m)
		}
		n := int64(1)
		for _, d := range t.Shape {
			n *= d
		}
		s.bytes += t.Bytes
		s.weights += n
		s.format.Bytes = unit.Bytes(s.bytes) / unit.Bytes(max(s.weights, 1))
	}
	slices.Sort(h.sorted)
	return h
}

// module is the path of a tensor in the family's own names.
func (a ggufArch) module(name string) string {
	switch name {
	case "token_embd.weight":
		return "model.embed_tokens"
	case "output.weight":
		return "lm_head"
	case "output_norm.weight":
		return "model.norm"
	}
	rest, ok := strings.CutPrefix(name, "blk.")
	number, rest, ok2 := strings.Cut(rest, ".")
	if !ok || !ok2 {
		return name
	}
	layer := "model.layers." + number + "."
	if m, ok := a.names[rest]; ok {
		return layer + m
	}
	base, part, _ := strings.Cut(rest, ".")
	suffix := ""
	if part == "bias" {
		suffix = ".bias"
	}
	router, expert := a.router, a.expert
	if router == "" {
		router = "mlp.gate"
	}
	if expert == "" {
		expert = "mlp.experts"
	}
	switch base {
	case "ffn_gate_inp":
		return layer + router + suffix
	case "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps":
		return layer + expert + "." + base + suffix
	}
	if m, ok := a.names[base]; ok {
		return layer + m + suffix
	}
	if m, ok := ggufNames[base]; ok {
		return layer + m + suffix
	}
	return name
}

// ggufFormat is how a GGUF type is stored and multiplied: quantized types meet
// 8-bit activations, block-scaled FP4 its own unit.
func ggufFormat(t gguf.Type) Format {
	f := Format{Name: t.Name, Bytes: unit.Bytes(t.Bytes) / unit.Bytes(max(t.Block, 1)), Math: roofline.INT8}
	switch t.Name {
	case "F32", "F64", "F16", "BF16":
		f.Math = roofline.BF16
	case "MXFP4", "NVFP4":
		f.Math = roofline.FP4
	}
	return f
}
