package safetensors

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"decodegap/roofline/model/hostile"
)

// pack appends what a row of the table holds after the name: place, size,
// type and shape of the tensor being read.
func (d *described) pack(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(d.begin))
	b = binary.AppendUvarint(b, uint64(d.end-d.begin))
	b = append(b, byte(d.dtype), byte(len(d.shape)))
	for _, n := range d.shape {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// place is where a row's tensor lies in the data of its file.
func (t *table) place(r row) (begin, size int64) {
	_, rest := t.split(r)
	b, n := uvarint(rest)
	s, _ := uvarint(rest[n:])
	return b, s
}

// cover checks that the tensors of one file follow each other without hole or
// overlap from the first byte of the data on, and returns where the last ends.
// It leaves rows in the order of the data.
func (t *table) cover(rows []row) (end int64, err error) {
	slices.SortFunc(rows, func(a, b row) int {
		beginA, sizeA := t.place(a)
		beginB, sizeB := t.place(b)
		// At one place the tensor without data comes first.
		return cmp.Or(cmp.Compare(beginA, beginB), cmp.Compare(min(sizeA, 1), min(sizeB, 1)))
	})
	for i, r := range rows {
		begin, size := t.place(r)
		switch {
		case begin < end:
			return 0, fmt.Errorf("tensor %s begins at byte %d of the data, but tensor %s ends at %d: they overlap",
				hostile.Quote(t.name(r)), begin, hostile.Quote(t.name(rows[i-1])), end)
		case begin > end:
			return 0, fmt.Errorf("tensor %s begins at byte %d of the data, expected %d: the bytes between belong to no tensor",
				hostile.Quote(t.name(r)), begin, end)
		}
		end = begin + size
	}
	return end, nil
}

// maxShared bounds the number of shapes that are looked for to be shared.
const maxShared = 1 << 16

// tensors unpacks the sorted table.
func (t *table) tensors(files []string) []Tensor {
	out := make([]Tensor, len(t.rows))
	shared := make(map[string][]int64)
	for i, r := range t.rows {
		name, rest := t.split(r)
		_, n := uvarint(rest)
		rest = rest[n:]
		size, n := uvarint(rest)
		kind, rank, rest := rest[n], int(rest[n+1]), rest[n+2:]
		packed := rest[:packedLen(rest, rank)]
		shape, ok := shared[packed]
		if !ok {
			shape = make([]int64, rank)
			for j := range shape {
				shape[j], n = uvarint(rest)
				rest = rest[n:]
			}
			if len(shared) < maxShared {
				// Only the packed shape of a scalar is empty.
				shared[packed] = shape
			}
		}
		out[i] = Tensor{Name: name, DType: t.dtypes[kind].name, Shape: shape, Bytes: size, File: files[r.file]}
	}
	return out
}

// packedLen is the length of so many packed numbers.
func packedLen(s string, count int) int {
	at := 0
	for ; count > 0; at++ {
		if s[at] < 0x80 {
			count--
		}
	}
	return at
}
