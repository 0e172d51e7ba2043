package traces

import (
	"slices"
	"testing"
)

// TestBudgetCutsWholeSteps holds that what a budget leaves are whole steps: of
// each the same kernels, whichever kind there are most of, and although the
// device runs behind the host.
func TestBudgetCutsWholeSteps(t *testing.T) {
	const kernels, steps, length, lag = 10, 60, 1000 * us, 700 * us
	for _, budget := range []int{0, 15, 95, 100, 101, 333} {
		for _, syncs := range []int{0, 30} {
			var events []Event
			corr := uint64(0)
			for s := range int64(steps) {
				at := s * length
				events = append(events, Event{Kind: Range, Name: "decode_step", Device: -1, Start: at, Dur: 900 * us, Stream: 1})
				for k := range int64(kernels) {
					corr++
					events = append(events,
						Event{Kind: Launch, Name: "cudaLaunchKernel", Device: -1, Start: at + k*50*us, Dur: 5 * us, Stream: 1, Corr: corr},
						Event{Kind: Kernel, Name: "k", Start: at + lag + k*60*us, Dur: 50 * us, Stream: 7, Corr: corr})
				}
				for k := range int64(syncs) {
					events = append(events, Event{Kind: Sync, Device: -1, Start: at + k*10*us, Dur: us, Stream: 2})
				}
			}
			c := Collector{Budget: budget}
			for _, e := range events {
				c.Add(e)
			}
			devices := c.Done(0)
			if len(devices) == 0 && budget > 0 && budget < syncs {
				continue // the first step's waits were not all kept
			}
			if len(devices) != 1 {
				t.Fatalf("budget %d: %d devices", budget, len(devices))
			}
			d := devices[0]
			if budget == 0 && len(d.GPU) != steps*kernels {
				t.Fatalf("without a budget %d kernels, want %d", len(d.GPU), steps*kernels)
			}
			have := map[uint64]bool{}
			for _, e := range d.GPU {
				have[e.Corr] = true
			}
			for _, r := range d.Ranges {
				for k := range uint64(kernels) {
					if c := uint64(r.Start/length)*kernels + k + 1; !have[c] {
						t.Errorf("budget %d, %d syncs: the annotation at %d is there, its kernel %d is not", budget, syncs, r.Start, c)
					}
				}
			}
			if want := budget/max(kernels, syncs) - 2; budget > 0 && len(d.Ranges) < want {
				t.Errorf("budget %d, %d syncs: %d steps are left, want %d at least", budget, syncs, len(d.Ranges), want)
			}
			for _, kept := range [][]Event{d.GPU, d.Launches, d.Syncs, d.Ranges} {
				if !slices.IsSortedFunc(kept, func(a, b Event) int { return int(a.Start - b.Start) }) {
					t.Error("not in time order")
				}
			}
		}
	}
}
