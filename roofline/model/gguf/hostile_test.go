package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"
)

// bytesOf is a raw value: numbers in little endian, one after the other.
func bytesOf(values ...any) raw {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func TestHostileHeaders(t *testing.T) {
	one := func(v any) model { return model{pairs: []pair{{"k", v}}} }
	tensor := func(t info) model { return model{tensors: []info{t}} }
	at := func(n uint64) *uint64 { return &n }
	long := strings.Repeat("n", 1<<20)
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"other file", []byte("PK\x03\x04 and so on"), `starts with "PK\x03\x04", expected "GGUF"`},
		{"magic only", []byte("GGUF"), "4 bytes to come, but the file ends at byte 4"},
		{"version 0", append([]byte("GGUF"), make([]byte, 20)...), "GGUF version 0"},
		{"version 1", model{version: 1}.bytes(), "GGUF version 1"},
		{"version 4", model{version: 4}.bytes(), "GGUF version 4"},
		{"big endian 2", model{version: 2, order: binary.BigEndian}.bytes(), "GGUF version 2 (big endian: true)"},
		{"2^63 keys", model{keyCount: 1 << 63}.bytes(), "9223372036854775808 metadata keys, expected at most 65536"},
		{"a million keys", model{keyCount: 1_000_000}.bytes(), "1000000 metadata keys"},
		{"more keys than there are", model{keyCount: 5}.bytes(), "the file ends at byte 24"},
		{"2^63 tensors", model{tensorCount: 1 << 63}.bytes(), "9223372036854775808 tensors, expected at most 131072"},
		{"a million tensors", model{tensorCount: 1_000_000}.bytes(), "1000000 tensors, expected at most 131072"},
		{"more tensors than there are", model{tensorCount: 131_072}.bytes(), "131072 times 25 bytes to come"},
		{"no key", model{pairs: []pair{{"", uint8(1)}}}.bytes(), "a metadata key of 0 bytes"},
		{"long key", model{pairs: []pair{{long[:65536], uint8(1)}}}.bytes(), "a metadata key of 65536 bytes, expected 1 to 65535"},
		{"key not UTF-8", model{pairs: []pair{{"a\xff", uint8(1)}}}.bytes(), `metadata key "a\xff" is not valid UTF-8`},
		{"key twice", model{pairs: []pair{{"a", uint8(1)}, {"a", uint8(1)}}}.bytes(), `metadata key "a" is there twice`},
		{"unknown kind", one(bytesOf(uint32(13))).bytes(), "value kind 13, expected one up to 12"},
		{"array of unknown kind", one(bytesOf(uint32(9), uint32(13), uint64(1))).bytes(), "value kind 13"},
		{"array of arrays", one(bytesOf(uint32(9), uint32(9), uint64(1), uint32(0), uint64(0))).bytes(), "an array of arrays"},
		{"array of 2^63", one(bytesOf(uint32(9), uint32(0), uint64(1<<63))).bytes(), "9223372036854775808 bytes to come"},
		{"array of 2^62 wide", one(bytesOf(uint32(9), uint32(10), uint64(1<<62))).bytes(), "4611686018427387904 times 8 bytes to come"},
		{"2^61 strings", one(bytesOf(uint32(9), uint32(8), uint64(1<<61))).bytes(), "times 8 bytes to come"},
		{"string of 2^63", one(bytesOf(uint32(8), uint64(1<<63))).bytes(), "9223372036854775808 bytes to come"},
		{"string of 2^64-1", one(bytesOf(uint32(8), uint64(math.MaxUint64))).bytes(), "18446744073709551615 bytes to come"},
		{"string in an array of 2^63", one(bytesOf(uint32(9), uint32(8), uint64(1), uint64(1<<63))).bytes(), "9223372036854775808 bytes to come"},
		{"string cut", one(bytesOf(uint32(8), uint64(100))).bytes(), "100 bytes to come"},
		{"value cut", one(bytesOf(uint32(10), uint32(1))).bytes(), "8 bytes to come"},
		{"boolean 2", one(bytesOf(uint32(7), uint8(2))).bytes(), "boolean 2, expected 0 or 1"},
		{"boolean 2 in an array", one(bytesOf(uint32(9), uint32(7), uint64(2), uint8(1), uint8(2))).bytes(), "at byte 50: boolean 2"},
		{"alignment 0", model{pairs: []pair{{"general.alignment", uint32(0)}}}.bytes(), "general.alignment is 0, expected a power of two"},
		{"alignment 24", model{pairs: []pair{{"general.alignment", uint32(24)}}}.bytes(), "general.alignment is 24"},
		{"alignment 2^31", model{pairs: []pair{{"general.alignment", uint32(1 << 31)}}}.bytes(), "general.alignment is 2147483648"},
		{"alignment in words", model{pairs: []pair{{"general.alignment", "x"}}}.bytes(), `general.alignment is "x"`},
		{"alignment an array", model{pairs: []pair{{"general.alignment", []any{uint32(8)}}}}.bytes(), "general.alignment is an array"},
		{"split.count too large", model{pairs: []pair{{"split.count", uint32(70000)}}}.bytes(), "split.count is 70000"},
		{"no split.no", model{pairs: []pair{{"split.count", uint16(2)}}}.bytes(), "split.no is absent, expected 0 to 1"},
		{"split.no too large", part(3, 2, 1, nil).bytes(), "split.no is 2, expected 0 to 1"},
		{"split.tensors.count negative", part(1, 2, -1, nil).bytes(), "split.tensors.count is -1"},
		{"no name", tensor(info{name: ""}).bytes(), "a tensor's name of 0 bytes"},
		{"long name", tensor(info{name: long[:1025]}).bytes(), "a tensor's name of 1025 bytes, expected 1 to 1024"},
		{"name not UTF-8", tensor(info{name: "a\xffb"}).bytes(), `tensor name "a\xffb" is not valid UTF-8`},
		{"nine dimensions", tensor(info{name: "t", shape: make([]uint64, 9)}).bytes(), "9 dimensions, expected at most 8"},
		{"negative dimension", tensor(info{name: "t", shape: []uint64{math.MaxUint64}}).bytes(), "a dimension of -1"},
		{"product overflows", tensor(info{name: "t", shape: []uint64{1 << 32, 1 << 32}}).bytes(), "elements"},
		{"bytes overflow", tensor(info{name: "t", shape: []uint64{1 << 62}}).bytes(), "F32 of shape [4611686018427387904] has over 9223372036854775807 bytes"},
		{"beyond any file", tensor(info{name: "t", shape: []uint64{1 << 60}}).bytes(), "beyond any file"},
		{"offset beyond any file", tensor(info{name: "t", shape: []uint64{1}, at: at(1 << 63)}).bytes(), "beyond any file"},
		{"removed type", tensor(info{name: "t", id: 31, shape: []uint64{32}}).bytes(), `tensor "t": at byte 45: type 31, Q4_0_4_4, has been removed`},
		{"unknown type", tensor(info{name: "t", id: 99, shape: []uint64{32}}).bytes(), "type 99, expected one up to 42"},
		{"part of a block", tensor(info{name: "t", id: 12, shape: []uint64{128, 2}}).bytes(), "Q4_K of shape [128 2], expected a first dimension in blocks of 256"},
		{"scalar in blocks", tensor(info{name: "t", id: 2}).bytes(), "in blocks of 32"},
		{"offset not aligned", tensor(info{name: "t", shape: []uint64{1}, at: at(16)}).bytes(), "offset 16, expected a multiple of the alignment 32"},
		{"hole at the start", tensor(info{name: "t", shape: []uint64{1}, at: at(32)}).bytes(), "begins at byte 32 of the data, expected 0"},
		{"hole", model{tensors: []info{{name: "a", shape: []uint64{8}}, {name: "b", shape: []uint64{8}, at: at(64)}}}.bytes(), `tensor "b" begins at byte 64 of the data, expected 32`},
		{"overlap", model{tensors: []info{{name: "a", shape: []uint64{9}}, {name: "b", shape: []uint64{8}, at: at(32)}}}.bytes(), `tensor "b" begins at byte 32 of the data, but tensor "a" takes it up to 64`},
		{"same place", model{tensors: []info{{name: "a", shape: []uint64{8}}, {name: "b", shape: []uint64{8}, at: at(0)}}}.bytes(), "they overlap"},
		{"name twice", model{tensors: []info{{name: "a", shape: []uint64{8}, size: 32}, {name: "a", shape: []uint64{8}, size: 32}}}.bytes(), `tensor "a" is there twice`},
		{"descriptions cut", model{tensors: []info{{name: "a", shape: []uint64{8}}}, tensorCount: 2, end: make([]byte, 10)}.bytes(), "to come"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := allocates(t, 1<<20, func() error {
				_, err := Read(bytes.NewReader(c.file), int64(len(c.file)), "x.gguf")
				return err
			})
			checkError(t, err, "gguf file x.gguf: ", c.want)
		})
	}
}

