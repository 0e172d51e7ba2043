package gguf

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

var (
	archKeys = []pair{{"general.architecture", "qwen3"}, {"qwen3.block_count", uint32(1)}}
	infoA    = info{name: "a", id: 0, shape: []uint64{8}, size: 32}
	infoB    = info{name: "b", id: 8, shape: []uint64{32}, size: 34}
	infoC    = info{name: "c", id: 1, shape: []uint64{1}, size: 2}
)

const (
	p1, p2, p3 = "m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"
)

func TestSplit(t *testing.T) {
	files := func(names ...string) map[string]model {
		all := map[string]model{
			p1: part(1, 3, 3, archKeys), // metadata only, as llama-gguf-split can write it
			p2: part(2, 3, 3, nil, infoB, infoA),
			p3: part(3, 3, 3, nil, infoC),
		}
		out := make(map[string]model)
		for _, n := range names {
			out[n] = all[n]
		}
		return out
	}
	tensors := []Tensor{
		{"a", Type{"F32", 1, 4}, []int64{8}, 32, p2},
		{"b", Type{"Q8_0", 32, 34}, []int64{32}, 34, p2},
		{"c", Type{"F16", 1, 2}, []int64{1}, 2, p3},
	}
	for _, c := range []struct {
		name  string
		files map[string]model
		read  string
		want  File
	}{
		{"by the first", files(p1, p2, p3), p1, File{Architecture: "qwen3", Tensors: tensors, Files: []string{p1, p2, p3}}},
		{"by the last", files(p1, p2, p3), p3, File{Architecture: "qwen3", Tensors: tensors, Files: []string{p1, p2, p3}}},
		{"last missing", files(p1, p2), p2, File{Architecture: "qwen3", Tensors: tensors[:2], Files: []string{p1, p2}, Missing: []string{p3}, MissingTensors: 1}},
		{"first missing", files(p2, p3), p2, File{Tensors: tensors, Files: []string{p2, p3}, Missing: []string{p1}}},
		{"only one", files(p3), p3, File{Tensors: tensors[2:], Files: []string{p3}, Missing: []string{p1, p2}, MissingTensors: 2}},
		{"not split", map[string]model{p1: files(p1)[p1], "x.gguf": {pairs: archKeys, tensors: []info{infoA}}}, "x.gguf",
			File{Architecture: "qwen3", Tensors: []Tensor{{"a", Type{"F32", 1, 4}, []int64{8}, 32, "x.gguf"}}, Files: []string{"x.gguf"}}},
		{"one of one", map[string]model{"m-00001-of-00001.gguf": {tensors: []info{infoA}}}, "m-00001-of-00001.gguf",
			File{Tensors: []Tensor{{"a", Type{"F32", 1, 4}, []int64{8}, 32, "m-00001-of-00001.gguf"}}, Files: []string{"m-00001-of-00001.gguf"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := ReadFile(filepath.Join(write(t, c.files), c.read))
			if err != nil {
				t.Fatal(err)
			}
			f.metadata = metadata{}
			c.want.Version = 3
			if !reflect.DeepEqual(*f, c.want) {
				t.Errorf("got\n%+v, want\n%+v", *f, c.want)
			}
		})
	}
}

func TestRefusedSplits(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]model
		read  string
		want  string
	}{
		{"renamed", map[string]model{"m.gguf": part(2, 3, 3, nil, infoA)}, "m.gguf", "it says it is part 2 of 3, expected a name that ends in -00002-of-00003.gguf"},
		{"another number", map[string]model{p1: part(2, 3, 3, nil, infoA)}, p1, "it says it is part 2 of 3"},
		{"another count", map[string]model{"m-00001-of-00002.gguf": part(1, 3, 3, nil, infoA)}, "m-00001-of-00002.gguf", "it says it is part 1 of 3"},
		{"a name only", map[string]model{p1: {tensors: []info{infoA}}}, p1, "the name says it is part 1 of 3, but split.count is absent or 1"},
		{"a stranger", map[string]model{p1: part(1, 3, 3, nil, infoA), p2: part(3, 3, 3, nil, infoB)}, p1, "part " + p2 + " says it is part 3 of 3"},
		{"a stranger that is not split", map[string]model{p1: part(1, 3, 3, nil, infoA), p2: {}}, p1, "says it is part 1 of 1 with 0 tensors in all"},
		{"another total", map[string]model{p1: part(1, 3, 3, nil, infoA), p2: part(2, 3, 4, nil, infoB)}, p1, "with 4 tensors in all, expected 2 of 3 with 3"},
		{"too few tensors", map[string]model{p1: part(1, 3, 4, nil, infoA), p2: part(2, 3, 4, nil, infoB), p3: part(3, 3, 4, nil, infoC)}, p1, "3 tensors in 3 of 3 parts, but split.tensors.count is 4"},
		{"too many tensors", map[string]model{p1: part(1, 3, 1, nil, infoA), p2: part(2, 3, 1, nil, infoB)}, p1, "2 tensors in 2 of 3 parts, but split.tensors.count is 1"},
		{"tensor in two parts", map[string]model{p1: part(1, 3, 3, nil, infoA), p2: part(2, 3, 3, nil, infoA)}, p1, `tensor "a" is in ` + p1 + " and in " + p2},
		{"bad part", map[string]model{p1: part(1, 3, 3, nil, infoA), p2: {version: 9}}, p1, "part " + p2 + ": GGUF version 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadFile(filepath.Join(write(t, c.files), c.read))
			checkError(t, err, "gguf file ", c.want)
		})
	}
	dir := write(t, map[string]model{p1: part(1, 3, 3, nil, infoA)})
	if err := os.Mkdir(filepath.Join(dir, p2), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := ReadFile(filepath.Join(dir, p1))
	checkError(t, err, "part "+p2+": a folder")
}

func TestPartOf(t *testing.T) {
	for name, want := range map[string]string{
		"m-00001-of-00003.gguf": "m", "-00002-of-00002.gguf": "", "a-b-99999-of-99999.gguf": "a-b",
		"m-00000-of-00003.gguf": "no", "m-00004-of-00003.gguf": "no", "m-0001-of-00003.gguf": "no",
		"m-00001-of-00003.bin": "no", "m-+0001-of-00003.gguf": "no", "m-00001-to-00003.gguf": "no",
		"m_00001-of-00003.gguf": "no", ".gguf": "no", "m-     -of-     .gguf": "no",
	} {
		prefix, number, count, ok := partOf(name)
		if ok != (want != "no") || ok && (prefix != want || partName(prefix, number, count) != name) {
			t.Errorf("%s: got %q, %d of %d, %v", name, prefix, number, count, ok)
		}
	}
}
