package model

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const small = `"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100, "num_attention_heads": 4, "intermediate_size": 128`

// TestBadConfigurations gives one clear line for each fault.
func TestBadConfigurations(t *testing.T) {
	for _, c := range []struct{ name, config, side, want string }{
		{"not JSON", "{\n  \"a\": ]", "", "line 2, column 8: not JSON"},
		{"cut", `{"architectures": ["LlamaForCausalLM"]`, "", "ends too early"},
		{"a list", `[1]`, "", "expected an object, got array"},
		{"no architecture", `{` + small + `}`, "", "architectures"},
		{"unknown architecture", `{"architectures": ["LlamaForCausalLN"], ` + small + `}`, "", "did you mean LlamaForCausalLM"},
		{"missing field", `{"architectures": ["LlamaForCausalLM"], "hidden_size": 64}`, "", `field "num_hidden_layers": missing`},
		{"negative", `{"architectures": ["LlamaForCausalLM"], ` + strings.Replace(small, "64", "-64", 1) + `}`, "", `field "hidden_size": expected a whole number from 1`},
		{"fraction", `{"architectures": ["LlamaForCausalLM"], ` + strings.Replace(small, "64", "64.5", 1) + `}`, "", "whole number"},
		{"absurd", `{"architectures": ["LlamaForCausalLM"], ` + strings.Replace(small, "64", "1e300", 1) + `}`, "", "whole number"},
		{"text for a number", `{"architectures": ["LlamaForCausalLM"], ` + strings.Replace(small, "64", `"64"`, 1) + `}`, "", "expected a number"},
		{"heads do not divide", `{"architectures": ["LlamaForCausalLM"], "num_key_value_heads": 3, ` + small + `}`, "", "num_key_value_heads"},
		{"unknown method", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {"quant_method": "gptx"}, ` + small + `}`, "", `unknown quant_method "gptx": did you mean gptq?`},
		{"no method", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {}, ` + small + `}`, "", "quant_method is missing"},
		{"unknown algorithm", `{"architectures": ["LlamaForCausalLM"], ` + small + `}`, `{"quantization": {"quant_algo": "NVFP3"}}`, "did you mean NVFP4"},
		{"side file without its field", `{"architectures": ["LlamaForCausalLM"], ` + small + `}`, `{}`, `"quantization" is missing`},
		{"bad expression", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {"quant_method": "fp8", "ignore": ["re:("]}, ` + small + `}`, "", "exclude pattern"},
		{"groups that disagree", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}, "b": {"weights": {"num_bits": 8, "type": "float"}}}}, ` + small + `}`, "", "tensor headers"},
		{"a cache of unknown bits", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {"quant_method": "fp8", "kv_cache_scheme": {"num_bits": 3, "type": "float"}}, ` + small + `}`, "", `kv_cache_scheme of type "float" with 3 bits`},
		{"a bad target", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"a": {"targets": ["re:("], "weights": {"num_bits": 8, "type": "float"}}}}, ` + small + `}`, "", `config_groups "a": target "re:("`},
		{"a bad dynamic rule", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {"quant_method": "gptq", "bits": 4, "dynamic": {"-:(": {}}}, ` + small + `}`, "", `rule "-:("`},
		{"a list for dynamic rules", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {"quant_method": "gptq", "bits": 4, "dynamic": [1]}, ` + small + `}`, "", `expected an object of rules`},
		{"no module of a block", `{"architectures": ["LlamaForCausalLM"], "quantization_config": {"quant_method": "gptq", "bits": 4, "modules_in_block_to_quantize": [[]]}, ` + small + `}`, "", `0 names, expected`},
		{"another kind of layer", `{"architectures": ["LlamaForCausalLM"], "layer_types": ["full_attention", "linear_attention"], ` + small + `}`, "", `field "layer_types": entry 1: expected sliding_attention or full_attention, got "linear_attention"`},
		{"one architecture, not a list", `{"architectures": "LlamaForCausalLM", ` + small + `}`, "", "expected a list of strings"},
		{"too many layers", `{"architectures": ["LlamaForCausalLM"], ` + strings.Replace(small, `"num_hidden_layers": 2`, `"num_hidden_layers": 100000`, 1) + `}`, "", "above the limit"},
		{"10^12 layers", `{"architectures": ["LlamaForCausalLM"], ` + strings.Replace(small, `"num_hidden_layers": 2`, `"num_hidden_layers": 1000000000000`, 1) + `}`, "", `field "num_hidden_layers": expected a whole number from 1 to`},
		{"10^12 experts", `{"architectures": ["Qwen3MoeForCausalLM"], "num_experts": 1000000000000, "num_experts_per_tok": 8, "moe_intermediate_size": 64, ` + small + `}`, "", `field "num_experts": expected a whole number from 1 to`},
		{"too many experts", `{"architectures": ["MixtralForCausalLM"], "num_local_experts": 100000, "num_experts_per_tok": 2, ` + small + `}`, "", `field "num_local_experts": 100000 experts are above the limit of 2048`},
		{"more per token, in gpt-oss's words", `{"architectures": ["GptOssForCausalLM"], "num_local_experts": 4, "experts_per_token": 5, ` + small + `}`, "", `field "experts_per_token": 5 is more than the 4 experts`},
		{"too many parameters", `{"architectures": ["LlamaForCausalLM"], "hidden_size": 1000000, "num_hidden_layers": 4000, "vocab_size": 1000000, "num_attention_heads": 4, "intermediate_size": 1000000}`, "", "parameters, above the limit"},
		{"unknown letter", `{"architectures": ["NemotronHForCausalLM"], "hybrid_override_pattern": "MX", "mamba_num_heads": 4, "mamba_head_dim": 8, "n_groups": 1, "ssm_state_size": 16, "conv_kernel": 4, ` + small + `}`, "", "unknown letter"},
		{"experts on a latent", `{"architectures": ["NemotronHForCausalLM"], "hybrid_override_pattern": "ME", "mamba_num_heads": 4, "mamba_head_dim": 8, "n_groups": 1, "ssm_state_size": 16, "conv_kernel": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "moe_latent_size": 16, ` + small + `}`, "", "moe_latent_size"},
		{"pattern of another length", `{"architectures": ["NemotronHForCausalLM"], "hybrid_override_pattern": "M", ` + small + `}`, "", "1 letters for 2 layers"},
		{"layer_types of another length", `{"architectures": ["GptOssForCausalLM"], "layer_types": ["full_attention"], "num_local_experts": 4, "num_experts_per_tok": 2, ` + small + `}`, "", "1 entries for 2 layers"},
		{"more per token than there are", `{"architectures": ["MixtralForCausalLM"], "num_local_experts": 2, "num_experts_per_tok": 3, ` + small + `}`, "", "more than the 2 experts"},
	} {
		_, err := read(c.config, c.side)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", c.name, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has several lines: %v", c.name, err)
		}
	}
}

