package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"decodegap/roofline"
)

// dense is a small dense configuration with room for a quantization_config.
func dense(quant string) string {
	c := `{"architectures": ["LlamaForCausalLM"], "hidden_size": 256, "num_hidden_layers": 2, "vocab_size": 100, "num_attention_heads": 4, "intermediate_size": 512`
	if quant != "" {
		c += `, "quantization_config": ` + quant
	}
	return c + "}"
}

// TestQuantizationMethods counts the bytes of one matrix under every method.
func TestQuantizationMethods(t *testing.T) {
	for _, c := range []struct {
		name, quant, side string
		bytes             float64 // per weight of the MLP
		kv                roofline.DType
	}{
		{"none", "", "", 2, ""},
		{"fp8 per tensor", `{"quant_method": "fp8"}`, "", 1, ""},
		{"fp8 in blocks", `{"quant_method": "fp8", "weight_block_size": [128, 128]}`, "", 1 + 4.0/16384, ""},
		{"fp8 in other blocks", `{"quant_method": "fp8", "weight_block_size": [64, 128]}`, "", 1 + 4.0/8192, ""},
		{"mxfp8", `{"quant_method": "mxfp8"}`, "", 1 + 1.0/32, ""},
		{"mxfp4 leaves what is no expert", `{"quant_method": "mxfp4"}`, "", 2, ""},
		{"awq", `{"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true}`, "", 0.5 + 2.0/128 + 0.5/128, ""},
		{"awq by its older names", `{"quant_method": "awq", "w_bit": 4, "q_group_size": 64, "zero_point": false}`, "", 0.5 + 2.0/64, ""},
		{"gptq", `{"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true, "desc_act": false}`, "", 0.5 + 2.0/128, ""},
		{"gptq asymmetric", `{"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": false}`, "", 0.5 + 2.0/32 + 0.5/32, ""},
		{"gptq by its kernel", `{"quant_method": "gptq_marlin", "bits": 4, "group_size": 128, "sym": true}`, "", 0.5 + 2.0/128, ""},
		{"awq by its kernel", `{"quant_method": "awq_marlin", "bits": 4, "group_size": 128, "zero_point": true}`, "", 0.5 + 2.5/128, ""},
		{"fbgemm", `{"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head"]}`, "", 1, ""},
		{"gptq act-order, its permutation left out", `{"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true, "desc_act": true}`, "", 0.5 + 2.0/128, ""},
		{"gptq 8 bits, one scale a column", `{"quant_method": "gptq", "bits": 8, "group_size": -1}`, "", 1, ""},
		{"bitsandbytes nf4", `{"quant_method": "bitsandbytes", "load_in_4bit": true}`, "", 0.5 + 4.0/64, ""},
		{"bitsandbytes double", `{"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_use_double_quant": true}`, "", 0.5 + 1.0/64 + 4.0/(64*256), ""},
		{"bitsandbytes int8", `{"quant_method": "bitsandbytes", "load_in_8bit": true}`, "", 1, ""},
		{"compressed-tensors nvfp4", `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}}, "kv_cache_scheme": {"num_bits": 8, "type": "float"}}`, "", 0.5625, roofline.FP8},
		{"compressed-tensors int4", `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 128, "symmetric": true}}}}`, "", 0.5 + 2.0/128, ""},
		{"compressed-tensors int8", `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int", "strategy": "channel"}}}}`, "", 1, ""},
		{"compressed-tensors fp8 per channel", `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}}`, "", 1, ""},
		{"compressed-tensors fp8 in blocks", `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}}}}`, "", 1 + 4.0/16384, ""},
		{"compressed-tensors mxfp4", `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float", "group_size": 32}}}}`, "", 0.53125, ""},
		{"compressed-tensors leaves what it ignores", `{"quant_method": "compressed-tensors", "ignore": ["re:.*mlp.*"], "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}}}`, "", 2, ""},
		{"compressed-tensors with targets elsewhere", `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}}`, "", 2, ""},
		{"compressed-tensors, a group for each half", `{"quant_method": "compressed-tensors", "config_groups": {
			"group_0": {"targets": ["re:.*layers\\.0\\..*"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}},
			"group_1": {"targets": ["re:model\\.layers\\.1\\.mlp"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}}`, "", (1 + 0.5625) / 2, ""},
		{"compressed-tensors, a name before the class", `{"quant_method": "compressed-tensors", "config_groups": {
			"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}},
			"group_1": {"targets": ["model.layers.0.mlp.down_proj", "model.layers.1.mlp.down_proj"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}}`, "", (1 + 1 + 0.5625) / 3, ""},
		{"compressed-tensors with a cache in four bits", `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}, "kv_cache_scheme": {"num_bits": 4, "type": "float", "group_size": 16}}`, "", 1, roofline.NVFP4},
		{"gptq with dynamic rules", `{"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true, "dynamic": {"-:.*layers\\.0\\..*": {}, "+:.*down_proj": {"bits": 8, "group_size": 64}, ".*": {"bits": 2}}}`, "",
			0.5*2 + 0.5*(2*(0.25+2.0/128)+1+2.0/64)/3, ""},
		{"gptq of some modules", `{"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true, "modules_in_block_to_quantize": [["self_attn.q_proj"], ["mlp.down_proj"]]}`, "", (2 + 2 + 0.5 + 2.0/128) / 3, ""},
		{"modelopt mixed in the configuration", `{"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.layers.0.mlp": {"quant_algo": "FP8"}, "model.layers.1.mlp": {"quant_algo": "NVFP4", "group_size": 16}}}`, "", (1 + 0.5625) / 2, ""},
		{"modelopt in the configuration", `{"quant_method": "modelopt", "quant_algo": "NVFP4"}`, "", 0.5625, ""},
		{"modelopt nvfp4", "", `{"quantization": {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "FP8"}}`, 0.5625, roofline.FP8},
		{"modelopt fp8", "", `{"quantization": {"quant_algo": "FP8"}}`, 1, ""},
		{"modelopt fp8 in blocks", "", `{"quantization": {"quant_algo": "FP8_PB_WO"}}`, 1 + 4.0/16384, ""},
		{"modelopt awq", "", `{"quantization": {"quant_algo": "W4A16_AWQ", "group_size": 128}}`, 0.5 + 2.0/128, ""},
		{"modelopt mixed", "", `{"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.layers.0.mlp.gate_proj": {"quant_algo": "FP8"}, "model.layers.0.mlp.up_proj": {"quant_algo": "FP8"}, "model.layers.0.mlp.down_proj": {"quant_algo": "FP8"}, "model.layers.1.mlp": {"quant_algo": "NVFP4", "group_size": 16}}}}`, (1 + 0.5625) / 2, ""},
		{"modelopt with a cache in four bits", "", `{"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "NVFP4"}}`, 1, roofline.NVFP4},
		{"the side file stands above the configuration", `{"quant_method": "fp8"}`, `{"quantization": {"quant_algo": "NVFP4"}}`, 0.5625, ""},
	} {
		d, err := read(dense(c.quant), c.side)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var bytes, params float64
		for _, x := range d.Tensors {
			if x.Component == roofline.MLPDense {
				bytes += float64(x.Bytes) * float64(x.Repeat)
				params += float64(x.Params) * float64(x.Repeat)
			}
			if x.Role == roofline.RoleHead && x.Bytes != 2*100*256 {
				t.Errorf("%s: the head was quantized", c.name)
			}
		}
		if got := bytes / params; math.Abs(got-c.bytes) > 1e-12 {
			t.Errorf("%s: %v bytes a weight, want %v", c.name, got, c.bytes)
		}
		if d.KVType != c.kv {
			t.Errorf("%s: KV type %q, want %q", c.name, d.KVType, c.kv)
		}
	}
}

