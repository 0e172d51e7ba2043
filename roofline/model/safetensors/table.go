package safetensors

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"decodegap/roofline/model/hostile"
)

const (
	// maxTensors of one checkpoint. The largest have three matrices of 512
	// experts in 60 layers with four tensors each (weight and three scales):
	// 370,000.
	maxTensors = 750_000
	// What names and shapes may take in memory, of one file and of all.
	maxFileText  = 48 << 20
	maxTableText = 256 << 20

	chunkSize = 1 << 20
)

// table holds what headers describe until all checks are done, packed: a
// hostile header of 100 MB that fails in its last tensor has cost less memory
// than its length.
type table struct {
	rows   []row
	chunks []*strings.Builder
	used   int // bytes in chunks
	limit  int // of used while the current file is read
	dtypes []dtype
}

// row is a tensor: what it is called and what it is lie in a chunk.
type row struct {
	at   uint32 // chunk × chunkSize + place
	file uint32
}

// startFile gives the next file its share of room.
func (t *table) startFile() { t.limit = min(t.used+maxFileText, maxTableText) }

// add puts a row into the table, its name and rest into a chunk.
func (t *table) add(name, rest []byte, file uint32) error {
	if len(t.rows) == maxTensors {
		return fmt.Errorf("tensor %s: over %d tensors, more than any checkpoint has; is it one?", hostile.Quote(name), maxTensors)
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(name)))
	size := n + len(name) + len(rest)
	if t.used+size > t.limit {
		return fmt.Errorf("tensor %s: names and shapes of more than %d bytes", hostile.Quote(name), t.used)
	}
	t.used += size
	if len(t.chunks) == 0 || t.chunks[len(t.chunks)-1].Len()+size > chunkSize {
		t.chunks = append(t.chunks, new(strings.Builder))
		if len(t.chunks) > 1 { // the first grows: most headers are small
			t.chunks[len(t.chunks)-1].Grow(chunkSize)
		}
	}
	last := len(t.chunks) - 1
	b := t.chunks[last]
	t.rows = append(t.rows, row{at: uint32(last*chunkSize + b.Len()), file: file})
	b.Write(length[:n])
	b.Write(name)
	b.Write(rest)
	return nil
}

// split returns a row's name and what follows it in the chunk.
func (t *table) split(r row) (name, rest string) {
	s := t.chunks[r.at/chunkSize].String()[r.at%chunkSize:]
	length, n := uvarint(s)
	s = s[n:]
	return s[:length], s[length:]
}

func (t *table) name(r row) string {
	name, _ := t.split(r)
	return name
}

// sort orders the rows by name and finds a name that is there twice.
func (t *table) sort(files []string) error {
	slices.SortFunc(t.rows, func(a, b row) int { return strings.Compare(t.name(a), t.name(b)) })
	for i := 1; i < len(t.rows); i++ {
		a, b := t.rows[i-1], t.rows[i]
		name := t.name(a)
		switch {
		case name != t.name(b):
		case a.file == b.file:
			return fmt.Errorf("tensor %s is there twice", hostile.Quote(name))
		default:
			return fmt.Errorf("tensor %s is in %s and in %s", hostile.Quote(name),
				hostile.Shown(files[min(a.file, b.file)]), hostile.Shown(files[max(a.file, b.file)]))
		}
	}
	return nil
}

// uvarint reads what binary.PutUvarint wrote; n is its length.
func uvarint(s string) (value int64, n int) {
	for shift := 0; ; shift += 7 {
		c := s[n]
		n++
		value |= int64(c&0x7f) << shift
		if c < 0x80 {
			return value, n
		}
	}
}
