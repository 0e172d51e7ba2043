package model

import (
	"encoding/json"
	"strings"
	"testing"

	"decodegap/roofline"
)

// edit loads a catalogue model with fields of its configuration replaced; a
// null value removes a field. Dotted names reach into text_config.
func edit(t *testing.T, name string, changes map[string]any) (*roofline.Decoder, error) {
	t.Helper()
	e, ok := Entry(name)
	if !ok {
		t.Fatalf("no catalogue entry %s", name)
	}
	var c map[string]any
	if err := json.Unmarshal(e.Config, &c); err != nil {
		t.Fatal(err)
	}
	for k, v := range changes {
		at := c
		if rest, ok := strings.CutPrefix(k, "text_config."); ok {
			at, k = c["text_config"].(map[string]any), rest
		}
		if v == nil {
			delete(at, k)
		} else {
			at[k] = v
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return read(string(data), string(e.SideFile))
}

// read decodes a configuration and an optional side file.
func read(config, side string) (*roofline.Decoder, error) {
	c, err := parseConfig([]byte(config))
	if err != nil {
		return nil, err
	}
	var sideData []byte
	if side != "" {
		sideData = []byte(side)
	}
	q, err := quantOf(c, sideData)
	if err != nil {
		return nil, err
	}
	return build("test", c, q, nil, Options{})
}

func mustEdit(t *testing.T, name string, changes map[string]any) *roofline.Decoder {
	t.Helper()
	d, err := edit(t, name, changes)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTraps holds what configuration files get read wrong by; each case says
// what must stay, or become, what.
func TestTraps(t *testing.T) {
	glm := mustEdit(t, "glm-5", nil)
	for _, c := range []struct {
		name, model string
		changes     map[string]any
		total       int64
	}{
		{"latent attention ignores head_dim", "glm-5", map[string]any{"head_dim": 192}, glm.Params()},
		{"latent attention needs no head_dim", "glm-5", map[string]any{"head_dim": nil}, glm.Params()},
		{"Qwen3's head_dim is not hidden/heads", "qwen3-0.6b", nil, 595_984_384},
		{"without head_dim it is hidden/heads", "qwen3-0.6b", map[string]any{"head_dim": nil}, 595_984_384 - 28*3*1024*1024},
		{"experts under another name", "qwen3-30b-a3b", map[string]any{"num_experts": nil, "n_routed_experts": 128}, 30_531_911_680},
		{"two names of one fact", "qwen3-30b-a3b", map[string]any{"n_routed_experts": 128}, 30_531_911_680},
		{"intermediate_size is a decoy where every layer is mixed", "qwen3-30b-a3b", map[string]any{"intermediate_size": 1 << 19}, 30_531_911_680},
		{"MiniMax's mlp_intermediate_size is unused", "minimax-m2", map[string]any{"mlp_intermediate_size": 1 << 19}, mustEdit(t, "minimax-m2", nil).Params()},
		{"mlp_only_layers are dense", "qwen3-30b-a3b", map[string]any{"mlp_only_layers": []int{0}}, 30_531_911_680 - 2048*128 - 128*3*2048*768 + 3*2048*6144},
		{"MTP layers are not counted", "glm-5", map[string]any{"num_nextn_predict_layers": 9}, glm.Params()},
		{"MLP biases where they are declared", "llama-3.1-8b", map[string]any{"mlp_bias": true}, 8_029_995_008 + 32*(2*14336+4096)},
		{"a tied table counts once", "llama-3.1-8b", map[string]any{"tie_word_embeddings": true}, 8_029_995_008 - 128256*4096},
		{"Scout mixes in every layer", "llama-4-scout", nil, 107_769_364_480},
		{"Scout alternating would be 62 B", "llama-4-scout", map[string]any{"text_config.interleave_moe_layer_step": 2}, 107_769_364_480 - 24*(17*3*5120*8192+16*5120-3*5120*16384)},
	} {
		if d := mustEdit(t, c.model, c.changes); d.Params() != c.total {
			t.Errorf("%s: counted %d parameters, want %d", c.name, d.Params(), c.total)
		}
	}
}

func TestWindowsAndChunks(t *testing.T) {
	layers := func(d *roofline.Decoder, match func(roofline.Cache) bool) int {
		n := 0
		for _, c := range d.Caches {
			if match(c) {
				n += c.Repeat
			}
		}
		return n
	}
	windowed := func(c roofline.Cache) bool { return c.Window > 0 }
	for _, c := range []struct {
		model   string
		changes map[string]any
		match   func(roofline.Cache) bool
		want    int
	}{
		{"gpt-oss-20b", nil, func(c roofline.Cache) bool { return c.Window == 128 }, 12},
		{"gemma-3-27b", nil, func(c roofline.Cache) bool { return c.Window == 1024 }, 52},
		{"mistral-7b-v0.2", nil, windowed, 0}, // null means none
		{"mistral-7b-v0.2", map[string]any{"sliding_window": 4096}, windowed, 32},
		{"qwen3-8b", map[string]any{"sliding_window": 4096}, windowed, 0},                                                      // use_sliding_window is false
		{"qwen3-8b", map[string]any{"sliding_window": 4096, "use_sliding_window": nil}, windowed, 0},                           // and is where it is absent
		{"qwen3-8b", map[string]any{"sliding_window": 4096, "use_sliding_window": true, "max_window_layers": 30}, windowed, 6}, // from layer 30 of 36 on
		{"qwen3-8b", map[string]any{"sliding_window": 4096, "use_sliding_window": true, "max_window_layers": nil}, windowed, 8},
		{"llama-4-scout", nil, func(c roofline.Cache) bool { return c.Chunk == 8192 }, 36},
		{"glm-5.2", nil, func(c roofline.Cache) bool { return c.Kind == roofline.CacheIndex }, 21},
		{"glm-5", nil, func(c roofline.Cache) bool { return c.Kind == roofline.CacheIndex }, 78},
		{"qwen3-next-80b-a3b", nil, func(c roofline.Cache) bool { return c.Kind == roofline.CacheKV }, 12},
		{"nemotron-h-56b", nil, func(c roofline.Cache) bool { return c.Kind == roofline.CacheState }, 54},
	} {
		d := mustEdit(t, c.model, c.changes)
		if got := layers(d, c.match); got != c.want {
			t.Errorf("%s with %v: %d layers match, want %d", c.model, c.changes, got, c.want)
		}
	}
}

func TestRouterAndState(t *testing.T) {
	router := func(d *roofline.Decoder) float64 {
		for _, x := range d.Tensors {
			if x.Role == roofline.RoleRouter && x.Matrix {
				return float64(x.Bytes) / float64(x.Params)
			}
		}
		return 0
	}
	if got := router(mustEdit(t, "glm-5.2", nil)); got != 4 {
		t.Errorf("moe_router_dtype float32: %v bytes a weight, want 4", got)
	}
	if got := router(mustEdit(t, "glm-5-nvfp4", nil)); got != 2 {
		t.Errorf("an NVFP4 checkpoint's router: %v bytes a weight, want 2", got)
	}
	if got := mustEdit(t, "qwen3.5-397b-a17b", nil).StateType; got != roofline.FP32 {
		t.Errorf("mamba_ssm_dtype float32 in the text configuration: got %q", got)
	}
	if got := mustEdit(t, "qwen3-next-80b-a3b", nil).StateType; got != "" {
		t.Errorf("a file that states no state type: got %q, want none", got)
	}
	if got := mustEdit(t, "nemotron-h-56b", map[string]any{"mamba_ssm_cache_dtype": "bfloat16"}).StateType; got != roofline.BF16 {
		t.Errorf("mamba_ssm_cache_dtype: got %q, want bf16", got)
	}
}

func TestExclusions(t *testing.T) {
	x, err := parseExclusions([]string{"model.layers.1.*", "model.layers.*.self_attn", "gate", "lm_head", "re:.*mlp\\.down.*"})
	if err != nil {
		t.Fatal(err)
	}
	for module, want := range map[string]bool{
		"model.layers.1.mlp.up_proj":               true,
		"model.layers.10.mlp.up_proj":              false,
		"model.layers.10.self_attn.q_proj":         true,
		"model.layers.10.self_attn2.q_proj":        false,
		"model.layers.3.block_sparse_moe.gate":     true,
		"model.layers.3.mlp.gate_proj":             false,
		"model.layers.3.mlp.experts.4.gate_up":     false,
		"lm_head":                                  true,
		"model.layers.3.mlp.down_proj":             true,
		"model.layers.3.mlp.experts.7.down_proj":   false,
		"model.layers.3.self_attn.indexer.wq_b":    true,
		"model.language_model.layers.1.mlp.w1":     false,
		"model.layers.12.self_attn.o_proj.weight":  true,
		"model.layers.12.self_attn.o_proj.x.y.z.a": true,
	} {
		if got := x.match(module); got != want {
			t.Errorf("%s: excluded %v, want %v", module, got, want)
		}
		if got := x.under("model.layers." + strings.SplitN(module+"....", ".", 4)[2] + ".").match(module); got != want {
			t.Errorf("%s: excluded %v in the narrowed list, want %v", module, got, want)
		}
	}
}

// TestExpertsApart keeps single experts out of quantization.
func TestExpertsApart(t *testing.T) {
	side := `{"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["model.layers.*.mlp.experts.7.*", "model.layers.0.mlp.experts.9.up_proj"]}}`
	e, _ := Entry("qwen3-30b-a3b")
	d, err := read(string(e.Config), side)
	if err != nil {
		t.Fatal(err)
	}
	var got float64
	for _, x := range d.Tensors {
		if x.Role == roofline.RoleExpert {
			got += float64(x.Bytes) * float64(x.Repeat)
		}
	}
	matrix := 2048.0 * 768
	want := 48*(127*3*matrix*0.5625+3*matrix*2) + matrix*(2-0.5625)
	if got != want {
		t.Errorf("experts hold %.0f bytes, want %.0f", got, want)
	}
}
