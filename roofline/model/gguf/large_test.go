package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// TestMostTensors reads a header of as many tensors as are allowed. The result
// takes 13 MB and its names and shapes 4; what reading allocates besides, freed
// or not, stays within another 33, as of slices that double. 10⁶ tensors are
// refused before any of them is read (TestHostile).
func TestMostTensors(t *testing.T) {
	const count = maxTensors
	le := binary.LittleEndian
	b := append(make([]byte, 0, 80<<20), magic...)
	b = le.AppendUint32(b, 3)
	b = le.AppendUint64(b, count)
	b = le.AppendUint64(b, 0)
	for i := range count {
		name := fmt.Sprintf("blk.%d.exp.%d.w", i%64, i/64)
		b = le.AppendUint64(b, uint64(len(name)))
		b = append(b, name...)
		b = le.AppendUint32(b, 1)
		b = le.AppendUint64(b, 1)
		b = le.AppendUint32(b, 24) // I8
		b = le.AppendUint64(b, uint64(i)*defaultAlignment)
	}
	var f *File
	err := allocates(t, 50<<20, func() (err error) {
		f, err = Read(bytes.NewReader(b), int64(len(b)), "x")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Tensors) != count || f.Tensors[0].Name != "blk.0.exp.0.w" || f.Tensors[0].Bytes != 1 || len(f.Truncated) != 1 {
		t.Errorf("%d tensors, first %+v, truncated %v", len(f.Tensors), f.Tensors[0], f.Truncated)
	}
}
