package safetensors

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	dir := write(t, map[string]any{"model.safetensors": []entry{
		{"model.layers.1.w", "BF16", []int64{3, 5}, 30},
		{"model.layers.1.scale", "F8_E4M3", []int64{3}, 3},
		{"packed", "F4", []int64{3, 2}, 3},
		{"six", "F6_E3M2", []int64{4}, 3},
		{"scalar", "F32", nil, 4},
		{"none", "I64", []int64{0, 7}, 0},
		{"later", "Q9_X", []int64{3, 3}, 11},
		{"größe\n", "U8", []int64{1}, 1},
	}})
	h, err := ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	const file = "model.safetensors"
	want := &Header{
		Tensors: []Tensor{
			{"größe\n", "U8", []int64{1}, 1, file},
			{"later", "Q9_X", []int64{3, 3}, 11, file},
			{"model.layers.1.scale", "F8_E4M3", []int64{3}, 3, file},
			{"model.layers.1.w", "BF16", []int64{3, 5}, 30, file},
			{"none", "I64", []int64{0, 7}, 0, file},
			{"packed", "F4", []int64{3, 2}, 3, file},
			{"scalar", "F32", []int64{}, 4, file},
			{"six", "F6_E3M2", []int64{4}, 3, file},
		},
		Metadata: map[string]string{"format": "pt"},
		Files:    []string{file},
	}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("got\n%+v, want\n%+v", h, want)
	}
}

// TestForms reads headers that are written otherwise than usual.
func TestForms(t *testing.T) {
	const a = `"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}`
	const b = `"b":{"shape":[],"data_offsets":[2,3],"dtype":"BOOL"}`
	for _, c := range []struct {
		header string
		data   int64
		names  string
	}{
		{`{}`, 0, ""},
		{"{ }   ", 0, ""},
		{"{" + b + "," + a + "}", 3, "a b"},
		{"{\t" + a + "\r\n,  " + b + "} ", 3, "a b"},
		{`{"__metadata__":null,` + a + "}", 2, "a"},
		{"{" + a + `,"__metadata__":{}}`, 2, "a"},
		{`{"\u0061\ud83d\ude00\/\"":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"note":[{"x":[-1.5e+3,true,null,"y"]}]}}`, 2, "a😀/\""},
		// A tensor without data at the place of another.
		{"{" + a + `,"z":{"dtype":"F64","shape":[0],"data_offsets":[0,0]}}`, 2, "a z"},
		{"{" + a + `,"z":{"dtype":"F64","shape":[0],"data_offsets":[2,2]}}`, 2, "a z"},
	} {
		h, err := Read(bytes.NewReader(fileOf(c.header, c.data)), int64(8+len(c.header))+c.data, "x")
		if err != nil {
			t.Errorf("%s: %v", c.header, err)
			continue
		}
		var names []string
		for _, tensor := range h.Tensors {
			names = append(names, tensor.Name)
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%s: got %q, want %q", c.header, got, c.names)
		}
	}
}

func TestTruncated(t *testing.T) {
	whole := valid(entry{"a", "F32", []int64{4}, 16}, entry{"b", "F32", []int64{4}, 16})
	dir := write(t, map[string]any{"whole.safetensors": whole, "cut.safetensors": whole[:len(whole)-17]})
	for name, want := range map[string][]string{"whole.safetensors": nil, "cut.safetensors": {"cut.safetensors"}} {
		h, err := ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(h.Truncated, want) || len(h.Tensors) != 2 || h.Tensors[1].Bytes != 16 {
			t.Errorf("%s: got %+v, want truncated %q and two tensors", name, h, want)
		}
	}
}

// TestMetadataIsBounded keeps what is of use and drops what is huge.
func TestMetadataIsBounded(t *testing.T) {
	var all strings.Builder
	all.WriteString(`{"format":"pt","huge":"` + strings.Repeat("x", maxValue+1) + `"`)
	for i := range 40 {
		all.WriteString(`,"k` + strings.Repeat("k", i) + `":"` + strings.Repeat("v", maxValue) + `"`)
	}
	header := headerOf(all.String()+"}", entry{"a", "U8", []int64{1}, 1})
	h, err := Read(bytes.NewReader(fileOf(header, 1)), int64(len(header)+9), "x")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for k, v := range h.Metadata {
		total += len(k) + len(v)
	}
	if _, ok := h.Metadata["huge"]; ok || h.Metadata["format"] != "pt" || total > maxMetadata || total < maxMetadata/2 {
		t.Errorf("kept %d bytes, huge: %v, format: %q", total, ok, h.Metadata["format"])
	}
}

func TestNotAFile(t *testing.T) {
	dir := write(t, map[string]any{
		"folder.safetensors": "folder",
		"loop.safetensors":   "-> loop.safetensors",
		"empty.safetensors":  "",
		"short.safetensors":  "1234567",
	})
	for name, want := range map[string]string{
		"folder.safetensors": "a folder",
		"loop.safetensors":   "", // the system's words
		"empty.safetensors":  "0 bytes, expected at least the 8",
		"short.safetensors":  "7 bytes, expected at least the 8",
		"absent.safetensors": "no such file",
	} {
		_, err := ReadFile(filepath.Join(dir, name))
		checkError(t, err, name, want)
	}
	_, err := ReadFile(os.DevNull)
	checkError(t, err, "not a regular file")
}
