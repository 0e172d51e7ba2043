package probes

import (
	"math"
	"slices"
)

// confidence is that of every interval here.
const confidence = 0.95

// Summary describes a sample without leaving any value out.
type Summary struct {
	Median   float64
	Lo, Hi   *float64 // order-statistic interval of the median, at least 95 %; nil below six values
	P10, P90 float64
	MAD      float64   // median of the distances from the median
	Values   []float64 // in the order they were taken
}

// Summarize describes values; nil of none.
func Summarize(values []float64) *Summary {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	s := &Summary{Median: quantile(sorted, 0.5), P10: quantile(sorted, 0.1), P90: quantile(sorted, 0.9), Values: values}
	distances := make([]float64, len(sorted))
	for i, v := range sorted {
		distances[i] = math.Abs(v - s.Median)
	}
	slices.Sort(distances)
	s.MAD = quantile(distances, 0.5)
	if k := medianRank(len(sorted)); k > 0 {
		lo, hi := sorted[k-1], sorted[len(sorted)-k]
		s.Lo, s.Hi = &lo, &hi
	}
	return s
}

// HalfWidth is half the interval over the median, +Inf where there is none.
func (s *Summary) HalfWidth() float64 {
	if s == nil || s.Lo == nil || s.Median == 0 {
		return math.Inf(1)
	}
	return (*s.Hi - *s.Lo) / 2 / math.Abs(s.Median)
}

// medianRank is the largest k for which the k-th smallest and the k-th largest
// of n values enclose the median of what they come from with the confidence:
// P(fewer than k of n fall below it) ≤ (1 − confidence)/2 by the binomial
// distribution. 0 where no k does.
func medianRank(n int) int {
	below := 0.0 // P(fewer than k below)
	term := -float64(n) * math.Ln2
	for k := 0; k < n; k++ {
		below += math.Exp(term) // P(exactly k below)
		if below > (1-confidence)/2 {
			return k
		}
		term += math.Log(float64(n-k)) - math.Log(float64(k+1))
	}
	return 0
}

// quantile interpolates between the closest ranks of sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// median of values in any order; NaN of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return quantile(slices.Sorted(slices.Values(values)), 0.5)
}
