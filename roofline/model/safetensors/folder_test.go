package safetensors

import (
	"path/filepath"
	"reflect"
	"testing"
)

func TestReadFolder(t *testing.T) {
	const one, two = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	for _, c := range []struct {
		name    string
		files   map[string]any
		read    []string // Files
		missing []string
	}{
		{"index", map[string]any{indexName: indexOf("a.w", "x.safetensors", "b.w", "x.safetensors"), "x.safetensors": shardA, "y.safetensors": shardB}, []string{"x.safetensors"}, nil},
		{"index with another name", map[string]any{"consolidated.safetensors.index.json": indexOf("c.w", "x.safetensors"), "x.safetensors": shardB}, []string{"x.safetensors"}, nil},
		{"the usual index of two", map[string]any{indexName: indexOf("c.w", "x.safetensors"), "other" + indexSuffix: "", "x.safetensors": shardB}, []string{"x.safetensors"}, nil},
		{"index of the single file", map[string]any{indexName: indexOf("c.w", single), single: shardB}, []string{single}, nil},
		{"index, nothing yet", map[string]any{indexName: indexOf("c.w", two)}, nil, []string{two}},
		{"single", map[string]any{single: shardA, "config.json": "{}"}, []string{single}, nil},
		{"single and an adapter", map[string]any{single: shardA, "adapter_model.safetensors": shardB}, []string{single}, nil},
		{"one with another name", map[string]any{"consolidated.safetensors": shardA}, []string{"consolidated.safetensors"}, nil},
		{"shards", map[string]any{one: shardA, two: shardB}, []string{one, two}, nil},
		{"shards and something else", map[string]any{one: shardA, two: shardB, "adapter_model.safetensors": "x"}, []string{one, two}, nil},
		{"second shard missing", map[string]any{one: shardA}, []string{one}, []string{two}},
		{"first shard missing", map[string]any{two: shardA}, []string{two}, []string{one}},
		{"no shard, though it looks like one", map[string]any{"model-00003-of-00002.safetensors": shardA}, []string{"model-00003-of-00002.safetensors"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := ReadFolder(write(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(h.Files, c.read) || !reflect.DeepEqual(h.Missing, c.missing) {
				t.Errorf("read %q, missing %q; want %q and %q", h.Files, h.Missing, c.read, c.missing)
			}
		})
	}
}

func TestRefusedFolders(t *testing.T) {
	const one, two = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	for _, c := range []struct {
		name  string
		files map[string]any
		want  string
	}{
		{"empty", nil, "no *.safetensors"},
		{"something else", map[string]any{"pytorch_model.bin": "x"}, "no *.safetensors"},
		{"two files", map[string]any{"a.safetensors": shardA, "b.safetensors": shardB}, `any of "a.safetensors", "b.safetensors"; name the file`},
		{"two sets", map[string]any{one: shardA, "model-00001-of-00003.safetensors": shardB}, "name the file"},
		{"single and shards", map[string]any{one: shardA, two: shardB, single: shardA}, "name the file"},
		{"two indexes", map[string]any{"a" + indexSuffix: "", "b" + indexSuffix: ""}, "name the file"},
		{"index of other files than the single", map[string]any{indexName: indexOf("c.w", two), two: shardB, single: shardA}, "name the file"},
		{"tensor in two shards", map[string]any{one: shardA, two: shardA}, "is in " + one + " and in " + two},
		{"bad shard", map[string]any{one: shardA, two: "<html>no such page"}, two + ": header length"},
		{"control characters", map[string]any{"a\x1b[31m.safetensors": shardA, "b.safetensors": shardB}, `\x1b[31m`},
		{"control characters, one file", map[string]any{"a\x1b[31m.safetensors": "x"}, `\x1b[31m.safetensors": 1 bytes`},
		{"control characters, shards", map[string]any{"a\n-00001-of-00002.safetensors": "x"}, `"a\n-00001-of-00002.safetensors": 1 bytes`},
		{"many", map[string]any{"a.safetensors": "", "b.safetensors": "", "c.safetensors": "", "d.safetensors": "", "e.safetensors": ""}, `"d.safetensors" ...; name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadFolder(write(t, c.files))
			checkError(t, err, "checkpoint folder", c.want)
		})
	}
	_, err := ReadFolder(filepath.Join(t.TempDir(), "absent"))
	checkError(t, err, "checkpoint folder", "no such file")
}
