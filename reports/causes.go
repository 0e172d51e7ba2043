package reports

import (
	"cmp"
	"math"
	"slices"
)

// CauseChange is what one cause of the ledgers takes on each side: the sum of
// its rungs, the host's net of the profiler's cost. The cause "floor" stands
// for the floors the ledgers start from. A side without a ledger is null.
type CauseChange struct {
	Cause    string     `json:"cause"`
	Ms       []*float64 `json:"ms"`
	ChangeMs []*float64 `json:"change_ms"`      // against the first side: below 0 is time won
	Text     string     `json:"text,omitempty"` // of the largest of its rungs, of all sides
}

// CauseChanges sets the ledgers of one operating point side by side, the
// largest change first; nil unless two or more of them start from the same
// kind of floor. The changes of a side add up to that of its step.
func CauseChanges(ledgers []*Ledger) []CauseChange {
	var first *Ledger
	sides := 0
	for _, l := range ledgers {
		switch {
		case l == nil:
		case first == nil:
			first, sides = l, 1
		case l.Floor == first.Floor:
			sides++
		default:
			return nil
		}
	}
	if sides < 2 {
		return nil
	}
	var out []CauseChange
	largest := map[string]float64{}
	add := func(cause, text string, side int, ms float64) {
		i := slices.IndexFunc(out, func(c CauseChange) bool { return c.Cause == cause })
		if i < 0 {
			i = len(out)
			c := CauseChange{Cause: cause, Ms: make([]*float64, len(ledgers)), ChangeMs: make([]*float64, len(ledgers))}
			for s, l := range ledgers {
				if l != nil {
					c.Ms[s] = new(float64)
				}
			}
			out = append(out, c)
		}
		*out[i].Ms[side] += ms
		if math.Abs(ms) > largest[cause] {
			largest[cause], out[i].Text = math.Abs(ms), text
		}
	}
	for side, l := range ledgers {
		if l == nil {
			continue
		}
		add("floor", "", side, l.FloorMs)
		for _, r := range netOfProfiler(l.Rungs) {
			add(r.Cause, r.Text, side, r.Ms)
		}
	}
	for i := range out {
		if base := out[i].Ms[0]; base != nil {
			for s := 1; s < len(ledgers); s++ {
				if ms := out[i].Ms[s]; ms != nil {
					d := *ms - *base
					out[i].ChangeMs[s] = &d
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b CauseChange) int { return cmp.Compare(largestChange(b), largestChange(a)) })
	return out
}

func largestChange(c CauseChange) float64 {
	most := 0.0
	for _, d := range c.ChangeMs {
		if d != nil {
			most = max(most, math.Abs(*d))
		}
	}
	return most
}

// netOfProfiler takes the profiler's cost out of the host's rung: a profiler
// slows the host, so the gap it leaves is what the host costs without it.
func netOfProfiler(rungs []Rung) []Rung {
	rungs = slices.Clone(rungs)
	for i := range rungs {
		p := &rungs[i]
		if p.Cause != "profiler" || p.Ms >= 0 {
			continue
		}
		for j := range rungs {
			if r := &rungs[j]; r.Cause == "host" && r.Ms > -p.Ms {
				r.Ms += p.Ms
				p.Ms = 0
				break
			}
		}
	}
	return slices.DeleteFunc(rungs, func(r Rung) bool { return r.Cause == "profiler" && r.Ms == 0 })
}
