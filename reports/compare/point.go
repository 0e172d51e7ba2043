package compare

import (
	"math"

	"decodegap/reports"
)

// interval is a value with the range its repeats span.
type interval struct{ mid, lo, hi float64 }

// side is one series at one point: several values where the point was run
// more than once.
type side struct {
	rate      *interval // output tok/s
	mean, mid *interval // TPOT mean and median, ms
}

// point is one operating point over all series.
type point struct {
	concurrency float64
	label       string // "" for a benchmark's concurrency
	group       string // points of one group are ordered by concurrency
	sides       []side
	efficiency  []reports.RowEfficiency
	causes      []reports.CauseChange
}

// sideAt collects a series' results at one concurrency.
func sideAt(s reports.Series, concurrency float64) side {
	var rate, mean, mid []float64
	for _, p := range s.Points {
		if p.Concurrency != concurrency {
			continue
		}
		rate = add(rate, p.OutputTokPerS)
		mean = add(mean, p.TPOT.Mean)
		mid = add(mid, p.TPOT.Median)
	}
	return side{over(rate), over(mean), over(mid)}
}

// add appends a value that can be divided by.
func add(list []float64, x *float64) []float64 {
	if x == nil || !(*x > 0) || math.IsInf(*x, 0) {
		return list
	}
	return append(list, *x)
}

// over is the mean of repeats and their range; nil without any.
func over(repeats []float64) *interval {
	if len(repeats) == 0 {
		return nil
	}
	i := interval{0, math.Inf(1), 0}
	for _, x := range repeats {
		i.mid += x / float64(len(repeats))
		i.lo, i.hi = min(i.lo, x), max(i.hi, x)
	}
	return &i
}

// tpot is TPOT by the statistic that both sides have.
func tpot(a, b side) (ta, tb *interval) {
	if a.mean != nil && b.mean != nil {
		return a.mean, b.mean
	}
	if a.mid != nil && b.mid != nil {
		return a.mid, b.mid
	}
	return nil, nil
}

// central is the TPOT to print: the mean, else the median.
func (s side) central() *float64 {
	switch {
	case s.mean != nil:
		return &s.mean.mid
	case s.mid != nil:
		return &s.mid.mid
	}
	return nil
}

// change is how much faster b is than a, as a share, with the range the
// repeats allow; nil if there is no value to go by. Output tok/s decides, and
// TPOT where a side has none.
func change(a, b side) *interval {
	if a.rate != nil && b.rate != nil {
		return ratio(b.rate, a.rate)
	}
	if ta, tb := tpot(a, b); ta != nil {
		return ratio(ta, tb)
	}
	return nil
}

// ratio is x/y − 1.
func ratio(x, y *interval) *interval {
	return &interval{x.mid/y.mid - 1, x.lo/y.hi - 1, x.hi/y.lo - 1}
}

// verdict judges b against a. Repeats that straddle the threshold, and a TPOT
// that says the opposite of tok/s, make it ambiguous.
func verdict(a, b side, threshold float64) string {
	d := change(a, b)
	if d == nil {
		return NotComparable
	}
	v := judge(d, threshold)
	if a.rate == nil || b.rate == nil {
		return v
	}
	if ta, tb := tpot(a, b); ta != nil {
		t := judge(ratio(ta, tb), threshold)
		if v == Faster && t == Slower || v == Slower && t == Faster {
			return Ambiguous
		}
	}
	return v
}

func judge(d *interval, threshold float64) string {
	switch {
	case d.lo > threshold:
		return Faster
	case d.hi < -threshold:
		return Slower
	case d.lo >= -threshold && d.hi <= threshold:
		return Same
	}
	return Ambiguous
}

// row is the point as it is reported. With more than two series each has its
// own verdict, and the row's is the one they share, else ambiguous.
func (p point) row(threshold float64) reports.CompareRow {
	r := reports.CompareRow{Concurrency: p.concurrency, Point: p.label, Efficiency: p.efficiency, Causes: p.causes}
	var verdicts []string
	timed := false
	for i, s := range p.sides {
		var rate, pct *float64
		if s.rate != nil {
			rate = &s.rate.mid
		}
		if i > 0 {
			if d := change(p.sides[0], s); d != nil {
				x := 100 * d.mid
				pct = &x
			}
			verdicts = append(verdicts, verdict(p.sides[0], s, threshold))
		}
		r.OutputTokPerS = append(r.OutputTokPerS, rate)
		r.ChangePct = append(r.ChangePct, pct)
		r.TPOTMs = append(r.TPOTMs, s.central())
		timed = timed || s.central() != nil
	}
	if !timed {
		r.TPOTMs = nil
	}
	r.Verdict = verdicts[0]
	if len(verdicts) > 1 {
		r.Verdicts = verdicts
		for _, v := range verdicts {
			if v != r.Verdict {
				r.Verdict = Ambiguous
				break
			}
		}
	}
	return r
}