func TestInfinityIsRead(t *testing.T) {
	d, err := read(`{"architectures": ["LlamaForCausalLM"], "time_step_limit": [0.0, Infinity], `+small+`}`, "")
	if err != nil {
		t.Fatal(err)
	}
	if d.Layers != 2 {
		t.Errorf("got %d layers, want 2", d.Layers)
	}
}

func TestLoadFindsTheSideFile(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.json")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(config, `{"architectures": ["LlamaForCausalLM"], `+small+`}`)
	write(filepath.Join(dir, "hf_quant_config.json"), `{"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}}`)
	for _, ref := range []string{dir, config} {
		l, err := Load(ref, "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.BytesSource != "side-file" || l.KVType != "fp8" || len(l.Sources) != 2 || l.Name != filepath.Base(dir) {
			t.Errorf("%s: got %s, KV %s, sources %v, name %s", ref, l.BytesSource, l.KVType, l.Sources, l.Name)
		}
	}
	if _, err := Load(filepath.Join(dir, "other.json"), "", Options{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
}

// TestCatalogue counts every entry and compares with what was published.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Catalogue() {
		if seen[e.Name] || e.Source == "" || e.Of == "" || e.Class == "" {
			t.Errorf("%s: doubled, or without source, checkpoint or class", e.Name)
		}
		seen[e.Name] = true
		l, err := Load(e.Name, "", Options{})
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if e.Published > 0 {
			if off := float64(l.Params())/float64(e.Published) - 1; off > 0.03 || off < -0.03 {
				t.Errorf("%s: counted %d, published %d", e.Name, l.Params(), e.Published)
			}
		}
	}
	if len(seen) < 25 {
		t.Errorf("%d models in the catalogue, want at least 25", len(seen))
	}
}

