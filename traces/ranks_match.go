package traces

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

const (
	maxShift     = 1024    // collectives that one rank may have recorded before another began
	shiftSamples = 512     // pairs looked at for one shift
	farApart     = 100_000 // ns: a change of the clocks' difference that counts no further
	// ns: by how much ranks may leave a collective apart. Ranks of one group
	// leave within a few microseconds; what differs by more is no group.
	leaveTogether = 50_000
	minPairs      = 3
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
	for k := range transfers {
		transfers[k] = map[int]int64{}
	}
	clocks := make([]*int64, len(ranks)) // each one's minus the first's
	clocks[0] = new(int64)
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
			m := pairs{a: &ranks[first].Device, b: &ranks[k].Device, refs: ref, others: list}
			if clocks[first] != nil && clocks[k] != nil {
				known := *clocks[k] - *clocks[first]
				m.clock = &known
			}
			shift := m.bestShift()
			together := m.together(shift)
			if len(together) < m.needed() {
				w.Notes = append(w.Notes, Warning{"ranks-do-not-match", fmt.Sprintf(
					"ranks %d and %d do not leave their %s together: not one group, or not one run; waiting between them is unknown",
					m.a.Rank, m.b.Rank, kindOfKey(key))})
				continue
			}
			if clocks[first] != nil && clocks[k] == nil {
				apart, _ := medianAndSpread(m.differences(together, shift))
				apart += *clocks[first]
				clocks[k] = &apart
			}
			for _, j := range together {
				o := j + shift
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
		w.Ranks[k].Offset = clocks[k]
	}
	return transfers
}

type peer struct{ rank, op int }

// keysOf lists the kinds, the most frequent first: they align the clocks for
// the rare ones.
func keysOf(lists []map[string][]int) []string {
	count := map[string]int{}
	for _, l := range lists {
		for k, ops := range l {
			count[k] += len(ops)
		}
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
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
	clock        *int64 // b's clock minus a's in ns; nil while not known
}

// difference is the later clock's reading of a common end minus the other's.
func (p pairs) difference(j, o int) int64 {
	return p.b.GPU[p.others[o]].End() + p.b.Base - p.a.GPU[p.refs[j]].End() - p.a.Base
}

func (p pairs) differences(js []int, shift int) (out []int64) {
	for _, j := range js {
		out = append(out, p.difference(j, j+shift))
	}
	return out
}

// needed is how many pairs prove that two ranks work together: one, when
// their clocks are known, for any two events fit together otherwise.
func (p pairs) needed() int {
	if p.clock != nil || (p.a.Base != 0 && p.b.Base != 0) {
		return 1
	}
	return minPairs
}

// together lists the first rank's collectives, as positions in refs, that the
// second one leaves at the same time. Clocks of two hosts drift, so times are
// compared in blocks; a block that jumps further than clocks drift was matched
// across a hole in one of the traces.
func (p pairs) together(shift int) (out []int) {
	var last, at int64 // difference of the clocks, and when
	known := p.clock != nil
	if known {
		last, at = *p.clock, p.a.GPU[0].Start
	}
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
		if spread > leaveTogether || (known && abs(median-last) > leaveTogether+drift) {
			continue
		}
		last, at, known = median, now, true
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
	enough := (min(len(p.refs), len(p.others)) + 1) / 2
	var tries []try
	for s := -limit; s <= limit; s++ {
		from, to := max(0, -s), min(len(p.refs), len(p.others)-s)
		if to-from >= enough {
			tries = append(tries, p.try(s, from, to))
		}
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

// try is how well one shift fits.
type try struct {
	shift int
	rough float64 // mean change of the clocks' difference, ns; once the clocks are known, mean error
	far   int64   // of several that fit alike, the nearest is taken
}

func (p pairs) try(shift, from, to int) try {
	t := try{shift: shift, far: abs(int64(shift)), rough: farApart}
	if p.a.Base != 0 && p.b.Base != 0 {
		t.far = abs(p.difference(from, from+shift))
	}
	var sum, n int64
	for j := from; j < to; j += max(1, (to-from)/shiftSamples) {
		d := p.difference(j, j+shift)
		switch {
		case p.clock != nil:
			sum += min(abs(d-*p.clock), 1<<40)
			n++
		case j+1 < to:
			sum += min(abs(p.difference(j+1, j+1+shift)-d), farApart)
			n++
		}
	}
	if n > 0 {
		t.rough = float64(sum) / float64(n)
	}
	return t
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
