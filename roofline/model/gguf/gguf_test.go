package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// small is a model of a few tensors and all kinds of values.
func small() model {
	return model{
		pairs: []pair{
			{"general.architecture", "llama"},
			{"llama.block_count", uint32(2)},
			{"u8", uint8(200)}, {"i8", int8(-3)}, {"u16", uint16(65535)}, {"i16", int16(-300)},
			{"i32", int32(-70000)}, {"i64", int64(-1 << 40)}, {"u64", uint64(1 << 40)},
			{"huge", uint64(1 << 63)},
			{"f32", float32(0.5)}, {"f64", 1e300}, {"yes", true}, {"no", false},
			{"name", "größe"}, {"latin", "gr\xf6\xdfe"}, {"empty", ""},
			{"heads", []any{int32(8), int32(0), int32(4)}},
			{"scales", []any{float32(1), float32(0.25)}},
			{"flags", []any{true, false}},
			{"tags", []any{"a", "", "b"}},
			{"beyond", []any{uint64(1), uint64(1 << 63)}},
			{"tokenizer.ggml.tokens", many(5000, "tok")},
			{"tokenizer.ggml.scores", many(5000, float32(1))},
			{"long strings", many(10, strings.Repeat("x", 10_000))},
			{"long string", strings.Repeat("y", maxString+1)},
			{"last", uint8(1)},
		},
		tensors: []info{
			{name: "blk.1.w", id: 12, shape: []uint64{512, 3}, size: 864},
			{name: "blk.0.norm", id: 0, shape: []uint64{5}, size: 20},
			{name: "blk.0.w", id: 40, shape: []uint64{128, 2, 3}, size: 432},
			{name: "scalar", id: 30, size: 2},
			{name: "none", id: 8, shape: []uint64{32, 0}, size: 0},
		},
	}
}

func wantTensors(file string) []Tensor {
	return []Tensor{
		{"blk.0.norm", Type{"F32", 1, 4}, []int64{5}, 20, file},
		{"blk.0.w", Type{"NVFP4", 64, 36}, []int64{128, 2, 3}, 432, file},
		{"blk.1.w", Type{"Q4_K", 256, 144}, []int64{512, 3}, 864, file},
		{"none", Type{"Q8_0", 32, 34}, []int64{32, 0}, 0, file},
		{"scalar", Type{"BF16", 1, 2}, []int64{}, 2, file},
	}
}

func TestReadFile(t *testing.T) {
	big, two := small(), small()
	big.order, two.version = binary.BigEndian, 2
	aligned := small()
	aligned.pairs = append(aligned.pairs, pair{"general.alignment", uint32(128)})
	dir := write(t, map[string]model{"little.gguf": small(), "big.gguf": big, "two.gguf": two, "aligned.gguf": aligned})
	for name, want := range map[string]File{
		"little.gguf":  {Version: 3},
		"big.gguf":     {Version: 3, BigEndian: true},
		"two.gguf":     {Version: 2},
		"aligned.gguf": {Version: 3},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			checkValues(t, f)
			want.Architecture, want.Tensors, want.Files = "llama", wantTensors(name), []string{name}
			f.metadata = metadata{}
			if !reflect.DeepEqual(*f, want) {
				t.Errorf("got\n%+v, want\n%+v", *f, want)
			}
		})
	}
}

