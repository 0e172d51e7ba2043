package traces

import (
	"fmt"
	"slices"
	"sort"
)

const (
	minPeriod   = 4       // kernels in the shortest sequence that is taken for a step
	periodTests = 1 << 15 // positions at which a period is tried
	maxPeriods  = 256     // periods tried
	slack       = 4       // kernels by which a name may come early or late
	// A step has at least three kernels that its layers lack: embedding, head,
	// choice of the token. What some steps have more than others is fewer.
	someSteps = 2.5
)

// repeatedSteps finds the period of the kernel sequence on the busiest stream.
// Layers repeat inside a step, so the shortest period that mostly fits is a
// layer; and some kernels run in every sixteenth step only, so the one that
// fits best may be sixteen steps. See findPeriod.
func repeatedSteps(dev *Device) Steps {
	seq, at := kernelSequence(dev)
	period, fit := findPeriod(seq)
	if period == 0 || fit < 0.9 {
		return Steps{}
	}
	starts := stepStarts(dev, seq, at, period)
	if len(starts) < 3 || strangersBehind(seq, starts) > 1 {
		return Steps{}
	}
	var notes []Warning
	if n := starts[0]; n >= minPeriod {
		notes = append(notes, Warning{"step-cut-off", plural(n, "kernel", "kernels") + " before the first whole step are of none: the capture began inside one"})
	}
	var bounds []boundary
	for k, p := range starts {
		last := len(seq)
		if k+1 < len(starts) {
			last = starts[k+1]
		} else if last-p > period {
			last = p + period
		}
		var end int64
		for i := p; i < last; i++ {
			end = max(end, dev.GPU[at[i]].End())
		}
		if k+1 == len(starts) && last-p < period-period/16-1 {
			// The capture ended inside this step: it only bounds the one before.
			steps := tile(append(bounds, boundary{start: dev.GPU[at[p]].Start, end: end}))
			notes = append(notes, Warning{"step-cut-off", fmt.Sprintf("the last %d kernels are of no step: a whole one has %d, so the capture ended inside it", last-p, period)})
			return Steps{All: steps[:len(steps)-1], FoundBy: ByRepetition, Notes: notes}
		}
		bounds = append(bounds, boundary{start: dev.GPU[at[p]].Start, end: end})
	}
	return Steps{All: tile(bounds), FoundBy: ByRepetition, Notes: notes}
}

// strangersBehind counts the kernels from the last start on whose names occur
// in no whole period. A capture that ends inside a step has none; one that holds a single
// step, of which the layers were found, has the head and the sampler there.
func strangersBehind(seq []uint64, starts []int) (n int) {
	known := map[uint64]bool{}
	for _, id := range seq[starts[0]:starts[len(starts)-1]] {
		known[id] = true
	}
	for _, id := range seq[starts[len(starts)-1]:] {
		if !known[id] {
			n++
		}
	}
	return n
}

// kernelSequence is the kernels of the stream that has most of them: names as
// numbers, and where each lies in dev.GPU.
func kernelSequence(dev *Device) (seq []uint64, at []int) {
	count := map[int64]int{}
	var busiest int64
	for _, e := range dev.GPU {
		if e.Kind == Kernel {
			count[e.Stream]++
			if count[e.Stream] > count[busiest] {
				busiest = e.Stream
			}
		}
	}
	names := interner{}
	for i, e := range dev.GPU {
		if e.Kind == Kernel && e.Stream == busiest && e.usable() {
			seq = append(seq, names.id(e.Name))
			at = append(at, i)
		}
	}
	return seq, at
}

// findPeriod returns the period of seq and the share of positions at which it
// fits; 0 if there is none. Candidates are the usual distances between equal
// names: a kernel that runs once a step has the period itself. Of those the
// shortest is taken that fits as well as any but for what some steps have more
// than others.
func findPeriod(seq []uint64) (period int, fit float64) {
	distances := map[uint64][]int{}
	last := map[uint64]int{}
	for i, id := range seq {
		if p, ok := last[id]; ok {
			distances[id] = append(distances[id], i-p)
		}
		last[id] = i
	}
	seen := map[int]bool{}
	var candidates []int
	for _, d := range distances {
		slices.Sort(d)
		for _, p := range [...]int{d[len(d)/2], d[len(d)-1]} {
			if p >= minPeriod && p <= len(seq)/2 && !seen[p] {
				seen[p] = true
				candidates = append(candidates, p)
			}
		}
	}
	slices.Sort(candidates)
	if len(candidates) > maxPeriods {
		candidates = candidates[len(candidates)-maxPeriods:]
	}
	misfits := make([]float64, len(candidates))
	least := 1.0
	for k, p := range candidates {
		misfits[k] = misfit(seq, p)
		least = min(least, misfits[k])
	}
	whole := 0 // shortest period that fits as well as any
	for k, p := range candidates {
		if misfits[k] <= least+0.001 {
			whole = p
			break
		}
	}
	for k, p := range candidates {
		if (misfits[k]-least)*float64(whole) <= someSteps && varied(seq[:p]) {
			return p, 1 - misfits[k]
		}
	}
	return 0, 0
}

// misfit is the share of names that do not return about p positions on, over
// a stretch in the middle of the sequence.
func misfit(seq []uint64, p int) float64 {
	n := len(seq) - p
	tests := min(n, periodTests)
	from := (n - tests) / 2
	missed := 0
	for i := from; i < from+tests; i++ {
		if seq[i] != seq[i+p] && !slices.Contains(seq[max(i+1, i+p-slack):min(len(seq), i+p+slack+1)], seq[i]) {
			missed++
		}
	}
	return float64(missed) / float64(tests)
}

func varied(seq []uint64) bool {
	for _, id := range seq {
		if id != seq[0] {
			return true
		}
	}
	return false
}

// stepStarts cuts the sequence. A kernel that runs once a period is the knife,
// for it keeps its place when a step has a kernel more or less; of those, the
// one before which the device usually waits longest.
func stepStarts(dev *Device, seq []uint64, at []int, period int) []int {
	where := map[uint64][]int{}
	for i, id := range seq {
		where[id] = append(where[id], i)
	}
	var best []int
	bestGap := int64(-1)
	ids := make([]uint64, 0, len(where))
	for id := range where {
		ids = append(ids, id)
	}
	slices.Sort(ids) // by first appearance, so that ties are broken the same way
	for _, id := range ids {
		places := where[id]
		if len(places) < 2 || !oncePer(places, period) {
			continue
		}
		var gaps []int64
		for _, p := range places {
			if p > 0 {
				prev, e := dev.GPU[at[p-1]], dev.GPU[at[p]]
				gaps = append(gaps, max(0, e.Start-prev.End()))
			}
		}
		sort.Slice(gaps, func(i, j int) bool { return gaps[i] < gaps[j] })
		if g := gaps[(len(gaps)-1)/2]; g > bestGap {
			best, bestGap = places, g
		}
	}
	if best != nil {
		return best
	}
	for p := 0; p+period <= len(seq); p += period {
		best = append(best, p)
	}
	return best
}

// oncePer says whether nearly all distances are the period, give or take a
// sixteenth.
func oncePer(places []int, period int) bool {
	good := 0
	for i := 1; i < len(places); i++ {
		if d := places[i] - places[i-1]; d >= period-period/16 && d <= period+period/16 {
			good++
		}
	}
	return 10*good >= 9*(len(places)-1)
}
