package traces

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// naive is the union's length with everything in memory.
func naive(all []piece, line int64) (total int64) {
	var mine []piece
	for _, x := range all {
		if x.line == line {
			mine = append(mine, x)
		}
	}
	slices.SortFunc(mine, func(a, b piece) int { return cmp.Compare(a.start, b.start) })
	for i, x := range mine {
		for _, y := range mine[:i] {
			x.start = max(x.start, min(y.end, x.end))
		}
		total += x.end - x.start
	}
	return total
}

// TestBusyIsExact holds that no budget changes a union, with operations in
// order, nearly so and not at all, on several devices, and with a disk that is
// full from some point on.
func TestBusyIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	spilled, kept := 0, 0
	for round := range 300 {
		const lines = 3
		b := busy{budget: 1 + r.IntN(40)}
		var all []piece
		stray, apart := r.Int64N(200), 1+r.Int64N(12)
		fullAt := -1
		if round%3 == 2 {
			fullAt = r.IntN(200)
		}
		for i := range r.IntN(300) {
			if i == fullAt {
				b.full = true
			}
			start := int64(i)*apart - r.Int64N(stray+1)
			x := piece{r.Int64N(lines), start, start + r.Int64N(15)}
			all = append(all, x)
			b.add(x.line, x.start, x.end)
			if !b.full && len(b.pending) > b.budget {
				t.Fatalf("round %d: %d intervals held, the budget is %d", round, len(b.pending), b.budget)
			}
		}
		if b.spilled != nil && len(b.spilled.runs) > 1 {
			spilled++
		} else {
			kept++
		}
		got, err := b.lengths(lines)
		if err != nil {
			t.Fatal(err)
		}
		for line, ns := range got {
			if want := naive(all, int64(line)); ns != want {
				t.Fatalf("round %d: line %d is busy %d ns, want %d", round, line, ns, want)
			}
		}
		b.close()
	}
	if spilled < 50 || kept < 50 {
		t.Errorf("%d rounds spilled and %d did not; both are to be tried", spilled, kept)
	}
}

// TestSpillLeavesNothing holds that the temporary file goes with its owner,
// that a folder that cannot be written costs no result, and that a file that
// cannot be read back is told.
func TestSpillLeavesNothing(t *testing.T) {
	fill := func(lines *Timelines) {
		lines.busy.budget = 4
		for i := range int64(100) {
			lines.Add(Event{Kind: Kernel, Start: 10 * ((i * 37) % 100), Dur: 4})
		}
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	var lines Timelines
	fill(&lines)
	if lines.busy.spilled == nil || len(lines.busy.spilled.runs) == 0 {
		t.Fatal("nothing was spilled")
	}
	if got := lines.Done(); len(got) != 1 || got[0].Busy != 400 || lines.Fault() != nil {
		t.Errorf("%+v, %v; want 400 ns busy", got, lines.Fault())
	}
	fill(&lines)
	lines.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	fill(&lines)
	lines.busy.spilled.file.Close()
	if lines.Done(); !errors.Is(lines.Fault(), os.ErrClosed) {
		t.Errorf("a closed file gave %v", lines.Fault())
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	fill(&lines)
	if got := lines.Done(); len(got) != 1 || got[0].Busy != 400 || lines.Fault() != nil {
		t.Errorf("without a folder: %+v, %v; want 400 ns busy", got, lines.Fault())
	}
}
