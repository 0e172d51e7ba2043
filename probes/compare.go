package probes

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Change is the verdict of a comparison.
type Change string

// The verdicts: what the interval of the ratio allows to say.
const (
	Same      Change = "same"      // the whole interval is within the margin
	Faster    Change = "faster"    // the whole interval is above it
	Slower    Change = "slower"    // the whole interval is below it
	Ambiguous Change = "ambiguous" // neither
)

// DefaultMargin is the change that two runs of one kernel may show without
// meaning anything, where no A/A pair showed more.
const DefaultMargin = 0.03

// Ratio is how much faster one sample is than another, with its interval and
// the margin the verdict was given at.
type Ratio struct {
	Value, Lo, Hi float64 // above 1: the second is faster
	Margin        float64
	Change        Change
}

// Compare sets speeds (shares of a ceiling, or reciprocals of times: more is
// faster) of two samples against each other: the ratio of their medians with a
// bootstrap interval. Margin is at least the A/A floor of both runs. A sample
// of fewer than six values leaves the verdict ambiguous.
func Compare(before, after []float64, margin float64) Ratio {
	r := Ratio{Value: median(after) / median(before), Margin: margin, Change: Ambiguous}
	r.Lo, r.Hi = bootstrap(before, after)
	if len(before) < 6 || len(after) < 6 {
		return r
	}
	switch {
	case r.Hi < 1-margin:
		r.Change = Slower
	case r.Lo > 1+margin:
		r.Change = Faster
	case r.Lo >= 1-margin && r.Hi <= 1+margin:
		r.Change = Same
	}
	return r
}

// resamples is how often the bootstrap draws.
const resamples = 1000

// bootstrap is the percentile interval of the ratio of medians. Its draws are
// the same each time, so that the same documents give the same verdict.
// Neighbouring blocks share the machine's state, so whole stretches of them
// are drawn together.
func bootstrap(before, after []float64) (lo, hi float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	ratios := make([]float64, 0, resamples)
	a, b := make([]float64, len(before)), make([]float64, len(after))
	for range resamples {
		draw(rng, a, before)
		draw(rng, b, after)
		if r := middle(b) / middle(a); !math.IsNaN(r) {
			ratios = append(ratios, r)
		}
	}
	if len(ratios) == 0 {
		return math.NaN(), math.NaN()
	}
	slices.Sort(ratios)
	return quantile(ratios, (1-confidence)/2), quantile(ratios, (1+confidence)/2)
}

// draw fills into with stretches of from, each about ∛n long.
func draw(rng *rand.Rand, into, from []float64) {
	if len(from) == 0 {
		return
	}
	stretch := max(1, int(math.Cbrt(float64(len(from)))))
	for i := 0; i < len(into); {
		start := rng.IntN(len(from))
		for j := 0; j < stretch && i < len(into); j++ {
			into[i] = from[(start+j)%len(from)]
			i++
		}
	}
}

// middle is the median of values, which it sorts.
func middle(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return quantile(values, 0.5)
}
