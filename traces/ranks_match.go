package traces

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	maxShift     = 1024    // collectives that one rank may have recorded before another began
	shiftSamples = 512     // pairs looked at for one shift
	farApart     = 100_000 // ns: a change of the clocks' difference that counts no further
	// ns: by how much ranks may leave a collective apart. Ranks of one group
	// leave within a few microseconds; what differs by more is no group.
	leaveTogether = 50_000
	blockPairs    = 128    // pairs over which two clocks are taken not to drift
	maxDrift      = 20_000 // two clocks drift by at most 1/20,000 (50 ppm)
)

// collectives lists the collectives of a device by kind and group, in order.
// Equal lists on two ranks hold the same collectives but for their ends.
func collectives(r RankStep) map[string][]int {
	out := map[string][]int{}
	for i, e := range r.Device.GPU {
		if !e.usable() || e.Kind != Kernel {
			continue
		}
		c := r.Component(i)
		if !isCollective(e, c) {
			continue
		}
		key := string(c)
		if e.Detail != nil && e.Detail.Group != "" {
			key += "\x00" + e.Detail.Group
		}
		out[key] = append(out[key], i)
	}
	return out
}

// matchRanks matches every rank's collectives with those of the first rank
// that has any of the kind, and returns the transfer time of each matched
// operation, by rank and index.
func matchRanks(ranks []RankStep, lists []map[string][]int, w *Waits) []map[int]int64 {
	transfers := make([]map[int]int64, len(ranks))
	offsets := make([][]int64, len(ranks))
	for k := range transfers {
		transfers[k] = map[int]int64{}
	}
	for _, key := range keysOf(lists) {
		first := 0
		for first < len(lists) && len(lists[first][key]) == 0 {
			first++
		}
		ref := lists[first][key]
		// shortest[j] is the shortest duration seen for ref[j], partners its peers.
		shortest := make([]int64, len(ref))
		partners := make([][]peer, len(ref))
		for j, i := range ref {
			shortest[j] = ranks[first].Device.GPU[i].Dur
		}
		for k := first + 1; k < len(ranks); k++ {
			list := lists[k][key]
			if len(list) == 0 {
				continue
			}
			m := pairs{&ranks[first].Device, &ranks[k].Device, ref, list}
			shift := m.bestShift()
			together := m.together(shift)
			if len(together) == 0 {
				w.Notes = append(w.Notes, Warning{"ranks-do-not-match", fmt.Sprintf(
					"ranks %d and %d do not leave their %s together: not one group, or not one run; waiting between them is unknown",
					m.a.Rank, m.b.Rank, kindOfKey(key))})
				continue
			}
			for _, j := range together {
				o := j + shift
				offsets[k] = append(offsets[k], m.difference(j, o))
				partners[j] = append(partners[j], peer{k, list[o]})
				shortest[j] = min(shortest[j], ranks[k].Device.GPU[list[o]].Dur)
			}
		}
		for j, p := range partners {
			if len(p) == 0 {
				continue
			}
			transfers[first][ref[j]] = shortest[j]
			for _, q := range p {
				transfers[q.rank][q.op] = shortest[j]
			}
		}
	}
	for k := range ranks {
		w.Ranks[k].Matched = len(transfers[k])
		for _, l := range lists[k] {
			w.Ranks[k].Unmatched += len(l)
		}
		w.Ranks[k].Unmatched -= len(transfers[k])
		w.Ranks[k].Offset, _ = medianAndSpread(offsets[k])
	}
	return transfers
}

type peer struct{ rank, op int }