// checkValues asks a file of small for all its values.
func checkValues(t *testing.T, f *File) {
	t.Helper()
	for key, want := range map[string]int64{
		"llama.block_count": 2, "u8": 200, "i8": -3, "u16": 65535, "i16": -300, "i32": -70000,
		"i64": -1 << 40, "u64": 1 << 40, "last": 1,
	} {
		if got, ok := f.Int(key); got != want || !ok {
			t.Errorf("%s: got %d, %v, want %d", key, got, ok, want)
		}
	}
	for key, want := range map[string]string{"name": "größe", "latin": "gr\uFFFDe", "empty": ""} {
		if got, ok := f.String(key); got != want || !ok {
			t.Errorf("%s: got %q, %v, want %q", key, got, ok, want)
		}
	}
	for key, want := range map[string]float64{"f32": 0.5, "f64": 1e300} {
		if got, ok := f.Float(key); got != want || !ok {
			t.Errorf("%s: got %v, %v, want %v", key, got, ok, want)
		}
	}
	for key, want := range map[string]bool{"yes": true, "no": false} {
		if got, ok := f.Bool(key); got != want || !ok {
			t.Errorf("%s: got %v, %v, want %v", key, got, ok, want)
		}
	}
	if got, ok := f.Ints("heads"); !reflect.DeepEqual(got, []int64{8, 0, 4}) || !ok {
		t.Errorf("heads: got %v, %v", got, ok)
	}
	if got, ok := f.Floats("scales"); !reflect.DeepEqual(got, []float64{1, 0.25}) || !ok {
		t.Errorf("scales: got %v, %v", got, ok)
	}
	if got, ok := f.Bools("flags"); !reflect.DeepEqual(got, []bool{true, false}) || !ok {
		t.Errorf("flags: got %v, %v", got, ok)
	}
	if got, ok := f.Strings("tags"); !reflect.DeepEqual(got, []string{"a", "", "b"}) || !ok {
		t.Errorf("tags: got %q, %v", got, ok)
	}
	for key, want := range map[string]int64{
		"heads": 3, "tags": 3, "beyond": 2, "tokenizer.ggml.tokens": 5000, "tokenizer.ggml.scores": 5000, "long strings": 10,
	} {
		if got, ok := f.Len(key); got != want || !ok {
			t.Errorf("length of %s: got %d, %v, want %d", key, got, ok, want)
		}
	}
	// What is not there, of another kind, or not kept.
	for _, key := range []string{"absent", "huge", "name", "heads", "f32", "yes"} {
		if got, ok := f.Int(key); ok {
			t.Errorf("%s as a number: got %d", key, got)
		}
	}
	for _, key := range []string{"absent", "u8", "long string"} {
		if got, ok := f.String(key); ok {
			t.Errorf("%s as a string: got %q", key, got)
		}
		if got, ok := f.Len(key); ok {
			t.Errorf("length of %s: got %d", key, got)
		}
	}
	for _, key := range []string{"tokenizer.ggml.tokens", "long strings", "heads"} {
		if got, ok := f.Strings(key); ok {
			t.Errorf("%s as strings: got %d", key, len(got))
		}
	}
	if got, ok := f.Ints("beyond"); ok {
		t.Errorf("beyond as numbers: got %d", got)
	}
	if got, ok := f.Floats("tokenizer.ggml.scores"); ok {
		t.Errorf("scores: got %d", len(got))
	}
	if keys := f.Keys(); len(keys) < 27 || keys[0] != "beyond" {
		t.Errorf("keys: %q", keys)
	}
}

