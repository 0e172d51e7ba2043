package traces

import (
	"slices"
	"sort"
)

const (
	minPeriod   = 4    // kernels in the shortest sequence that is taken for a step
	periodTests = 2048 // positions at which a period is tried
	maxPeriods  = 2048 // periods tried
)

// repeatedSteps finds the period of the kernel sequence on the busiest
// stream. Layers repeat inside a step, so the right period is not the
// shortest that mostly fits but the shortest that fits as well as any: a
// shift by a layer misfits around the embedding, the head and the sampler.
func repeatedSteps(dev *Device) Steps {
	seq, at := kernelSequence(dev)
	period, fit := findPeriod(seq)
	if period == 0 || fit < 0.9 {
		return Steps{}
	}
	starts := stepStarts(dev, seq, at, period)
	if len(starts) < 3 {
		return Steps{}
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
			return Steps{All: steps[:len(steps)-1], FoundBy: ByRepetition}
		}
		bounds = append(bounds, boundary{start: dev.GPU[at[p]].Start, end: end})
	}
	return Steps{All: tile(bounds), FoundBy: ByRepetition}
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
// names: a kernel that runs once a step has the period itself.
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
	fits := make([]float64, len(candidates))
	best := 0.0
	for k, p := range candidates {
		fits[k] = fitOf(seq, p)
		best = max(best, fits[k])
	}
	for k, p := range candidates {
		if fits[k] >= best-0.004-(1-best)/4 && varied(seq[:p]) {
			return p, fits[k]
		}
	}
	return 0, 0
}

// fitOf is the share of tested positions whose name returns p positions on.
func fitOf(seq []uint64, p int) float64 {
	n := len(seq) - p
	tests := min(n, periodTests)
	hits := 0
	for k := range tests {
		i := int(int64(k) * int64(n) / int64(tests))
		if seq[i] == seq[i+p] {
			hits++
		}
	}
	return float64(hits) / float64(tests)
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