func keysOf(lists []map[string][]int) []string {
	var keys []string
	for _, l := range lists {
		for k := range l {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func kindOfKey(key string) string {
	for i := range key {
		if key[i] == 0 {
			return key[:i]
		}
	}
	return key
}

// pairs are two ranks' collectives of one kind.
type pairs struct {
	a, b         *Device
	refs, others []int
}

// difference is the later clock's reading of a common end minus the other's.
func (p pairs) difference(j, o int) int64 {
	return p.b.GPU[p.others[o]].End() + p.b.Base - p.a.GPU[p.refs[j]].End() - p.a.Base
}

// together lists the first rank's collectives, as positions in refs, that the
// second one leaves at the same time. Clocks of two hosts drift, so times are
// compared in blocks; a block that jumps further than clocks drift was matched
// across a hole in one of the traces.
func (p pairs) together(shift int) (out []int) {
	var last, at int64
	from, to := max(0, -shift), min(len(p.refs), len(p.others)-shift)
	for block := from; block < to; block += blockPairs {
		end := min(to, block+blockPairs)
		var diffs []int64
		for j := block; j < end; j++ {
			diffs = append(diffs, p.difference(j, j+shift))
		}
		median, spread := medianAndSpread(diffs)
		now := p.a.GPU[p.refs[block]].Start
		drift := (now - at) / maxDrift
		if spread > leaveTogether || (len(out) > 0 && abs(median-last) > leaveTogether+drift) {
			continue
		}
		last, at = median, now
		for j, d := range diffs {
			if abs(d-median) <= leaveTogether {
				out = append(out, block+j)
			}
		}
	}
	return out
}

// bestShift is how many collectives the second rank recorded before the
// first's first one. At the right shift the difference of the clocks hardly
// changes from one collective to the next. A shift by a whole step comes
// close in a steady run; of such the one that changes the order or, where
// both clocks are known, the time least is taken.
func (p pairs) bestShift() int {
	if shift, ok := p.shiftBySeq(); ok {
		return shift
	}
	limit := min(maxShift, max(len(p.refs), len(p.others))-1)
	enough := max(1, min(len(p.refs), len(p.others))/2)
	type try struct {
		shift int
		rough float64 // mean change of the difference, ns
		far   int64
	}
	var tries []try
	for s := -limit; s <= limit; s++ {
		from, to := max(0, -s), min(len(p.refs), len(p.others)-s)
		if to-from < enough {
			continue
		}
		stride := max(1, (to-from)/shiftSamples)
		var sum, n int64
		for j := from; j+1 < to; j += stride {
			sum += min(farApart, abs(p.difference(j+1, j+1+s)-p.difference(j, j+s)))
			n++
		}
		t := try{shift: s, far: abs(int64(s))}
		if n > 0 {
			t.rough = float64(sum) / float64(n)
		}
		if p.a.Base != 0 && p.b.Base != 0 {
			t.far = abs(p.difference(from, from+s))
		}
		tries = append(tries, t)
	}
	if len(tries) == 0 {
		return 0
	}
	best := slices.MinFunc(tries, func(a, b try) int { return cmp.Compare(a.rough, b.rough) })
	for _, t := range tries {
		if t.rough <= 1.2*best.rough+50 && (t.far < best.far || (t.far == best.far && t.shift > best.shift)) {
			best.shift, best.far = t.shift, t.far
		}
	}
	return best.shift
}

// shiftBySeq takes the profiler's own numbering of collectives where both
// ranks have it.
func (p pairs) shiftBySeq() (int, bool) {
	numbered := map[int64]int{}
	for o, i := range p.others {
		if d := p.b.GPU[i].Detail; d != nil && d.Seq != 0 {
			if _, twice := numbered[d.Seq]; twice {
				return 0, false
			}
			numbered[d.Seq] = o
		}
	}
	for j, i := range p.refs {
		if d := p.a.GPU[i].Detail; d != nil && d.Seq != 0 {
			if o, ok := numbered[d.Seq]; ok {
				return o - j, true
			}
		}
	}
	return 0, false
}

// medianAndSpread returns the lower median of v and the median distance from
// it; v is not changed.
func medianAndSpread(v []int64) (median, spread int64) {
	if len(v) == 0 {
		return 0, 0
	}
	v = slices.Clone(v)
	median = lowerMiddle(v)
	for i := range v {
		v[i] = abs(v[i] - median)
	}
	return median, lowerMiddle(v)
}
