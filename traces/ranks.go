package traces

import (
	"fmt"

	"decodegap/roofline"
)

// RankStep is one rank's part in SplitWaits.
type RankStep struct {
	Device    Device
	Profile   *StepProfile                   // of the step that is reported; its CommWait is set
	Component func(i int) roofline.Component // of the kernel at an index of Device.GPU
}

// RankWait is what one rank lost to the others.
type RankWait struct {
	Rank, Device int
	// Offset is this device's clock minus the first one's, ns; nil when the
	// collectives do not tell.
	Offset *int64
	// Matched and Unmatched count the collectives of the whole device.
	Matched, Unmatched int
	// Steps's collectives: Transfer is what they take on the fastest rank,
	// Waiting what they take longer on this one. Both in ns.
	Transfer, Waiting int64
	// Exposed is the part of Waiting that nothing hides and that the comm.*
	// components of the profile contain, ns.
	Exposed int64
	// TotalWaiting is over all matched collectives of the device, ns.
	TotalWaiting int64
}

// Waits says how the ranks waited for each other.
type Waits struct {
	Ranks []RankWait // in the order given
	// Longest is the index of the rank whose reported step waits longest,
	// Straggler of the one that waits least, for which the others wait; both
	// -1 when not known.
	Longest, Straggler int
	Notes              []Warning
}

// SplitWaits splits the collectives of several ranks into transfer and
// waiting. All ranks leave a collective together, so its ends align the
// clocks; the rank that came last waits for nobody, so the shortest duration
// is the transfer and the rest of every other is waiting. Sends and receives
// have no such last rank and are left alone. With one rank, or collectives
// that do not fit together, waiting stays unknown.
func SplitWaits(ranks []RankStep) Waits {
	w := Waits{Longest: -1, Straggler: -1}
	for _, r := range ranks {
		w.Ranks = append(w.Ranks, RankWait{Rank: r.Device.Rank, Device: r.Device.Device})
	}
	if len(ranks) < 2 {
		return w
	}
	lists := make([]map[string][]int, len(ranks))
	for k, r := range ranks {
		lists[k] = collectives(r)
	}
	matched := matchRanks(ranks, lists, &w)
	for k, r := range ranks {
		if w.Ranks[k].Matched == 0 {
			continue
		}
		w.measure(k, r, matched)
	}
	for k, r := range w.Ranks {
		if r.Matched == 0 || ranks[k].Profile == nil || ranks[k].Profile.CommWait == nil {
			continue
		}
		if w.Longest < 0 || r.Exposed > w.Ranks[w.Longest].Exposed {
			w.Longest = k
		}
		if w.Straggler < 0 || r.Waiting < w.Ranks[w.Straggler].Waiting {
			w.Straggler = k
		}
	}
	if w.Longest == w.Straggler {
		w.Straggler = -1 // nobody waits for anybody
	}
	return w
}

// measure sums one rank's waiting over the collectives that start in its step.
func (w *Waits) measure(k int, r RankStep, transfers []map[int]int64) {
	out := &w.Ranks[k]
	gpu := r.Device.GPU
	waitUntil := map[int]int64{} // of the step's collectives: where waiting ends
	inStep, known := 0, 0
	for i, transfer := range transfers[k] {
		out.TotalWaiting += gpu[i].Dur - transfer
	}
	if r.Profile == nil {
		return
	}
	st := r.Profile.Step
	for i := st.First; i < st.Last; i++ {
		e := gpu[i]
		if !e.usable() || e.Start < st.Start || !isCollective(e, r.Component(i)) {
			continue
		}
		inStep++
		if transfer, ok := transfers[k][i]; ok {
			known++
			out.Transfer += transfer
			out.Waiting += e.Dur - transfer
			waitUntil[i] = e.End() - transfer
		}
	}
	if known < inStep {
		w.Notes = append(w.Notes, Warning{"collectives-unmatched",
			fmt.Sprintf("rank %d: %d of %d collectives of the step have no partner on another rank: waiting is a lower bound", out.Rank, inStep-known, inStep)})
	}
	if known == 0 {
		return
	}
	for _, s := range r.Profile.Segments {
		if until, ok := waitUntil[s.Op]; ok && until > s.Start {
			out.Exposed += min(until, s.End) - s.Start
		}
	}
	exposed := out.Exposed
	r.Profile.CommWait = &exposed
}

// isCollective says whether all ranks of a group take part in e and leave it
// together.
func isCollective(e Event, c roofline.Component) bool {
	return e.Kind == Kernel && c.IsComm() && c != roofline.P2P
}