func FuzzConfig(f *testing.F) {
	for _, e := range Catalogue() {
		f.Add(string(e.Config), string(e.SideFile))
	}
	f.Add(`{"architectures": ["LlamaForCausalLM"], "time_step_limit": [0.0, Infinity], `+small+`}`, "")
	for _, quant := range []string{
		`{"quant_method": "compressed-tensors", "config_groups": {"a": {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}}`,
		`{"quant_method": "gptq", "bits": 4, "dynamic": {"-:.*q_proj": {}, "+:.*": {"bits": 8}}, "modules_in_block_to_quantize": [["mlp.up_proj"]]}`,
		`{"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.layers.0.mlp": {"quant_algo": "FP8"}}}`,
	} {
		f.Add(`{"architectures": ["LlamaForCausalLM"], "quantization_config": `+quant+`, `+small+`}`, "")
	}
	f.Fuzz(func(t *testing.T, config, side string) {
		d, err := read(config, side)
		if err == nil && (d.Params() < 0 || d.ActiveParams() < 0) {
			t.Errorf("negative counts: %d, %d", d.Params(), d.ActiveParams())
		}
	})
}

// TestListsTooLongToMatch: every list is of a length that is read, but matching
// their entries against all experts would take hours.
func TestListsTooLongToMatch(t *testing.T) {
	const config = `{"architectures": ["Qwen3MoeForCausalLM"], "num_experts": 64, "num_experts_per_tok": 8, "moe_intermediate_size": 64, ` + small + `, "quantization_config": %s}`
	for name, quant := range map[string]string{
		"expressions": `{"quant_method": "fp8", "ignore": ["re:.*x.*y", "re:.*(up|down)_proj"]}`,
		"globs":       `{"quant_method": "fp8", "ignore": ["model.layers.*.experts.3.*q*z"]}`,
		"targets":     `{"quant_method": "compressed-tensors", "config_groups": {"a": {"targets": ["re:.*x.*y"], "weights": {"num_bits": 8, "type": "float"}}}}`,
		"rules":       `{"quant_method": "gptq", "bits": 4, "dynamic": {"-:.*x.*y": {}}}`,
	} {
		for _, enough := range []bool{true, false} {
			c, err := parseConfig(fmt.Appendf(nil, config, quant))
			if err != nil {
				t.Fatal(err)
			}
			q, err := quantOf(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !enough {
				q.effort.left = 1000
			}
			_, err = build("small", c, q, nil, Options{})
			if enough && err != nil || !enough && (err == nil || !strings.Contains(err.Error(), "too long to match")) {
				t.Errorf("%s, enough effort %v: %v", name, enough, err)
			}
		}
	}
}

// TestExpressions are matched from the start of a name, whole or not.
func TestExpressions(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{".*self_attn.*", "model.layers.3.self_attn.q_proj", true},
		{".*self_attn.*", "model.layers.3.mlp.up_proj", false},
		{"self_attn", "model.layers.3.self_attn.q_proj", false}, // not at the start
		{"model", "model.layers.3.self_attn.q_proj", true},      // the rest is free
		{`.*mlp\.(gate|up)_proj$`, "model.layers.3.mlp.up_proj", true},
		{`.*mlp\.(gate|up)_proj$`, "model.layers.3.mlp.experts.7.up_proj", false},
		{"(?i).*LAYERS.3", "model.layers.3.mlp", true},
		{`.*layers\.(0|1[0-9])\..*`, "model.layers.1.mlp", false},
		{`.*layers\.(0|1[0-9])\..*`, "model.layers.17.mlp", true},
		{"(lm_head|.*gate)", "lm_head", true},
		{"a?model", "model.layers", true},
	} {
		e, err := compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.match(c.name, nil); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.name, got)
		}
	}
}

// TestNoPipeInAFolder: a named pipe among a checkpoint's files is not waited for.
func TestNoPipeInAFolder(t *testing.T) {
	for _, name := range []string{"config.json", "hf_quant_config.json"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"architectures": ["LlamaForCausalLM"], `+small+`}`), 0o644); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		os.Remove(path)
		if err := os.Mkdir(path, 0o755); err != nil { // a folder is no regular file either, on every system
			t.Fatal(err)
		}
		if _, err := Load(dir, "", Options{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
