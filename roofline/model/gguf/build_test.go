package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// model is a file to write.
type model struct {
	version uint32           // 3 if 0
	order   binary.ByteOrder // little endian if nil
	pairs   []pair
	tensors []info
	data    int64 // bytes of it; all if 0

	// Other counts than those of pairs and tensors.
	keyCount, tensorCount uint64
	// end is written after the descriptions, without any data.
	end []byte
}

// pair is a key and a value: a Go value of the kind meant, or raw bytes with
// the kind in front.
type pair struct {
	key   string
	value any
}

type raw []byte

// info is a tensor; its offset follows the one before, unless told.
type info struct {
	name  string
	id    uint32
	shape []uint64
	size  uint64
	at    *uint64
}

func (m model) bytes() []byte {
	var b bytes.Buffer
	order := m.order
	if order == nil {
		order = binary.LittleEndian
	}
	put := func(v any) {
		if s, ok := v.(string); ok {
			binary.Write(&b, order, uint64(len(s)))
			b.WriteString(s)
			return
		}
		if err := binary.Write(&b, order, v); err != nil {
			panic(err)
		}
	}
	b.WriteString(magic)
	if m.version == 0 {
		m.version = 3
	}
	put(m.version)
	put(max(m.tensorCount, uint64(len(m.tensors))))
	put(max(m.keyCount, uint64(len(m.pairs))))
	alignment := uint64(defaultAlignment)
	for _, p := range m.pairs {
		put(p.key)
		if r, ok := p.value.(raw); ok {
			b.Write(r)
			continue
		}
		if a, ok := p.value.(uint32); ok && p.key == "general.alignment" && a > 0 {
			alignment = uint64(a)
		}
		kind, elements := kindOf(p.value)
		if elements == nil {
			put(kind)
			put(p.value)
			continue
		}
		put(uint32(kindArray))
		put(kind)
		put(uint64(len(elements)))
		for _, e := range elements {
			put(e)
		}
	}
	at := uint64(0)
	for _, t := range m.tensors {
		put(t.name)
		put(uint32(len(t.shape)))
		for _, n := range t.shape {
			put(n)
		}
		put(t.id)
		if t.at != nil {
			put(*t.at)
			continue
		}
		put(at)
		at = (at + t.size + alignment - 1) / alignment * alignment
	}
	if m.end != nil {
		return append(b.Bytes(), m.end...)
	}
	if len(m.tensors) > 0 {
		b.Write(make([]byte, (alignment-uint64(b.Len())%alignment)%alignment))
	}
	if m.data == 0 {
		m.data = int64(at)
	}
	b.Write(make([]byte, m.data))
	return b.Bytes()
}

// kindOf is the kind of a value, and its elements if it is an array.
func kindOf(v any) (uint32, []any) {
	switch x := v.(type) {
	case uint8:
		return kindUint8, nil
	case int8:
		return kindInt8, nil
	case uint16:
		return kindUint16, nil
	case int16:
		return kindInt16, nil
	case uint32:
		return kindUint32, nil
	case int32:
		return kindInt32, nil
	case uint64:
		return kindUint64, nil
	case int64:
		return kindInt64, nil
	case float32:
		return kindFloat32, nil
	case float64:
		return kindFloat64, nil
	case bool:
		return kindBool, nil
	case string:
		return kindString, nil
	case []any:
		kind, _ := kindOf(x[0])
		return kind, x
	}
	panic(fmt.Sprintf("no kind for %T", v))
}

// many is an array of count times a value.
func many(count int, v any) []any {
	out := make([]any, count)
	for i := range out {
		out[i] = v
	}
	return out
}

// part is part no, from 1 on, of a model split into count.
func part(no, count uint16, total int32, more []pair, tensors ...info) model {
	return model{tensors: tensors, pairs: append([]pair{
		{"split.no", no - 1}, {"split.count", count}, {"split.tensors.count", total},
	}, more...)}
}

func write(t *testing.T, files map[string]model) string {
	t.Helper()
	dir := t.TempDir()
	for name, m := range files {
		if err := os.WriteFile(filepath.Join(dir, name), m.bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkError wants an error of one printable line that holds all of want.
func checkError(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want %q in it", err, w)
		}
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
		t.Errorf("error %q: not one printable line", err)
	}
	if len(err.Error()) > 1000 {
		t.Errorf("error of %d bytes: %.200q", len(err.Error()), err)
	}
}
