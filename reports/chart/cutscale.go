package chart

import "gonum.org/v1/plot"

// brokenScale is a linear axis with the part from..to left out. Both sides
// have the same scale; the gap takes a fixed share of the axis. With from ==
// to it is an ordinary linear axis.
type brokenScale struct{ from, to float64 }

// gapShare is the share of the axis that the cut takes.
const gapShare = 0.035

func (s brokenScale) cut() bool { return s.to > s.from }

// Normalize implements plot.Normalizer.
func (s brokenScale) Normalize(lo, hi, x float64) float64 {
	if !s.cut() {
		return (x - lo) / (hi - lo)
	}
	left, right := s.from-lo, hi-s.to
	per := (1 - gapShare) / (left + right)
	switch {
	case x <= s.from:
		return (x - lo) * per
	case x >= s.to:
		return 1 - (hi-x)*per
	}
	return left*per + (x-s.from)/(s.to-s.from)*gapShare
}

// Ticks implements plot.Ticker: one step for both sides.
func (s brokenScale) Ticks(lo, hi float64) []plot.Tick {
	if !s.cut() {
		return linearTicks(lo, hi, 6)
	}
	step := niceStep((s.from - lo + hi - s.to) / 6)
	return append(multiples(lo, s.from, step), multiples(s.to, hi, step)...)
}

// cutScale chooses the cut. One is made only where a single rung takes most of
// the axis, and only through that rung: every other bar that crosses the cut
// must cross it whole, as the measured one does.
func cutScale(rows []rung, lo, hi float64) brokenScale {
	const dwarfs = 0.55
	for i, big := range rows {
		if i == 0 || big.total || big.to-big.from < dwarfs*(hi-lo) {
			continue
		}
		rest := (hi - lo) - (big.to - big.from)
		s := brokenScale{from: big.from + 0.35*rest, to: big.to - 0.2*rest}
		if rest <= 0 || s.to-s.from < 0.2*(hi-lo) {
			return brokenScale{}
		}
		for j, r := range rows {
			a, b := min(r.from, r.to), max(r.from, r.to)
			if inside(a, s) || inside(b, s) || j == 0 && b > s.from {
				return brokenScale{}
			}
		}
		return s
	}
	return brokenScale{}
}

func inside(v float64, s brokenScale) bool { return v > s.from && v < s.to }
