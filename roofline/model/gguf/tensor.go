package gguf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"decodegap/roofline/model/hostile"
)

const (
	// maxTensors of one model. GGUF stacks a layer's experts: the largest
	// models have some 20 tensors in each of 100 layers, old ones with experts
	// apart about 1,000 in all.
	maxTensors = 1 << 17
	maxName    = 1024 // bytes; ggml itself has 63
	maxRank    = 8    // ggml itself has 4
	minInfo    = 8 + 1 + 4 + 4 + 8
)

// Tensor is what a header says of one tensor.
type Tensor struct {
	Name string
	Type Type
	// Shape is as stored: the fastest dimension first, which is the last one
	// in PyTorch. Empty for a scalar.
	Shape []int64
	// Bytes is the size of the data, block scales included.
	Bytes int64
	// File is the name of the file that holds it, within the model's folder.
	File string
}

// extent is where a tensor's data lies, from the start of the data on.
type extent struct {
	offset, bytes int64
	index         int
}

// tensors reads the descriptions of count tensors, and returns where the data
// of the last ends.
func (f *File) tensors(c *cursor, count uint64, alignment int64, name string) (end int64, err error) {
	first := len(f.Tensors)
	if count > uint64(maxTensors-first) {
		return 0, fmt.Errorf("%d tensors, expected at most %d, more than any model has", count, maxTensors-first)
	}
	if err := c.room(count, minInfo); err != nil {
		return 0, fmt.Errorf("descriptions of tensors: %w", err)
	}
	var extents []extent
	for i := range int(count) {
		t, offset, err := readTensor(c)
		if err != nil {
			return 0, err
		}
		if offset%uint64(alignment) != 0 {
			return 0, fmt.Errorf("tensor %s: offset %d, expected a multiple of the alignment %d", hostile.Quote(t.Name), offset, alignment)
		}
		if offset > math.MaxInt64/2 || t.Bytes > math.MaxInt64/2-alignment {
			return 0, fmt.Errorf("tensor %s: offset %d and %d bytes are beyond any file", hostile.Quote(t.Name), offset, t.Bytes)
		}
		t.File = name
		f.Tensors = append(grow(f.Tensors, int(count)-i), t)
		extents = append(grow(extents, int(count)-i), extent{int64(offset), t.Bytes, i})
	}
	return cover(extents, f.Tensors[first:], alignment)
}

// grow makes room for one more, or doubles the room, but for no more than are
// left to come: their number is a claim of the file until they have come.
func grow[T any](s []T, left int) []T {
	if len(s) < cap(s) {
		return s
	}
	return slices.Grow(s, min(left, max(len(s), 64)))
}

// readTensor reads one description.
func readTensor(c *cursor) (t Tensor, offset uint64, err error) {
	b, err := c.text(maxName, "a tensor's name")
	if err != nil {
		return t, 0, err
	}
	t.Name = string(b)
	if !utf8.ValidString(t.Name) {
		return t, 0, fmt.Errorf("at byte %d: tensor name %s is not valid UTF-8", c.offset(), hostile.Quote(t.Name))
	}
	if err = t.readShape(c); err == nil {
		err = t.readType(c)
	}
	if err == nil {
		offset, err = c.u64()
	}
	if err != nil {
		return t, 0, fmt.Errorf("tensor %s: %w", hostile.Quote(t.Name), err)
	}
	return t, offset, nil
}

func (t *Tensor) readShape(c *cursor) error {
	rank, err := c.u32()
	if err != nil {
		return err
	}
	if rank > maxRank {
		return fmt.Errorf("at byte %d: %d dimensions, expected at most %d", c.offset()-4, rank, maxRank)
	}
	t.Shape = make([]int64, rank)
	for i := range t.Shape {
		n, err := c.u64()
		if err != nil {
			return err
		}
		if n > math.MaxInt64 {
			return fmt.Errorf("at byte %d: a dimension of %d, expected 0 to %d", c.offset()-8, int64(n), int64(math.MaxInt64))
		}
		t.Shape[i] = int64(n)
	}
	return nil
}

// readType reads the type and works out the size.
func (t *Tensor) readType(c *cursor) error {
	id, err := c.u32()
	if err != nil {
		return err
	}
	if t.Type, err = typeOf(id); err != nil {
		return fmt.Errorf("at byte %d: %w", c.offset()-4, err)
	}
	fastest := int64(1)
	if len(t.Shape) > 0 {
		fastest = t.Shape[0]
	}
	if fastest%int64(t.Type.Block) != 0 {
		return fmt.Errorf("%s of shape %v, expected a first dimension in blocks of %d", t.Type.Name, t.Shape, t.Type.Block)
	}
	elements := int64(1)
	for _, n := range t.Shape {
		if n > 0 && elements > math.MaxInt64/n {
			return fmt.Errorf("shape %v has over %d elements", t.Shape, int64(math.MaxInt64))
		}
		elements *= n
	}
	blocks := elements / int64(t.Type.Block)
	if blocks > math.MaxInt64/int64(t.Type.Bytes) {
		return fmt.Errorf("%s of shape %v has over %d bytes", t.Type.Name, t.Shape, int64(math.MaxInt64))
	}
	t.Bytes = blocks * int64(t.Type.Bytes)
	return nil
}

// cover checks that the data of the tensors follow each other from the start
// of the data on, each padded to the alignment, as ggml wants it. A size that
// is not what this package takes it for shows here.
func cover(extents []extent, tensors []Tensor, alignment int64) (end int64, err error) {
	slices.SortFunc(extents, func(a, b extent) int {
		// At one place the tensor without data comes first.
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(min(a.bytes, 1), min(b.bytes, 1)))
	})
	next := int64(0)
	name := func(e extent) string { return hostile.Quote(tensors[e.index].Name) }
	for i, e := range extents {
		switch {
		case e.offset < next && i > 0:
			return 0, fmt.Errorf("tensor %s begins at byte %d of the data, but tensor %s takes it up to %d: they overlap",
				name(e), e.offset, name(extents[i-1]), next)
		case e.offset > next:
			return 0, fmt.Errorf("tensor %s begins at byte %d of the data, expected %d: the bytes between belong to no tensor",
				name(e), e.offset, next)
		}
		end = e.offset + e.bytes
		next = pad(end, alignment)
	}
	return end, nil
}

// pad rounds up to the alignment.
func pad(n, alignment int64) int64 {
	return (n + alignment - 1) / alignment * alignment
}

// sortTensors orders by name and finds one that is there twice.
func (f *File) sortTensors() error {
	slices.SortFunc(f.Tensors, func(a, b Tensor) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File)) })
	for i := 1; i < len(f.Tensors); i++ {
		switch a, b := &f.Tensors[i-1], &f.Tensors[i]; {
		case a.Name != b.Name:
		case a.File == b.File:
			return fmt.Errorf("tensor %s is there twice", hostile.Quote(a.Name))
		default:
			return fmt.Errorf("tensor %s is in %s and in %s", hostile.Quote(a.Name), hostile.Shown(a.File), hostile.Shown(b.File))
		}
	}
	return nil
}