// TestQuantizedHead is what GPTQ files may say of the head.
func TestQuantizedHead(t *testing.T) {
	d, err := read(dense(`{"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": true}`), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range d.Tensors {
		if got, want := float64(x.Bytes), 100*256*(0.5+2.0/128); x.Role == roofline.RoleHead && got != want {
			t.Errorf("the head has %v bytes, want %v", got, want)
		}
	}
}

func TestMXFP4Experts(t *testing.T) {
	d := mustEdit(t, "gpt-oss-20b", nil)
	for _, x := range d.Tensors {
		got := float64(x.Bytes) / float64(x.Params)
		if x.Role == roofline.RoleExpert && x.Matrix && math.Abs(got-0.53125) > 1e-12 {
			t.Errorf("experts: %v bytes a weight, want 0.53125", got)
		}
		if x.Role == roofline.RoleQ && got != 2 {
			t.Errorf("attention: %v bytes a weight, want 2", got)
		}
	}
}

// TestAssumedFormat covers every matrix, leaves the router out, and is known
// for an assumption.
func TestAssumedFormat(t *testing.T) {
	f, err := ParseFormat("NVFP4")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Load("glm-5-nvfp4", "", Options{Assume: &f})
	if err != nil {
		t.Fatal(err)
	}
	var linears float64
	for _, x := range l.Tensors {
		if !x.Matrix {
			continue
		}
		if x.Evidence != roofline.FromAssumption {
			t.Errorf("%s: evidence %s", x.Name, x.Evidence)
		}
		share := 1.0
		if x.IsExpert() {
			share = float64(l.TopK) / float64(l.Experts)
		}
		linears += float64(x.Bytes) * float64(x.Repeat) * share
	}
	if got := linears / 8; math.Abs(got-2.862701568e9) > 8192 {
		t.Errorf("an eighth of the linears: %.0f bytes, want 2,862,701,568", got)
	}
	if _, err := ParseFormat("nvfp5"); err == nil || !strings.Contains(err.Error(), "nvfp4") {
		t.Errorf("unknown format: %v", err)
	}
}

// TestDraftLayer counts the MTP layer apart from the decoder.
func TestDraftLayer(t *testing.T) {
	d := mustEdit(t, "deepseek-v3", nil)
	if d.Draft == nil {
		t.Fatal("no MTP layer")
	}
	// DeepSeek-V3's weights README: 11.5 B unique parameters in the MTP module,
	// without the shared embedding and head.
	var own int64
	for _, x := range d.Draft.Tensors {
		if x.Role != roofline.RoleEmbed && x.Role != roofline.RoleHead && !x.Uncounted {
			own += x.Params * int64(x.Repeat)
		}
	}
	if got := fmt.Sprintf("%.1f", float64(own)/1e9); got != "11.6" && got != "11.5" {
		t.Errorf("the MTP layer has %s B parameters of its own, published 11.5", got)
	}
	if mustEdit(t, "llama-3.1-8b", nil).Draft != nil {
		t.Error("a model without an MTP layer has one")
	}
}
