package model

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/roofline"
)

// ggufFile writes a small GGUF version 3 file: metadata of whole numbers and
// strings, and tensors whose data are a hole.
type ggufFile struct {
	meta []struct {
		key   string
		value any
	}
	tensors []ggufTensor
}

type ggufTensor struct {
	name  string
	kind  uint32 // ggml type id
	shape []uint64
	bytes uint64
}

// ggmlTypes are the ids, block sizes and bytes a block this test uses, as in
// ggml.h and ggml-common.h.
var ggmlTypes = map[string][3]uint64{"F32": {0, 1, 4}, "F16": {1, 1, 2}, "Q8_0": {8, 32, 34}, "Q4_K": {12, 256, 144}, "Q6_K": {14, 256, 210}, "MXFP4": {39, 32, 17}}

func (g *ggufFile) set(key string, value any) {
	g.meta = append(g.meta, struct {
		key   string
		value any
	}{key, value})
}

func (g *ggufFile) add(name, kind string, shape ...uint64) {
	k := ggmlTypes[kind]
	n := uint64(1)
	for _, d := range shape {
		n *= d
	}
	g.tensors = append(g.tensors, ggufTensor{name, uint32(k[0]), shape, n / k[1] * k[2]})
}

// read sums the bytes of the tensors whose names hold none of the words.
func (g *ggufFile) read(except ...string) float64 {
	var sum uint64
next:
	for _, t := range g.tensors {
		for _, e := range except {
			if strings.Contains(t.name, e) {
				continue next
			}
		}
		sum += t.bytes
	}
	return float64(sum)
}

func (g *ggufFile) write(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	put := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) { put(uint64(len(s))); b.WriteString(s) }
	b.WriteString("GGUF")
	put(uint32(3))
	put(uint64(len(g.tensors)))
	put(uint64(len(g.meta)))
	for _, m := range g.meta {
		text(m.key)
		switch v := m.value.(type) {
		case string:
			put(uint32(8))
			text(v)
		case int:
			put(uint32(4))
			put(uint32(v))
		}
	}
	var offset uint64
	for _, x := range g.tensors {
		text(x.name)
		put(uint32(len(x.shape)))
		for _, d := range x.shape {
			put(d)
		}
		put(x.kind)
		put(offset)
		offset += (x.bytes + 31) / 32 * 32
	}
	for b.Len()%32 != 0 {
		b.WriteByte(0)
	}
	path := filepath.Join(t.TempDir(), "small.gguf")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(b.Len())+int64(offset)); err != nil {
		t.Fatal(err)
	}
	return path
}