// TestTypes checks the table against the structures of ggml-common.h, written
// out here as sums of their fields.
func TestTypes(t *testing.T) {
	const half, float = 2, 4
	want := map[uint32]Type{
		0: {"F32", 1, 4}, 1: {"F16", 1, 2}, 30: {"BF16", 1, 2}, 28: {"F64", 1, 8},
		24: {"I8", 1, 1}, 25: {"I16", 1, 2}, 26: {"I32", 1, 4}, 27: {"I64", 1, 8},
		2: {"Q4_0", 32, half + 32/2}, 3: {"Q4_1", 32, 2*half + 32/2},
		6: {"Q5_0", 32, half + 4 + 32/2}, 7: {"Q5_1", 32, 2*half + 4 + 32/2},
		8: {"Q8_0", 32, half + 32}, 9: {"Q8_1", 32, 2*half + 32},
		10: {"Q2_K", 256, 2*half + 256/16 + 256/4}, 11: {"Q3_K", 256, half + 256/4 + 256/8 + 12},
		12: {"Q4_K", 256, 2*half + 12 + 256/2}, 13: {"Q5_K", 256, 2*half + 12 + 256/2 + 256/8},
		14: {"Q6_K", 256, half + 256/16 + 3*256/4}, 15: {"Q8_K", 256, float + 256 + 256/16*2},
		16: {"IQ2_XXS", 256, half + 256/8*2}, 17: {"IQ2_XS", 256, half + 256/8*2 + 256/32},
		18: {"IQ3_XXS", 256, half + 3*(256/8)}, 19: {"IQ1_S", 256, half + 256/8 + 256/16},
		20: {"IQ4_NL", 32, half + 32/2}, 21: {"IQ3_S", 256, half + 13*(256/32) + 256/64},
		22: {"IQ2_S", 256, half + 256/4 + 256/16}, 23: {"IQ4_XS", 256, half + 2 + 256/64 + 256/2},
		29: {"IQ1_M", 256, 256/8 + 256/16 + 256/32},
		34: {"TQ1_0", 256, half + 256/64 + (256-4*256/64)/5}, 35: {"TQ2_0", 256, half + 256/4},
		39: {"MXFP4", 32, 1 + 32/2}, 40: {"NVFP4", 64, 64/16 + 64/2},
		41: {"Q1_0", 128, half + 128/8}, 42: {"Q2_0", 64, half + 64/4},
	}
	removed := map[uint32]string{4: "Q4_2", 5: "Q4_3", 31: "Q4_0_4_4", 32: "Q4_0_4_8", 33: "Q4_0_8_8",
		36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8", 38: "IQ4_NL_8_8"}
	for id := range uint32(len(types)) {
		got, err := typeOf(id)
		if name, gone := removed[id]; gone {
			checkError(t, err, name+", has been removed")
		} else if err != nil || got != want[id] {
			t.Errorf("type %d: got %v, %v, want %v", id, got, err, want[id])
		}
	}
	if len(want)+len(removed) != len(types) {
		t.Errorf("%d types, want %d and %d removed", len(types), len(want), len(removed))
	}
	for _, id := range []uint32{43, 1 << 31, math.MaxUint32} {
		_, err := typeOf(id)
		checkError(t, err, "expected one up to 42 (Q2_0)")
	}
}

func TestTruncated(t *testing.T) {
	whole := small().bytes()
	for cut, want := range map[int][]string{0: nil, 100: {"x.gguf"}, 900: {"x.gguf"}} {
		b := whole[:len(whole)-cut]
		f, err := Read(bytes.NewReader(b), int64(len(b)), "x.gguf")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(f.Truncated, want) || len(f.Tensors) != 5 {
			t.Errorf("without the last %d bytes: truncated %q, %d tensors", cut, f.Truncated, len(f.Tensors))
		}
	}
	// The last tensor need not be padded; a file without tensors has no data.
	m := model{tensors: []info{{name: "t", id: 24, shape: []uint64{5}, size: 5}}, data: 5}
	for _, b := range [][]byte{m.bytes(), model{}.bytes()} {
		if f, err := Read(bytes.NewReader(b), int64(len(b)), "x"); err != nil || f.Truncated != nil {
			t.Errorf("got %+v, %v", f, err)
		}
	}
}

func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("loop.gguf", filepath.Join(dir, "loop.gguf")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty.gguf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                               "a folder",
		filepath.Join(dir, "loop.gguf"):   "loop.gguf: ", // the system's words
		filepath.Join(dir, "empty.gguf"):  "4 bytes to come, but the file ends at byte 0",
		filepath.Join(dir, "absent.gguf"): "no such file",
		os.DevNull:                        "not a regular file",
	} {
		_, err := ReadFile(path)
		checkError(t, err, "gguf file "+path+": ", want)
	}
}
