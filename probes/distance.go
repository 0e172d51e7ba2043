package probes

import "math"

// Distance sums up how far outputs lie from their references. The zero value
// has compared nothing.
type Distance struct {
	difference, reference, most float64
	values                      int
}

// Add takes one value; what is no number is infinitely far.
func (d *Distance) Add(got, want float64) {
	diff := got - want
	if math.IsNaN(diff) {
		diff = math.Inf(1)
	}
	d.difference += diff * diff
	d.reference += want * want
	d.most = max(d.most, math.Abs(diff))
	d.values++
}

// Correctness is the sum; bound is of its relative L2 distance. Numbers are
// finite, as JSON has them: infinitely far is above every bound.
func (d *Distance) Correctness(bound float64, comment string) Correctness {
	c := Correctness{MaxAbs: d.most, Bound: bound, Values: d.values, Comment: comment}
	switch {
	case d.reference > 0:
		c.RelativeL2 = math.Sqrt(d.difference / d.reference)
	case d.difference > 0:
		c.RelativeL2 = math.Inf(1)
	}
	if math.IsNaN(c.RelativeL2) || math.IsInf(c.RelativeL2, 0) {
		c.RelativeL2 = math.MaxFloat64
	}
	if math.IsInf(c.MaxAbs, 0) {
		c.MaxAbs = math.MaxFloat64
	}
	return c
}
