package model

import (
	"fmt"
	"strings"
	"testing"

	"decodegap/roofline"
)

func TestModuleOf(t *testing.T) {
	for _, c := range []struct{ name, module, part string }{
		{"model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.up_proj", "weight"},
		{"model.layers.0.mlp.up_proj.weight.absmax", "model.layers.0.mlp.up_proj", "absmax"},
		{"a.weight.quant_state.bitsandbytes__nf4", "a", "quant_state.bitsandbytes__nf4"},
		{"a.self_attn.sinks", "a.self_attn.sinks", ""},
		{"a.bias", "a.bias", ""},
		{"a.mlp.experts.gate_up_proj_blocks", "a.mlp.experts.gate_up_proj", "blocks"},
		{"a.q_proj.base_layer.weight", "a.q_proj", "weight"},
		{"a.q_proj.base_layer.weight.quant_map", "a.q_proj", "quant_map"},
		{"a.q_proj.base_layer.bias", "a.q_proj.bias", ""},
		{"weight", "weight", ""},
	} {
		if m, p := moduleOf(c.name); m != c.module || p != c.part {
			t.Errorf("%s: module %q, part %q, want %q, %q", c.name, m, p, c.module, c.part)
		}
	}
}

// TestTowerOfTheSameNames: layers of an unknown tower that are called as the
// decoder's, and are more, are not taken for them.
func TestTowerOfTheSameNames(t *testing.T) {
	c := newCheckpoint(t, smallMoE)
	fillMoE(c, "model.", func(string) string { return "model.safetensors" })
	for i := range 30 {
		for _, m := range []string{"q_proj", "k_proj", "v_proj", "o_proj"} {
			c.add("model.safetensors", fmt.Sprintf("lidar.encoder.layers.%d.self_attn.%s.weight", i, m), "BF16", 24, 24)
		}
		c.add("model.safetensors", fmt.Sprintf("lidar.encoder.layers.%d.input_layernorm.weight", i), "BF16", 24)
	}
	c.write(t)
	l, err := Load(c.dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counted(l.Decoder), c.read("embed_tokens", "lidar."); got != want {
		t.Errorf("counted %.0f bytes, the decoder's are %.0f", got, want)
	}
}

// TestAdapterCheckpoint: PEFT keeps the base model's matrices under base_layer,
// below a root of its own.
func TestAdapterCheckpoint(t *testing.T) {
	plain, peft := llamaCheckpoint(t), newCheckpoint(t, smallLlama)
	for file, tensors := range plain.files {
		for name, x := range tensors {
			for _, m := range []string{"q_proj", "v_proj"} {
				name = strings.Replace(name, m+".weight", m+".base_layer.weight", 1)
			}
			var shape []int64
			shape = append(shape, x["shape"].([]int64)...)
			peft.add(file, "base_model.model."+name, x["dtype"].(string), shape...)
		}
	}
	peft.add("model-00001-of-00003.safetensors", "base_model.model.model.layers.0.self_attn.q_proj.lora_A.default.weight", "BF16", 8, 64)
	peft.write(t)
	l, err := Load(peft.dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counted(l.Decoder), peft.read("embed_tokens", "lora_A"); got != want || l.BytesSource != roofline.FromHeaders {
		t.Errorf("counted %.0f bytes from %s, the base model's are %.0f; %q", got, l.BytesSource, want, l.Notes)
	}
	if notes := strings.Join(l.Notes, "\n"); !strings.Contains(notes, "lora_A") {
		t.Errorf("nothing is said of the adapter: %s", notes)
	}
}

// TestActOrder: the permutation of GPTQ's rows is read where desc_act is true,
// and dropped by kernels where it is not.
func TestActOrder(t *testing.T) {
	for _, act := range []bool{false, true} {
		c := newCheckpoint(t, strings.TrimSuffix(smallLlama, "}")+fmt.Sprintf(`, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": %v}}`, act))
		const p, f = "model.layers.0.self_attn.q_proj.", "model.safetensors"
		c.add(f, p+"qweight", "F32", 8, 64) // I32 is as wide; see below
		c.files[f][p+"qweight"]["dtype"] = "I32"
		c.add(f, p+"scales", "BF16", 2, 64)
		c.add(f, p+"g_idx", "F32", 64)
		c.files[f][p+"g_idx"]["dtype"] = "I32"
		c.write(t)
		l, err := Load(c.dir, "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := 8*64*4 + 2*64*2.0
		if act {
			want += 64 * 4
		}
		for _, x := range l.Tensors {
			if x.Role == roofline.RoleQ && x.Evidence == roofline.FromHeaders && float64(x.Bytes) != want {
				t.Errorf("desc_act %v: q has %v bytes, want %v", act, float64(x.Bytes), want)
			} else if x.Role == roofline.RoleQ && x.Evidence == roofline.FromHeaders {
				want = -1
			}
		}
		if want != -1 {
			t.Errorf("desc_act %v: q was not read from the headers", act)
		}
	}
}