// TestHostileSizes reads files whose size says more than they hold.
func TestHostileSizes(t *testing.T) {
	for _, c := range []struct {
		m    model
		want string
	}{
		{model{tensorCount: 131_072}, "unexpected EOF"},
		{model{pairs: []pair{{"k", bytesOf(uint32(9), uint32(8), uint64(1<<25))}}}, "unexpected EOF"},
		{model{pairs: []pair{{"k", bytesOf(uint32(8), uint64(1<<20))}}}, "unexpected EOF"},
		{model{pairs: []pair{{"k", bytesOf(uint32(8), uint64(1<<29))}}}, "expected a header of at most 536870912 bytes in all"},
		{model{pairs: []pair{{"k", bytesOf(uint32(9), uint32(0), uint64(1<<40))}}}, "expected a header of at most 536870912 bytes in all"},
	} {
		b := c.m.bytes()
		err := allocates(t, 64<<20, func() error {
			_, err := Read(bytes.NewReader(b), 1<<50, "x")
			return err
		})
		checkError(t, err, c.want)
	}
}

// TestMetadataIsBounded passes over what would be too much in sum.
func TestMetadataIsBounded(t *testing.T) {
	m := model{}
	for i := range 40 {
		m.pairs = append(m.pairs, pair{strings.Repeat("k", i+1), strings.Repeat("v", maxString)})
	}
	m.pairs = append(m.pairs, pair{"number", uint8(7)})
	b := m.bytes()
	var f *File
	err := allocates(t, 2*maxKept+4<<20, func() (err error) {
		f, err = Read(bytes.NewReader(b), int64(len(b)), "x")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, key := range f.Keys() {
		if _, ok := f.String(key); ok {
			kept++
		}
	}
	if n, ok := f.Int("number"); kept < 10 || kept > 16 || n != 7 || !ok || len(f.Keys()) != 41 {
		t.Errorf("kept %d strings, number %d, %v, of %d keys", kept, n, ok, len(f.Keys()))
	}
	m = model{}
	for i := range 300 {
		m.pairs = append(m.pairs, pair{strings.Repeat("k", 65000+i), uint8(1)})
	}
	b = m.bytes()
	_, err = Read(bytes.NewReader(b), int64(len(b)), "x")
	checkError(t, err, "metadata keys of more than")
}

// allocates runs f and checks how many bytes it allocated in all, freed or
// not.
func allocates(t *testing.T, limit uint64, f func() error) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > limit {
		t.Errorf("allocated %d bytes, expected at most %d", got, limit)
	}
	return err
}
