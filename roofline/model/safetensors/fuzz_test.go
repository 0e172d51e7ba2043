package safetensors

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzHeader reads any file, and one that is accepted also with encoding/json:
// the two must agree on every tensor.
func FuzzHeader(f *testing.F) {
	f.Add(valid(shardA...))
	f.Add(valid(shardB...)[:20])
	f.Add(valid())
	f.Add(valid(entry{"größe\n", "F4", []int64{3, 2}, 3}, entry{"s", "F32", nil, 4}, entry{"none", "I64", []int64{0, 7}, 0}, entry{"later", "Q9", []int64{3}, 11}))
	f.Add(fileOf("{ \"\\u0061\\ud83d\\ude00\":{\"data_offsets\":[0,2],\"note\":[{\"x\":[-1.5e+3,true,null,\"y\"]}],\"dtype\":\"U8\",\"shape\":[2]}}  ", 2))
	f.Fuzz(func(t *testing.T, file []byte) {
		before := allocated()
		h, err := Read(bytes.NewReader(file), int64(len(file)), "x")
		if n := allocated() - before; n > mostAllocated {
			t.Errorf("%d bytes allocated for a file of %d", n, len(file))
		}
		if err != nil {
			checkError(t, err)
			return
		}
		if !slices.IsSortedFunc(h.Tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("not sorted: %v", h.Tensors)
		}
		length := 8 + int64(file[0]) + int64(file[1])<<8 + int64(file[2])<<16 + int64(file[3])<<24
		var sum int64
		for _, tensor := range h.Tensors {
			sum += tensor.Bytes
		}
		if cut := len(h.Truncated) > 0; cut != (length+sum > int64(len(file))) || !cut && length+sum != int64(len(file)) {
			t.Errorf("truncated %v: %d bytes of header, %d of tensors, %d of file", cut, length, sum, len(file))
		}
		if want := decode(t, file[8:length]); !reflect.DeepEqual(h.Tensors, want) {
			t.Errorf("got\n%v, encoding/json has\n%v", h.Tensors, want)
		}
	})
}

// decode is the tensors of a header by encoding/json.
func decode(t *testing.T, header []byte) []Tensor {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(header, &all); err != nil {
		t.Fatalf("encoding/json refuses what Read takes: %v", err)
	}
	delete(all, "__metadata__")
	out := []Tensor{}
	for name, raw := range all {
		// A map, since the fields of a struct would match in any case.
		var fields map[string]json.RawMessage
		var offsets [2]int64
		tensor := Tensor{Name: name, File: "x"}
		for _, err := range []error{
			json.Unmarshal(raw, &fields),
			json.Unmarshal(fields["dtype"], &tensor.DType),
			json.Unmarshal(fields["shape"], &tensor.Shape),
			json.Unmarshal(fields["data_offsets"], &offsets),
		} {
			if err != nil {
				t.Fatalf("encoding/json refuses what Read takes: %q: %v", name, err)
			}
		}
		tensor.Bytes = offsets[1] - offsets[0]
		out = append(out, tensor)
	}
	slices.SortFunc(out, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// FuzzJSON compares the scanner with encoding/json on any text: whether it is
// JSON, and what its strings say. The scanner also refuses broken UTF-8, lone
// surrogates and deep nesting, which encoding/json lets pass.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+10,true,false,null],"b":{"c":"d"}}`, `"\u00e4\ud83d\ude00\n\\"`, "\"ä😀\x7f\"", ` [ ] `, `{}`,
		`1e`, `01`, `-`, `[1,]`, `{"a"}`, `nul`, `"`, `"\`, "\"\\ud800\"", strings.Repeat("[", 70), "1\x00", `0E-0`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		// A window of few bytes has every token cross its edge.
		for _, size := range []int{12, window} {
			s := scanner{src: bytes.NewReader(text), stop: int64(len(text)), buf: make([]byte, 0, size)}
			err := s.skip(0)
			if err == nil {
				err = s.close()
			}
			switch valid := json.Valid(text); {
			case err == nil && !valid:
				t.Errorf("the scanner takes %q, encoding/json does not", text)
			case err != nil && valid && utf8.Valid(text) && !stricter(err):
				t.Errorf("encoding/json takes %q, the scanner does not: %v", text, err)
			}
			s = scanner{src: bytes.NewReader(text), stop: int64(len(text)), buf: make([]byte, 0, size)}
			if s.string(len(text), "a string") == nil && s.close() == nil {
				var want string
				if err := json.Unmarshal(text, &want); err != nil || string(s.text) != want || !s.fits {
					t.Errorf("string %q: got %q, encoding/json has %q, %v", text, s.text, want, err)
				}
			}
			s = scanner{src: bytes.NewReader(text), stop: int64(len(text)), buf: make([]byte, 0, size)}
			if got, err := s.integer(); err == nil && s.close() == nil {
				var want int64
				if err := json.Unmarshal(text, &want); err != nil || got != want {
					t.Errorf("integer %q: got %d, encoding/json has %d, %v", text, got, want, err)
				}
			}
		}
	})
}

// stricter says whether the scanner refused what encoding/json is known to
// let pass.
func stricter(err error) bool {
	return strings.Contains(err.Error(), "half a surrogate pair") || strings.Contains(err.Error(), "nested over")
}

// FuzzIndex reads any index; the folder holds one shard.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(indexOf("a.w", "x.safetensors", "b.w", "x.safetensors")))
	f.Add([]byte(indexOf("a.w", "x.safetensors", "b.w", "x.safetensors", "c.w", "y.safetensors")))
	f.Add([]byte(indexOf("c.w", "../../etc/passwd")))
	f.Add([]byte(`{"weight_map":{},"metadata":{"total_size":1.5e3,"x":[{}],"y":"z"},"other":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := write(t, map[string]any{indexName: text, "x.safetensors": shardA})
		before := allocated()
		h, err := ReadFolder(dir)
		if n := allocated() - before; n > mostAllocated {
			t.Errorf("%d bytes allocated for an index of %d", n, len(text))
		}
		if err != nil {
			checkError(t, err)
			return
		}
		if !json.Valid(text) {
			t.Errorf("encoding/json refuses the index %q", text)
		}
		for _, file := range append(h.Missing, h.Files...) {
			if strings.ContainsAny(file, "/\\\x00\n") {
				t.Errorf("file %q", file)
			}
		}
	})
}

// mostAllocated is what reading any input may allocate in all, freed or not.
const mostAllocated = 64 << 20

// allocated is the bytes allocated since the start, cheap enough to ask for
// around every input.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
