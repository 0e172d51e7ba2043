package safetensors

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const indexName = "model.safetensors.index.json"

var (
	shardA = []entry{{"b.w", "BF16", []int64{2, 2}, 8}, {"a.w", "F8_E4M3", []int64{4}, 4}}
	shardB = []entry{{"c.w", "F32", []int64{2}, 8}}
)

func TestReadIndex(t *testing.T) {
	const one, two = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	index := indexOf("c.w", two, "a.w", one, "b.w", one)
	tensors := []Tensor{
		{"a.w", "F8_E4M3", []int64{4}, 4, one},
		{"b.w", "BF16", []int64{2, 2}, 8, one},
		{"c.w", "F32", []int64{2}, 8, two},
	}
	note := map[string]string{"total_size": "20", "note": "x"}
	whole := valid(shardB...)
	for _, c := range []struct {
		name  string
		files map[string]any
		want  Header
	}{
		{"whole", map[string]any{one: shardA, two: shardB},
			Header{Tensors: tensors, Files: []string{two, one}}},
		{"other files do not matter", map[string]any{one: shardA, two: shardB, "adapter.safetensors": "x"},
			Header{Tensors: tensors, Files: []string{two, one}}},
		{"second missing", map[string]any{one: shardA},
			Header{Tensors: tensors[:2], Files: []string{one}, Missing: []string{two},
				Absent: []Absent{{"c.w", two}}}},
		{"first missing", map[string]any{two: shardB},
			Header{Tensors: tensors[2:], Files: []string{two}, Missing: []string{one},
				Absent: []Absent{{"a.w", one}, {"b.w", one}}}},
		{"all missing", nil,
			Header{Tensors: []Tensor{}, Missing: []string{two, one},
				Absent: []Absent{{"a.w", one}, {"b.w", one}, {"c.w", two}}}},
		{"link to nothing", map[string]any{one: shardA, two: "-> ../blobs/absent"},
			Header{Tensors: tensors[:2], Files: []string{one}, Missing: []string{two},
				Absent: []Absent{{"c.w", two}}}},
		{"link into a cache", map[string]any{one: shardA, "blob": shardB, two: "-> blob"},
			Header{Tensors: tensors, Files: []string{two, one}}},
		{"second cut short", map[string]any{one: shardA, two: whole[:len(whole)-1]},
			Header{Tensors: tensors, Files: []string{two, one}, Truncated: []string{two}}},
		{"more than the index says", map[string]any{one: shardA, two: append([]entry{
			{"aa", "U8", []int64{1}, 1}, {"d", "U8", []int64{1}, 1}}, shardB...)},
			Header{Tensors: []Tensor{tensors[0], {"aa", "U8", []int64{1}, 1, two}, tensors[1], tensors[2],
				{"d", "U8", []int64{1}, 1, two}},
				Files: []string{two, one}, Unlisted: []string{"aa", "d"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := write(t, c.files)
			if err := os.WriteFile(filepath.Join(dir, indexName), []byte(index), 0o600); err != nil {
				t.Fatal(err)
			}
			h, err := ReadIndex(filepath.Join(dir, indexName))
			if err != nil {
				t.Fatal(err)
			}
			c.want.Metadata = note
			if !reflect.DeepEqual(*h, c.want) {
				t.Errorf("got\n%+v, want\n%+v", *h, c.want)
			}
		})
	}
}

func TestHostileIndexes(t *testing.T) {
	pointing := func(file string) map[string]any { return map[string]any{indexName: indexOf("a.w", file)} }
	for _, c := range []struct {
		name  string
		files map[string]any
		want  string
	}{
		{"outside", pointing("../../etc/passwd"), "beside the index, without a folder"},
		{"outside, right suffix", pointing("../x.safetensors"), "beside the index, without a folder"},
		{"absolute", pointing("/etc/x.safetensors"), "beside the index, without a folder"},
		{"other slashes", pointing(`..\\x.safetensors`), "beside the index, without a folder"},
		{"drive", pointing("c:x.safetensors"), "beside the index, without a folder"},
		{"in a folder", pointing("sub/x.safetensors"), "beside the index, without a folder"},
		{"parent", pointing(".."), "beside the index, without a folder"},
		{"empty", pointing(""), "beside the index, without a folder"},
		{"not safetensors", pointing("pytorch_model.bin"), "a .safetensors file"},
		{"control character", map[string]any{indexName: `{"weight_map":{"a":"x\u001b[31m.safetensors"}}`}, "no control character"},
		{"zero byte", map[string]any{indexName: `{"weight_map":{"a":"x\u0000.safetensors"}}`}, "no control character"},
		{"long file name", pointing(strings.Repeat("x", 300) + suffix), "at most 255 bytes"},
		{"very long file name", pointing(strings.Repeat("x", 3000) + suffix), "at most 255 bytes"},
		{"long name", map[string]any{indexName: indexOf(strings.Repeat("x", 1025), "x.safetensors")}, "a name of 1 to 1024 bytes"},
		{"no name", map[string]any{indexName: indexOf("", "x.safetensors")}, "a name of 1 to 1024 bytes"},
		{"no map", map[string]any{indexName: `{"metadata":{}}`}, "no weight_map"},
		{"two maps", map[string]any{indexName: `{"weight_map":{},"weight_map":{}}`}, "weight_map is there twice"},
		{"name twice", map[string]any{indexName: indexOf("a.w", "x.safetensors", "a.w", "y.safetensors")}, `tensor "a.w" is in x.safetensors and in y.safetensors`},
		{"name twice in one file", map[string]any{indexName: indexOf("a.w", "x.safetensors", "a.w", "x.safetensors")}, `tensor "a.w" is there twice`},
		{"map of numbers", map[string]any{indexName: `{"weight_map":{"a":1}}`}, `tensor "a": at byte`},
		{"cut", map[string]any{indexName: `{"weight_map":{"a":`}, "the header ends"},
		{"empty file", map[string]any{indexName: ""}, "an object with weight_map"},
		{"text after it", map[string]any{indexName: `{"weight_map":{}} {}`}, "nothing but white space"},
		{"folder", map[string]any{indexName: "folder"}, "a folder, expected a file"},
		{"not there", nil, ""},
		{"shard is a folder", map[string]any{indexName: indexOf("a.w", "x.safetensors"), "x.safetensors": "folder"}, "x.safetensors: a folder"},
		{"shard links to itself", map[string]any{indexName: indexOf("a.w", "x.safetensors"), "x.safetensors": "-> x.safetensors"}, "x.safetensors: "},
		{"shard is no safetensors file", map[string]any{indexName: indexOf("a.w", "x.safetensors"), "x.safetensors": "<html>no such page"}, "x.safetensors: header length"},
		{"tensor not in its shard", map[string]any{indexName: indexOf("a.w", "x.safetensors", "b.w", "x.safetensors", "q", "x.safetensors"), "x.safetensors": shardA}, `tensor "q" should be in x.safetensors, but is not`},
		{"tensor in another shard", map[string]any{indexName: indexOf("a.w", "x.safetensors", "b.w", "y.safetensors", "c.w", "y.safetensors"), "x.safetensors": shardA, "y.safetensors": shardB}, `tensor "b.w" should be in y.safetensors, but is in x.safetensors`},
		{"tensor in another shard, its own missing", map[string]any{indexName: indexOf("a.w", "x.safetensors", "b.w", "y.safetensors"), "x.safetensors": shardA}, `tensor "b.w" should be in y.safetensors, but is in x.safetensors`},
		{"tensor in two shards", map[string]any{indexName: indexOf("a.w", "x.safetensors", "b.w", "y.safetensors"), "x.safetensors": shardA, "y.safetensors": shardA}, `tensor "a.w" is in x.safetensors and in y.safetensors`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadIndex(filepath.Join(write(t, c.files), indexName))
			checkError(t, err, indexName, c.want)
		})
	}
}