func loadCounted(t *testing.T, path string) (*Loaded, float64) {
	t.Helper()
	l, err := Load(path, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if l.BytesSource != roofline.FromHeaders {
		t.Errorf("bytes from %s, want headers", l.BytesSource)
	}
	if notes := strings.Join(l.Notes, "\n"); strings.Contains(notes, "disagree") || strings.Contains(notes, "does not use") || strings.Contains(notes, "not in the tensor headers") {
		t.Errorf("notes: %s", notes)
	}
	return l, counted(l.Decoder)
}

func TestGGUFDense(t *testing.T) {
	g := &ggufFile{}
	g.set("general.architecture", "llama")
	for k, v := range map[string]int{"embedding_length": 256, "block_count": 2, "feed_forward_length": 512, "attention.head_count": 4, "attention.head_count_kv": 2, "context_length": 4096} {
		g.set("llama."+k, v)
	}
	g.add("token_embd.weight", "Q4_K", 256, 64)
	g.add("output_norm.weight", "F32", 256)
	g.add("output.weight", "Q6_K", 256, 64)
	g.add("rope_freqs.weight", "F32", 32)
	for i := range 2 {
		p := fmt.Sprintf("blk.%d.", i)
		g.add(p+"attn_norm.weight", "F32", 256)
		g.add(p+"ffn_norm.weight", "F32", 256)
		g.add(p+"attn_q.weight", "Q4_K", 256, 256)
		g.add(p+"attn_k.weight", "Q4_K", 256, 128)
		g.add(p+"attn_v.weight", "Q6_K", 256, 128)
		g.add(p+"attn_output.weight", "Q4_K", 256, 256)
		g.add(p+"ffn_gate.weight", "Q4_K", 256, 512)
		g.add(p+"ffn_up.weight", "Q4_K", 256, 512)
		g.add(p+"ffn_down.weight", "Q8_0", 512, 256)
	}
	l, got := loadCounted(t, g.write(t))
	if want := g.read("token_embd", "rope_freqs"); math.Abs(got-want) > 1e-6*want {
		t.Errorf("counted %.1f bytes, the file holds %.1f", got, want)
	}
	if l.Params() != 2*(256*256*2+2*256*128+3*256*512)+2*64*256 || l.MaxContext != 4096 {
		t.Errorf("%d parameters, context %d", l.Params(), l.MaxContext)
	}
}

// TestGGUFTied has no output.weight: the table is the head.
func TestGGUFMixtureTied(t *testing.T) {
	g := &ggufFile{}
	g.set("general.architecture", "qwen3moe")
	for k, v := range map[string]int{"embedding_length": 256, "block_count": 2, "feed_forward_length": 999, "attention.head_count": 4, "attention.head_count_kv": 2,
		"attention.key_length": 64, "expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 256} {
		g.set("qwen3moe."+k, v)
	}
	g.add("token_embd.weight", "Q8_0", 256, 64)
	g.add("output_norm.weight", "F32", 256)
	for i := range 2 {
		p := fmt.Sprintf("blk.%d.", i)
		g.add(p+"attn_norm.weight", "F32", 256)
		g.add(p+"ffn_norm.weight", "F32", 256)
		g.add(p+"attn_q_norm.weight", "F32", 64)
		g.add(p+"attn_k_norm.weight", "F32", 64)
		g.add(p+"attn_q.weight", "Q8_0", 256, 256)
		g.add(p+"attn_k.weight", "Q8_0", 256, 128)
		g.add(p+"attn_v.weight", "Q8_0", 256, 128)
		g.add(p+"attn_output.weight", "Q8_0", 256, 256)
		g.add(p+"ffn_gate_inp.weight", "F32", 256, 4)
		g.add(p+"ffn_gate_exps.weight", "Q4_K", 256, 256, 4)
		g.add(p+"ffn_up_exps.weight", "Q4_K", 256, 256, 4)
		g.add(p+"ffn_down_exps.weight", "Q6_K", 256, 256, 4)
	}
	l, got := loadCounted(t, g.write(t))
	if want := g.read(); math.Abs(got-want) > 1e-6*want {
		t.Errorf("counted %.1f bytes, the file holds %.1f", got, want)
	}
	if l.Experts != 4 || l.TopK != 2 {
		t.Errorf("%d experts, %d a token", l.Experts, l.TopK)
	}
}

func TestGGUFLatent(t *testing.T) {
	g := &ggufFile{}
	g.set("general.architecture", "deepseek2")
	for k, v := range map[string]int{"embedding_length": 256, "block_count": 2, "feed_forward_length": 512, "attention.head_count": 4, "attention.head_count_kv": 1,
		"attention.q_lora_rank": 256, "attention.kv_lora_rank": 256, "attention.key_length": 320, "attention.value_length": 256,
		"attention.key_length_mla": 128, "attention.value_length_mla": 64, "rope.dimension_count": 64, "leading_dense_block_count": 1,
		"expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 256, "expert_shared_count": 1} {
		g.set("deepseek2."+k, v)
	}
	g.add("token_embd.weight", "Q4_K", 256, 64)
	g.add("output_norm.weight", "F32", 256)
	g.add("output.weight", "Q6_K", 256, 64)
	for i := range 2 {
		p := fmt.Sprintf("blk.%d.", i)
		g.add(p+"attn_norm.weight", "F32", 256)
		g.add(p+"ffn_norm.weight", "F32", 256)
		g.add(p+"attn_q_a_norm.weight", "F32", 256)
		g.add(p+"attn_kv_a_norm.weight", "F32", 256)
		g.add(p+"attn_q_a.weight", "Q4_K", 256, 256)
		g.add(p+"attn_q_b.weight", "Q4_K", 256, 4*128)
		g.add(p+"attn_kv_a_mqa.weight", "Q8_0", 256, 320)
		g.add(p+"attn_k_b.weight", "Q8_0", 64, 256, 4)
		g.add(p+"attn_v_b.weight", "Q8_0", 256, 64, 4)
		g.add(p+"attn_output.weight", "Q4_K", 256, 256)
		if i == 0 {
			g.add(p+"ffn_gate.weight", "Q4_K", 256, 512)
			g.add(p+"ffn_up.weight", "Q4_K", 256, 512)
			g.add(p+"ffn_down.weight", "Q4_K", 512, 256)
			continue
		}
		g.add(p+"ffn_gate_inp.weight", "F32", 256, 4)
		g.add(p+"exp_probs_b.bias", "F32", 4)
		for _, x := range []string{"gate", "up", "down"} {
			g.add(p+"ffn_"+x+"_exps.weight", "Q4_K", 256, 256, 4)
			g.add(p+"ffn_"+x+"_shexp.weight", "Q8_0", 256, 256)
		}
	}
	_, got := loadCounted(t, g.write(t))
	if want := g.read("token_embd", "exp_probs_b"); math.Abs(got-want) > 1e-6*want {
		t.Errorf("counted %.1f bytes, the file holds %.1f", got, want)
	}
}

func TestGGUFErrors(t *testing.T) {
	g := &ggufFile{}
	g.set("general.architecture", "lama")
	_, err := Load(g.write(t), "", Options{})
	if err == nil || !strings.Contains(err.Error(), `unknown GGUF architecture "lama"`) || !strings.Contains(err.Error(), "llama") {
		t.Errorf("unknown architecture: %v", err)
	}
	g = &ggufFile{}
	g.set("general.architecture", "llama")
	if _, err := Load(g.write(t), "", Options{}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("no metadata: %v", err)
	}
}

// FuzzGGUFMetadata leaves metadata keys out and gives them values that no
// converter writes: an error or a decoder, and never a panic.
func FuzzGGUFMetadata(f *testing.F) {
	f.Add(uint8(8), uint64(1<<63), uint32(1), uint32(4096))
	f.Add(uint8(0), ^uint64(0), uint32(0), uint32(1))
	keys := sortedKeys(ggufFields)
	f.Fuzz(func(t *testing.T, arch uint8, have uint64, a, b uint32) {
		name := ggufArchs[int(arch)%len(ggufArchs)].name
		g := &ggufFile{}
		g.set("general.architecture", name)
		for i, k := range keys {
			if have>>i&1 != 0 {
				v := a
				if i%2 != 0 {
					v = b
				}
				g.set(name+"."+k, int(v))
			}
		}
		if have>>40&1 != 0 {
			g.set(name+".nextn_predict_layers", int(a))
		}
		g.add("token_embd.weight", "F32", 32, 8)
		g.add("blk.0.attn_q.weight", "F32", 32, 8)
		l, err := Load(g.write(t), "", Options{})
		if err == nil && l.Layers <= 0 {
			t.Errorf("%d layers", l.Layers)
		}
	})
}

// TestGGUFWithoutBlockCount is the file that has MTP layers and does not say
// how many there are in all.
func TestGGUFWithoutBlockCount(t *testing.T) {
	g := &ggufFile{}
	g.set("general.architecture", "glm4moe")
	g.set("glm4moe.nextn_predict_layers", 1)
	if _, err := Load(g.write(t), "", Options{}); err == nil || !strings.Contains(err.Error(), "num_hidden_layers") {
		t.Errorf("no block count: %v", err)
	}
}
