//go:build cgo && linux

package cuda

import (
	"math/rand/v2"
	"slices"

	"decodegap/probes/cuda/driver"
)

// piece is kernels/pieces.h's: a run of tokens of one sequence, for one set of
// query heads that read the same cache.
type piece struct {
	page   uint32 // where in the table its pages begin
	tokens uint32 // from the page's first on
	row    uint32 // the set, over all sequences
	slot   uint32 // of the parts, or undivided
	skip   uint32 // tokens at the beginning, before the window
	unused [3]uint32
}

// undivided is a piece that covers all of its sequence.
const undivided = ^uint32(0)

// join says which slots make up a set that several pieces cover.
type join struct{ row, slot, count, unused uint32 }

// plan shares attention among blocks, as an engine's scheduler does once a
// step for all layers.
type plan struct {
	pieces []piece
	first  []uint32 // of each block's pieces, and one behind the last
	joins  []join
	slots  int
}

// blocks is the grid.
func (p *plan) blocks() int { return len(p.first) - 1 }

// paged is a batch whose cache lies in pages.
type paged struct {
	lengths []int // tokens of each sequence, at least one
	page    int   // tokens
	sets    int   // of query heads of a sequence, each with a cache of its own
	lanes   int   // of query heads that go over the same cache side by side
	tile    int   // tokens by which work is shared, a multiple of the page
	window  int   // newest tokens that count, 0 for all
}

// begin is the first token of a sequence that counts.
func (b *paged) begin(sequence int) int {
	if b.window == 0 {
		return 0
	}
	return max(b.lengths[sequence]-b.window, 0)
}

// tokens are those of all sequences that count.
func (b *paged) tokens() int {
	n := 0
	for s, l := range b.lengths {
		n += l - b.begin(s)
	}
	return n
}

// tiles of a sequence, from the page on that has its first token that counts.
func (b *paged) tiles(sequence int) int {
	return (b.lengths[sequence] - b.begin(sequence)/b.page*b.page + b.tile - 1) / b.tile
}

// pages are those of all sequences.
func (b *paged) pages() int {
	n := 0
	for _, l := range b.lengths {
		n += (l + b.page - 1) / b.page
	}
	return n
}

// table gives each sequence's pages, one sequence after another, a place in
// the cache: in no order, as after hours of serving.
func (b *paged) table() []uint32 {
	table := make([]uint32, b.pages())
	for i, p := range rand.Perm(len(table)) {
		table[i] = uint32(p)
	}
	return table
}

// share divides all tiles evenly among so many blocks, fewer where there are
// not as many tiles. A block has at most so many pieces, 0 for any number: then
// there may be more blocks. The lanes of a range are neighbouring blocks.
func (b *paged) share(blocks, most int) *plan {
	all := 0
	for s := range b.lengths {
		all += b.tiles(s) * b.sets
	}
	ranges := max(min(blocks/b.lanes, all), 1)
	var work [][]piece // of each range, for lane 0
	slots := map[uint32][]*uint32{}
	var order []uint32
	done := 0 // tiles
	end := 0  // of the range
	next := 1
	page := 0
	for s, length := range b.lengths {
		from := b.begin(s) / b.page // the first page that is read
		left := length - from*b.page
		for set := range b.sets {
			row := uint32((s*b.sets + set) * b.lanes)
			for tile := 0; tile < b.tiles(s); {
				if done == end || most > 0 && len(work[len(work)-1]) == most {
					work = append(work, nil)
					for end <= done {
						end = next * all / ranges
						next++
					}
				}
				n := min(b.tiles(s)-tile, end-done)
				at := &work[len(work)-1]
				start := tile * b.tile // tokens after that page's first
				*at = append(*at, piece{
					page: uint32(page + from + start/b.page), tokens: uint32(min(left-start, n*b.tile)), row: row, slot: undivided,
					skip: uint32(max(b.begin(s)-from*b.page-start, 0))})
				tile += n
				done += n
			}
		}
		page += (length + b.page - 1) / b.page
	}
	// How many pieces a row has decides whether they are joined.
	p := &plan{first: []uint32{0}}
	for _, pieces := range work {
		for lane := range uint32(b.lanes) {
			for _, w := range pieces {
				w.row += lane
				p.pieces = append(p.pieces, w)
			}
			p.first = append(p.first, uint32(len(p.pieces)))
		}
	}
	for i := range p.pieces {
		w := &p.pieces[i]
		if slots[w.row] == nil {
			order = append(order, w.row)
		}
		slots[w.row] = append(slots[w.row], &w.slot)
	}
	for _, row := range order {
		of := slots[row]
		if len(of) == 1 {
			continue
		}
		p.joins = append(p.joins, join{row: row, slot: uint32(p.slots), count: uint32(len(of))})
		for _, slot := range of {
			*slot = uint32(p.slots)
			p.slots++
		}
	}
	return p
}

// read reads a sequence's pages of a cache at an offset one after another:
// the tokens that count, of each so many bytes.
func (b *paged) read(cache *driver.Memory, at int64, table []uint32, sequence, bytes int, use func(tokens []byte)) error {
	page := 0
	for _, l := range b.lengths[:sequence] {
		page += (l + b.page - 1) / b.page
	}
	length, begin := b.lengths[sequence], b.begin(sequence)
	rows := make([]byte, b.page*bytes)
	for from := begin / b.page * b.page; from < length; from += b.page {
		if err := driver.Read(cache, at+int64(table[page+from/b.page])*int64(len(rows)), rows); err != nil {
			return err
		}
		use(rows[max(begin-from, 0)*bytes : min(length-from, b.page)*bytes])
	}
	return nil
}

// spoil makes what lies around the tokens that count, in the pages that have
// them, no number: a kernel that reads it is found out.
func (b *paged) spoil(cache *driver.Memory, at int64, table []uint32, bytes int) error {
	page := 0
	bad := slices.Repeat([]byte{poison}, b.page*bytes)
	for s, length := range b.lengths {
		begin, pages := b.begin(s), (length+b.page-1)/b.page
		first := at + int64(table[page+begin/b.page])*int64(len(bad))
		if err := driver.Write(cache, first, bad[:begin%b.page*bytes]); err != nil {
			return err
		}
		used := ((length-1)%b.page + 1) * bytes
		last := at + int64(table[page+pages-1])*int64(len(bad)) + int64(used)
		if err := driver.Write(cache, last, bad[used:]); err != nil {
			return err
		}
		page += pages
	}
	return nil
}
