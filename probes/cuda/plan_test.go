//go:build cgo && linux

package cuda

import (
	"fmt"
	"testing"
)

// TestShare: every token of every set in exactly one piece, slots where several
// pieces cover a set and only there, no block without work or with too much.
func TestShare(t *testing.T) {
	for _, b := range []paged{
		{lengths: []int{1}, page: 64, sets: 1, lanes: 1, tile: 64},
		{lengths: []int{1, 63, 64, 65, 8191}, page: 64, sets: 1, lanes: 2, tile: 64},
		{lengths: []int{1000, 1, 17}, page: 16, sets: 8, lanes: 1, tile: 16},
		{lengths: []int{1000, 1, 17, 70}, page: 16, sets: 3, lanes: 1, tile: 64},
		{lengths: []int{1, 100, 101, 300, 8191}, page: 64, sets: 2, lanes: 1, tile: 64, window: 100},
		{lengths: []int{4096, 4096, 4096, 4096}, page: 64, sets: 1, lanes: 1, tile: 64},
	} {
		for _, blocks := range []int{1, 2, 7, 132} {
			for _, most := range []int{0, 2} {
				t.Run(fmt.Sprintf("%v on %d, %d pieces", b.lengths, blocks, most), func(t *testing.T) { checkShare(t, &b, blocks, most) })
			}
		}
	}
}

func checkShare(t *testing.T, b *paged, blocks, most int) {
	p := b.share(blocks, most)
	if most == 0 && p.blocks() > max(blocks, b.lanes) {
		t.Errorf("%d blocks, expected %d at most", p.blocks(), blocks)
	}
	largest, smallest := 0, 1<<30
	covered := map[uint32]map[int]bool{} // tokens of each set
	slots := map[uint32][]uint32{}
	for i := range p.blocks() {
		mine := p.pieces[p.first[i]:p.first[i+1]]
		if len(mine) == 0 || most > 0 && len(mine) > most {
			t.Errorf("block %d has %d pieces", i, len(mine))
		}
		work := 0
		for _, w := range mine {
			sequence, start := int(w.row)/(b.sets*b.lanes), 0
			for s := range sequence {
				start += (b.lengths[s] + b.page - 1) / b.page
			}
			at := (int(w.page) - start) * b.page
			if b.window == 0 && at%b.tile != 0 || at < 0 || w.tokens <= w.skip || at+int(w.tokens) > b.lengths[sequence] {
				t.Fatalf("piece %+v is not of sequence %d", w, sequence)
			}
			if covered[w.row] == nil {
				covered[w.row] = map[int]bool{}
			}
			for token := at + int(w.skip); token < at+int(w.tokens); token++ {
				if covered[w.row][token] {
					t.Fatalf("token %d of set %d twice", token, w.row)
				}
				covered[w.row][token] = true
			}
			slots[w.row] = append(slots[w.row], w.slot)
			work += (int(w.tokens) + b.tile - 1) / b.tile
		}
		largest, smallest = max(largest, work), min(smallest, work)
	}
	if most == 0 && largest > smallest+1 {
		t.Errorf("blocks of %d to %d tiles", smallest, largest)
	}
	joined := map[uint32]join{}
	for _, j := range p.joins {
		joined[j.row] = j
	}
	taken := map[uint32]bool{}
	for s, length := range b.lengths {
		if b.window > 0 {
			length = min(length, b.window)
		}
		for set := range b.sets * b.lanes {
			row := uint32(s*b.sets*b.lanes + set)
			if len(covered[row]) != length {
				t.Errorf("set %d: %d tokens of %d", row, len(covered[row]), length)
			}
			j, ok := joined[row]
			if !ok {
				if len(slots[row]) != 1 || slots[row][0] != undivided {
					t.Errorf("set %d: slots %v and no join", row, slots[row])
				}
				continue
			}
			if int(j.count) != len(slots[row]) || j.count < 2 {
				t.Errorf("set %d: join of %d slots, there are %v", row, j.count, slots[row])
			}
			for i, slot := range slots[row] {
				if slot != j.slot+uint32(i) || int(slot) >= p.slots || taken[slot] {
					t.Errorf("set %d: slots %v, the join's begin at %d of %d", row, slots[row], j.slot, p.slots)
				}
				taken[slot] = true
			}
		}
	}
	if len(taken) != p.slots {
		t.Errorf("%d slots are used of %d", len(taken), p.slots)
	}
}

// TestTable: a table has every page once.
func TestTable(t *testing.T) {
	b := &paged{lengths: []int{1, 64, 65, 1000}, page: 64}
	seen := map[uint32]bool{}
	for _, p := range b.table() {
		seen[p] = true
	}
	for p := range uint32(1 + 1 + 2 + 16) {
		if !seen[p] {
			t.Errorf("page %d is not in the table", p)
		}
	}
	if len(seen) != 20 || b.pages() != 20 {
		t.Errorf("%d pages, the table has %d", b.pages(), len(seen))
	}
}
