package model

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/roofline"
)

// checkpoint is a small checkpoint in the making: tensors by file, written as
// safetensors with zeros for data.
type checkpoint struct {
	dir   string
	files map[string]map[string]map[string]any
	sizes map[string]int64 // bytes by tensor name
}

func newCheckpoint(t *testing.T, config string) *checkpoint {
	t.Helper()
	c := &checkpoint{dir: t.TempDir(), files: map[string]map[string]map[string]any{}, sizes: map[string]int64{}}
	if err := os.WriteFile(filepath.Join(c.dir, "config.json"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return c
}

var width = map[string]int64{"BF16": 2, "F32": 4, "F8_E4M3": 1, "U8": 1}

// add puts one tensor into a file.
func (c *checkpoint) add(file, name, dtype string, shape ...int64) {
	n := width[dtype]
	for _, d := range shape {
		n *= d
	}
	if c.files[file] == nil {
		c.files[file] = map[string]map[string]any{}
	}
	if shape == nil {
		shape = []int64{}
	}
	c.files[file][name] = map[string]any{"dtype": dtype, "shape": shape}
	c.sizes[name] = n
}

// nvfp4 adds a matrix packed two values a byte, with its scales.
func (c *checkpoint) nvfp4(file, module string, out, in int64) {
	c.add(file, module+".weight", "U8", out, in/2)
	c.add(file, module+".weight_scale", "F8_E4M3", out, in/16)
	c.add(file, module+".weight_scale_2", "F32")
	c.add(file, module+".input_scale", "F32")
}

// fp8 adds a matrix in 128×128 blocks.
func (c *checkpoint) fp8(file, module string, out, in int64) {
	c.add(file, module+".weight", "F8_E4M3", out, in)
	c.add(file, module+".weight_scale_inv", "F32", (out+127)/128, (in+127)/128)
}

// write writes the files and, for several, their index.
func (c *checkpoint) write(t *testing.T) {
	t.Helper()
	index := map[string]string{}
	for file, tensors := range c.files {
		var end int64
		for name, t := range tensors {
			t["data_offsets"] = []int64{end, end + c.sizes[name]}
			end += c.sizes[name]
		}
		header, err := json.Marshal(tensors)
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		data = binary.LittleEndian.AppendUint64(data, uint64(len(header)))
		data = append(data, header...)
		path := filepath.Join(c.dir, file)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(len(data))+end); err != nil {
			t.Fatal(err)
		}
		for name := range tensors {
			index[name] = file
		}
	}
	if len(c.files) > 1 {
		data, err := json.Marshal(map[string]any{"metadata": map[string]any{}, "weight_map": index})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.dir, "model.safetensors.index.json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// read sums the bytes of the tensors a step reads: all but those named.
func (c *checkpoint) read(except ...string) float64 {
	var sum int64
next:
	for name, n := range c.sizes {
		for _, e := range except {
			if strings.Contains(name, e) {
				continue next
			}
		}
		sum += n
	}
	return float64(sum)
}

// counted sums the decoder's bytes without the embedding table.
func counted(d *roofline.Decoder) float64 {
	var sum float64
	for _, t := range d.Tensors {
		if t.Role != roofline.RoleEmbed {
			sum += float64(t.Bytes) * float64(t.Repeat)
		}
	}
	return sum
}

const smallLlama = `{"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 3, "vocab_size": 100,
	"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 192}`

func llamaCheckpoint(t *testing.T) *checkpoint {
	c := newCheckpoint(t, smallLlama)
	file := func(i int) string { return fmt.Sprintf("model-%05d-of-00003.safetensors", i+1) }
	for i := range 3 {
		p := fmt.Sprintf("model.layers.%d.", i)
		c.add(file(i), p+"self_attn.q_proj.weight", "BF16", 64, 64)
		c.add(file(i), p+"self_attn.k_proj.weight", "BF16", 32, 64)
		c.add(file(i), p+"self_attn.v_proj.weight", "BF16", 32, 64)
		c.add(file(i), p+"self_attn.o_proj.weight", "BF16", 64, 64)
		c.add(file(i), p+"mlp.gate_proj.weight", "BF16", 192, 64)
		c.add(file(i), p+"mlp.up_proj.weight", "BF16", 192, 64)
		c.add(file(i), p+"mlp.down_proj.weight", "BF16", 64, 192)
		c.add(file(i), p+"input_layernorm.weight", "BF16", 64)
		c.add(file(i), p+"post_attention_layernorm.weight", "F32", 64) // engines keep what the file has
	}
	c.add(file(0), "model.embed_tokens.weight", "BF16", 100, 64)
	c.add(file(2), "model.norm.weight", "BF16", 64)
	c.add(file(2), "lm_head.weight", "BF16", 100, 64)
	return c
}

func TestShardedHeaders(t *testing.T) {
	c := llamaCheckpoint(t)
	c.write(t)
	for _, ref := range []string{c.dir, filepath.Join(c.dir, "model.safetensors.index.json")} {
		l, err := Load(ref, "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := counted(l.Decoder), c.read("embed_tokens"); got != want || l.BytesSource != roofline.FromHeaders {
			t.Errorf("%s: counted %.0f bytes from %s, the file holds %.0f", ref, got, l.BytesSource, want)
		}
	}
}

func TestMissingShard(t *testing.T) {
	c := llamaCheckpoint(t)
	c.write(t)
	if err := os.Remove(filepath.Join(c.dir, "model-00002-of-00003.safetensors")); err != nil {
		t.Fatal(err)
	}
	l, err := Load(c.dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The layer that is missing counts from the configuration: its F32 norm as BF16.
	if got, want := counted(l.Decoder), c.read("embed_tokens")-2*64; got != want {
		t.Errorf("counted %.0f bytes, want %.0f", got, want)
	}
	if notes := strings.Join(l.Notes, "\n"); !strings.Contains(notes, "model-00002-of-00003.safetensors") || !strings.Contains(notes, "not in the tensor headers") {
		t.Errorf("nothing is said about the missing file: %s", notes)
	}
}

func TestPackedNVFP4Headers(t *testing.T) {
	c := newCheckpoint(t, `{"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100, "head_dim": 32,
		"num_attention_heads": 4, "num_key_value_heads": 2, "moe_intermediate_size": 32, "num_experts": 6, "num_experts_per_tok": 2}`)
	const f = "model.safetensors"
	for i := range 2 {
		p := fmt.Sprintf("model.layers.%d.", i)
		c.nvfp4(f, p+"self_attn.q_proj", 128, 64)
		c.nvfp4(f, p+"self_attn.k_proj", 64, 64)
		c.nvfp4(f, p+"self_attn.v_proj", 64, 64)
		c.nvfp4(f, p+"self_attn.o_proj", 64, 128)
		c.add(f, p+"self_attn.k_scale", "F32")
		c.add(f, p+"self_attn.q_norm.weight", "BF16", 32)
		c.add(f, p+"self_attn.k_norm.weight", "BF16", 32)
		c.add(f, p+"mlp.gate.weight", "BF16", 6, 64)
		for j := range 6 {
			e := fmt.Sprintf("%smlp.experts.%d.", p, j)
			if j == 5 { // one expert was left alone
				c.add(f, e+"gate_proj.weight", "BF16", 32, 64)
			} else {
				c.nvfp4(f, e+"gate_proj", 32, 64)
			}
			c.nvfp4(f, e+"up_proj", 32, 64)
			c.nvfp4(f, e+"down_proj", 64, 32)
		}
		c.add(f, p+"input_layernorm.weight", "BF16", 64)
		c.add(f, p+"post_attention_layernorm.weight", "BF16", 64)
	}
	c.add(f, "model.embed_tokens.weight", "BF16", 100, 64)
	c.add(f, "model.norm.weight", "BF16", 64)
	c.add(f, "lm_head.weight", "BF16", 100, 64)
	c.write(t)
	l, err := Load(c.dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counted(l.Decoder), c.read("embed_tokens", "k_scale"); got != want {
		t.Errorf("counted %.0f bytes, the file holds %.0f", got, want)
	}
	// The configuration says nothing of quantization, so it implies BF16.
	if notes := strings.Join(l.Notes, "\n"); !strings.Contains(notes, "moe.experts: the headers hold") || strings.Contains(notes, "disagree") {
		t.Errorf("notes: %s", notes)
	}
	if l.ActiveParams() != 2*(64*128*2+64*64*2+6*64+2*3*32*64)+100*64 {
		t.Errorf("read a token: %d parameters", l.ActiveParams())
	}
}

func TestFP8HeadersWithIndexAndMTP(t *testing.T) {
	c := newCheckpoint(t, `{"architectures": ["DeepseekV32ForCausalLM"], "hidden_size": 256, "num_hidden_layers": 2, "vocab_size": 100,
		"num_attention_heads": 4, "q_lora_rank": 128, "kv_lora_rank": 128, "qk_rope_head_dim": 64, "qk_nope_head_dim": 64, "v_head_dim": 64,
		"index_topk": 16, "index_n_heads": 2, "index_head_dim": 64, "first_k_dense_replace": 1, "intermediate_size": 384,
		"moe_intermediate_size": 128, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1,
		"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}`)
	const f = "model.safetensors"
	layer := func(i int) {
		p := fmt.Sprintf("model.layers.%d.", i)
		c.fp8(f, p+"self_attn.q_a_proj", 128, 256)
		c.fp8(f, p+"self_attn.q_b_proj", 512, 128)
		c.fp8(f, p+"self_attn.kv_a_proj_with_mqa", 192, 256)
		c.fp8(f, p+"self_attn.kv_b_proj", 512, 128)
		c.fp8(f, p+"self_attn.o_proj", 256, 256)
		c.fp8(f, p+"self_attn.indexer.wq_b", 128, 128)
		c.fp8(f, p+"self_attn.indexer.wk", 64, 256)
		c.add(f, p+"self_attn.indexer.weights_proj.weight", "BF16", 2, 256)
		c.add(f, p+"self_attn.indexer.k_norm.weight", "F32", 64)
		c.add(f, p+"self_attn.indexer.k_norm.bias", "F32", 64)
		for name, n := range map[string]int64{"self_attn.q_a_layernorm": 128, "self_attn.kv_a_layernorm": 128, "input_layernorm": 256, "post_attention_layernorm": 256} {
			c.add(f, p+name+".weight", "BF16", n)
		}
		mlp := func(at string, wide int64) {
			c.fp8(f, p+at+"gate_proj", wide, 256)
			c.fp8(f, p+at+"up_proj", wide, 256)
			c.fp8(f, p+at+"down_proj", 256, wide)
		}
		if i == 0 {
			mlp("mlp.", 384)
			return
		}
		c.add(f, p+"mlp.gate.weight", "BF16", 4, 256)
		c.add(f, p+"mlp.gate.e_score_correction_bias", "F32", 4)
		for j := range 4 {
			mlp(fmt.Sprintf("mlp.experts.%d.", j), 128)
		}
		mlp("mlp.shared_experts.", 128)
	}
	for i := range 3 { // the third is the MTP layer
		layer(i)
	}
	c.add(f, "model.layers.2.eh_proj.weight", "BF16", 256, 512)
	c.add(f, "model.embed_tokens.weight", "BF16", 100, 256)
	c.add(f, "model.norm.weight", "BF16", 256)
	c.add(f, "lm_head.weight", "BF16", 100, 256)
	c.write(t)
	l, err := Load(filepath.Join(c.dir, f), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counted(l.Decoder), c.read("embed_tokens", "model.layers.2.", "correction_bias"); math.Abs(got-want) > 1e-6*want {
		t.Errorf("counted %.0f bytes, the file holds %.0f", got, want)
	}
	notes := strings.Join(l.Notes, "\n")
	if !strings.Contains(l.DraftNote, "(MTP layers) are not read by decode") || strings.Contains(notes, "not read by decode") || strings.Contains(notes, "does not use") || strings.Contains(notes, "disagree") {
		t.Errorf("notes: %s", notes)
	}
}

func TestHeadersThatDisagree(t *testing.T) {
	c := llamaCheckpoint(t)
	c.add("model-00001-of-00003.safetensors", "model.layers.0.self_attn.surprise.weight", "BF16", 64, 64)
	c.add("model-00001-of-00003.safetensors", "model.layers.0.self_attn.q_proj.weight", "BF16", 64, 32)
	c.write(t)
	l, err := Load(c.dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(l.Notes, "\n")
	for _, want := range []string{"does not use: model.layers.0.self_attn.surprise", "model.layers.0.self_attn.q_proj (2048 weights, 4096 implied)"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note says %q: %s", want, notes)
		}
	}
}

const smallMoE = `{"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100,
	"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "intermediate_size": 128, "moe_intermediate_size": 32,
	"num_experts": 6, "num_experts_per_tok": 2, "tie_word_embeddings": false, "torch_dtype": "bfloat16"}`

// fillMoE adds the tensors of smallMoE; place names the file of each module.
func fillMoE(c *checkpoint, root string, place func(module string) string) {
	add := func(module string, shape ...int64) { c.add(place(module), module+".weight", "BF16", shape...) }
	for i := range 2 {
		p := fmt.Sprintf("%slayers.%d.", root, i)
		for m, shape := range map[string][]int64{"q_proj": {128, 64}, "k_proj": {64, 64}, "v_proj": {64, 64}, "o_proj": {64, 128}, "q_norm": {32}, "k_norm": {32}} {
			add(p+"self_attn."+m, shape...)
		}
		add(p+"mlp.gate", 6, 64)
		for j := range 6 {
			e := fmt.Sprintf("%smlp.experts.%d.", p, j)
			add(e+"gate_proj", 32, 64)
			add(e+"up_proj", 32, 64)
			add(e+"down_proj", 64, 32)
		}
		add(p+"input_layernorm", 64)
		add(p+"post_attention_layernorm", 64)
	}
	add(root+"embed_tokens", 100, 64)
	add(root+"norm", 64)
	add("lm_head", 100, 64)
}

// TestMissingShards takes away each of two files: what is not at hand is
// counted from the configuration, wherever the boundary runs.
func TestMissingShards(t *testing.T) {
	for name, first := range map[string]func(string) bool{
		"layer 0":          func(m string) bool { return strings.Contains(m, "layers.0.") },
		"layer 1":          func(m string) bool { return strings.Contains(m, "layers.1.") },
		"within a layer":   func(m string) bool { return strings.Contains(m, "layers.0.mlp.experts.3") },
		"all layers":       func(m string) bool { return strings.Contains(m, "layers.") },
		"all but the head": func(m string) bool { return m != "lm_head" },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCheckpoint(t, smallMoE)
			fillMoE(c, "language_model.model.", func(m string) string {
				if first(m) {
					return "a.safetensors"
				}
				return "b.safetensors"
			})
			c.write(t)
			if err := os.Remove(filepath.Join(c.dir, "a.safetensors")); err != nil {
				t.Fatal(err)
			}
			l, err := Load(c.dir, "", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := counted(l.Decoder), c.read("embed_tokens"); got != want {
				t.Errorf("counted %.0f bytes, the whole checkpoint holds %.0f", got, want)
			}
			if l.BytesSource != roofline.FromHeaders {
				t.Errorf("bytes from %s", l.BytesSource)
			}
			if notes := strings.Join(l.Notes, "\n"); !strings.Contains(notes, "not in the tensor headers") || strings.Contains(notes, "implies") {
				t.Errorf("notes: %s", notes)
			}
		})
	}
}

// TestExpertPortions counts experts of several formats one by one, the same in
// every run.
func TestExpertPortions(t *testing.T) {
	c := newCheckpoint(t, smallMoE)
	fillMoE(c, "model.", func(string) string { return "model.safetensors" })
	c.files["model.safetensors"]["model.layers.0.mlp.experts.0.up_proj.weight"]["dtype"] = "F8_E4M3"
	c.sizes["model.layers.0.mlp.experts.0.up_proj.weight"] = 32 * 64
	c.write(t)
	for range 20 {
		l, err := Load(c.dir, "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		params := map[string]int64{}
		for _, tensor := range l.Tensors {
			if tensor.Role == roofline.RoleExpert {
				params[tensor.Format] += tensor.Params * int64(tensor.Repeat)
			}
		}
		if params["BF16"] != 2*18*2048-2048 || params["FP8"] != 2048 {
			t.Fatalf("weights by format: %v", params)
		}
	}
}

// TestTowersAndAdapters: layers of a tower nobody has heard of are not the
// decoder's, and a file that holds nothing of the model is no source of bytes.
func TestTowersAndAdapters(t *testing.T) {
	c := newCheckpoint(t, smallMoE)
	fillMoE(c, "model.", func(string) string { return "model.safetensors" })
	for i := range 200 {
		c.add("model.safetensors", fmt.Sprintf("vit.blocks.layers.%d.attn.qkv.weight", i), "BF16", 8, 8)
	}
	c.write(t)
	l, err := Load(c.dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counted(l.Decoder), c.read("embed_tokens", "vit."); got != want {
		t.Errorf("counted %.0f bytes, the decoder's are %.0f", got, want)
	}

	c = newCheckpoint(t, smallMoE)
	c.add("adapter_model.safetensors", "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "BF16", 8, 64)
	c.write(t)
	if l, err = Load(c.dir, "", Options{}); err != nil {
		t.Fatal(err)
	}
	if l.BytesSource != roofline.FromConfig || !strings.Contains(strings.Join(l.Notes, "\n"), "none of this model's modules") {
		t.Errorf("bytes from %s, notes %q", l.BytesSource, l.Notes)
	}
}

// TestMixedGroups reads what only the headers can tell: which module has which
// of the configuration's formats.
func TestMixedGroups(t *testing.T) {
	mixed := strings.TrimSuffix(smallMoE, "}") + `, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {
		"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "tensor"}},
		"group_1": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}}}}}`
	c := newCheckpoint(t, mixed)
	if _, err := Load(c.dir, "", Options{}); err == nil || !strings.Contains(err.Error(), "give the folder") {
		t.Errorf("without headers: %v", err)
	}
	fillMoE(c, "model.", func(string) string { return "model.safetensors" })
	c.write(t)
	l, err := Load(c.dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counted(l.Decoder), c.read("embed_tokens"); got != want {
		t.Errorf("counted %.0f bytes, the file holds %.0f", got, want)
	}
}
