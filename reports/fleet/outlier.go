package fleet

import (
	"math"
	"slices"
)

// falseAlarms is how often a merge of healthy devices may name one.
const falseAlarms = 0.01

// Least is how few devices say nothing about one of them: the spread of fewer
// is too uncertain for falseAlarms to hold (at five to seven, simulated healthy
// fleets gave four to five false alarms in a hundred).
const Least = 8

// limitOf is the distance in standard deviations that the largest of n normal
// values passes with a probability of falseAlarms. A robust spread of few values
// is itself uncertain, which the second factor allows for: the relative error
// of a scaled median distance of m values is about 1.17/√m
// (Rousseeuw and Croux 1993), and three of those are added.
func limitOf(n, m int) float64 {
	z := math.Sqrt2 * math.Erfcinv(2*falseAlarms/float64(max(n, 1)))
	return z * (1 + 3*1.17/math.Sqrt(float64(m)))
}

// center is the median and the robust relative standard deviation of times.
func center(times []float64) (median, spread float64) {
	sorted := slices.Sorted(slices.Values(times))
	median = middle(sorted)
	for i, t := range sorted {
		sorted[i] = math.Abs(t - median)
	}
	slices.Sort(sorted)
	return median, 1.4826 * middle(sorted) / median
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
