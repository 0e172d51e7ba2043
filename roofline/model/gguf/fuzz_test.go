package gguf

import (
	"bytes"
	"encoding/binary"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
)

// FuzzHeader reads any file and checks what is true of every accepted one.
func FuzzHeader(f *testing.F) {
	plain := model{
		pairs:   []pair{{"general.architecture", "llama"}, {"heads", []any{int32(8), int32(4)}}, {"tags", []any{"a", "b"}}, {"f", 1.5}, {"yes", true}},
		tensors: []info{infoA, infoB, infoC, {name: "s", id: 30, size: 2}},
	}
	big := plain
	big.order = binary.BigEndian
	old := plain
	old.version = 2
	aligned := plain
	aligned.pairs = append([]pair{{"general.alignment", uint32(64)}}, plain.pairs...)
	for _, m := range []model{plain, big, old, aligned, {}, part(1, 3, 3, archKeys, infoA)} {
		f.Add(m.bytes())
	}
	f.Add(plain.bytes()[:len(plain.bytes())-1])
	f.Fuzz(func(t *testing.T, file []byte) {
		before := allocated()
		m, err := Read(bytes.NewReader(file), int64(len(file)), "x")
		if n := allocated() - before; n > mostAllocated {
			t.Errorf("%d bytes allocated for a file of %d", n, len(file))
		}
		if err != nil {
			checkError(t, err)
			return
		}
		if !slices.IsSortedFunc(m.Tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("not sorted: %v", m.Tensors)
		}
		var sum int64
		for _, tensor := range m.Tensors {
			elements := int64(1)
			for _, n := range tensor.Shape {
				elements *= n
			}
			if elements*int64(tensor.Type.Bytes) != tensor.Bytes*int64(tensor.Type.Block) {
				t.Errorf("%+v: %d elements", tensor, elements)
			}
			sum += tensor.Bytes
		}
		if sum > int64(len(file)) && m.Truncated == nil {
			t.Errorf("%d bytes in a file of %d, and not truncated", sum, len(file))
		}
		for _, key := range m.Keys() {
			if n, ok := m.Len(key); ok && n > int64(len(file)) {
				t.Errorf("%q: %d elements in %d bytes", key, n, len(file))
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
