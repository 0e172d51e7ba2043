package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// many is a file of so many tensors of one byte each, up to the last bracket
// of the header.
func many(count int64) []byte {
	b := make([]byte, 8, 90<<20)
	for i := range count {
		b = append(b, "{,"[min(i, 1)])
		b = strconv.AppendInt(append(b, `"layers.`...), i%64, 10)
		b = strconv.AppendInt(append(b, `.experts.`...), i/64, 10)
		b = strconv.AppendInt(append(b, `.w":{"dtype":"U8","shape":[1],"data_offsets":[`...), i, 10)
		b = strconv.AppendInt(append(b, ','), i+1, 10)
		b = append(b, "]}"...)
	}
	return b
}

// complete ends a file of so many tensors.
func complete(b []byte, end string, count int64) []byte {
	b = append(b, end...)
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	return append(b, make([]byte, count)...)
}

// TestMostTensors reads a header of as many tensors as are allowed. The result
// takes 60 MB and its names 25; what reading allocates besides, freed or not,
// stays within another 64.
func TestMostTensors(t *testing.T) {
	file := complete(many(maxTensors), "}", maxTensors)
	var h *Header
	err := allocates(t, 149<<20, func() (err error) {
		h, err = Read(bytes.NewReader(file), int64(len(file)), "x")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Tensors) != maxTensors || h.Tensors[0].Name != "layers.0.experts.0.w" || h.Tensors[maxTensors-1].Name != "layers.9.experts.9999.w" {
		t.Errorf("%d tensors, first %v, last %v", len(h.Tensors), h.Tensors[0], h.Tensors[len(h.Tensors)-1])
	}
	var sum int64
	for _, tensor := range h.Tensors {
		sum += tensor.Bytes
	}
	if sum != maxTensors {
		t.Errorf("%d bytes, want %d", sum, maxTensors)
	}
}

// TestMillionTensors: no checkpoint has 10⁶, and refusing them costs less
// memory than the header is long.
func TestMillionTensors(t *testing.T) {
	file := complete(many(1_000_000), "}", 1_000_000)
	peak(t, 64<<20, func() {
		_, err := Read(bytes.NewReader(file), int64(len(file)), "x")
		checkError(t, err, "over 750000 tensors")
	})
}

// TestLateFailure has a long header fail at its very end, in each of the
// checks that come late. None of it may cost as much memory as its length.
func TestLateFailure(t *testing.T) {
	start := many(maxTensors - 1)
	for _, c := range []struct{ name, last, want string }{
		{"in the JSON", `,"z":{"dtype":"U8"}}`, "shape is missing"},
		{"overlap", `,"z":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "they overlap"},
		{"name twice", `,"layers.0.experts.0.w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, "there twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := complete(start, c.last, maxTensors-1)
			peak(t, 64<<20, func() {
				_, err := Read(bytes.NewReader(file), int64(len(file)), "x")
				checkError(t, err, c.want)
			})
		})
	}
	t.Run("names only", func(t *testing.T) {
		var b strings.Builder
		for i := range 90_000 {
			fmt.Fprintf(&b, `%c"%01000d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, "{,"[min(i, 1)], i)
		}
		file := fileOf(b.String()+"}", 0)
		peak(t, 64<<20, func() {
			_, err := Read(bytes.NewReader(file), int64(len(file)), "x")
			checkError(t, err, "names and shapes of more than")
		})
	})
	t.Run("metadata only", func(t *testing.T) {
		file := fileOf(`{"__metadata__":{"a":"`+strings.Repeat("x", 99_000_000), 0)
		peak(t, 1<<20, func() {
			_, err := Read(bytes.NewReader(file), int64(len(file)), "x")
			checkError(t, err, "the header ends within a string")
		})
	})
}

func TestLongIndex(t *testing.T) {
	for _, c := range []struct {
		entries int
		want    string
	}{{maxTensors, ""}, {1_000_000, "over 750000 tensors"}} {
		var b bytes.Buffer
		b.WriteString(`{"weight_map":`)
		for i := range c.entries {
			fmt.Fprintf(&b, `%c"layers.%d.experts.%d.w":"model-%05d-of-00100.safetensors"`, "{,"[min(i, 1)], i%64, i/64, i/10_000+1)
		}
		b.WriteString("}}")
		path := filepath.Join(t.TempDir(), indexName)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.want != "" {
			peak(t, 64<<20, func() {
				_, err := ReadIndex(path)
				checkError(t, err, c.want)
			})
			continue
		}
		h, err := ReadIndex(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Absent) != maxTensors || len(h.Missing) != 75 || len(h.Tensors) != 0 {
			t.Errorf("%d absent, %d missing, %d read", len(h.Absent), len(h.Missing), len(h.Tensors))
		}
	}
}
