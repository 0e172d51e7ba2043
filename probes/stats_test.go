package probes

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestMedianRank(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 0, 5: 0, 6: 1, 10: 2, 30: 10, 100: 40, 1000: 469} {
		if got := medianRank(n); got != want {
			t.Errorf("%d values: rank %d, want %d", n, got, want)
		}
	}
}

// TestMedianRankAgainstGonum: the ranks are those of the binomial distribution
// as another implementation has it.
func TestMedianRankAgainstGonum(t *testing.T) {
	for n := 1; n < 500; n++ {
		b := distuv.Binomial{N: float64(n), P: 0.5}
		k := medianRank(n)
		if outside := b.CDF(float64(k) - 1); k > 0 && outside > (1-confidence)/2 {
			t.Errorf("%d values: rank %d leaves out %.4f on each side", n, k, outside)
		}
		if outside := b.CDF(float64(k)); outside <= (1-confidence)/2 {
			t.Errorf("%d values: rank %d, and the next would leave out only %.4f", n, k, outside)
		}
	}
}

func TestSummarize(t *testing.T) {
	if Summarize(nil) != nil {
		t.Error("a summary of nothing")
	}
	s := Summarize([]float64{5, 1, 4, 2, 3})
	if s.Median != 3 || s.Lo != nil || s.MAD != 1 || s.P10 != 1.4 || s.P90 != 4.6 || s.Values[0] != 5 {
		t.Errorf("got %+v", s)
	}
	if !math.IsInf(s.HalfWidth(), 1) || !math.IsInf((*Summary)(nil).HalfWidth(), 1) {
		t.Error("a width without an interval")
	}
}

// about are n values around middle, each off by up to spread.
func about(seed uint64, n int, middle, spread float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	values := make([]float64, n)
	for i := range values {
		values[i] = middle * (1 + spread*(2*rng.Float64()-1))
	}
	return values
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after []float64
		margin        float64
		want          Change
	}{
		{"a kernel against itself", about(1, 40, 0.9, 0.05), about(2, 40, 0.9, 0.05), DefaultMargin, Same},
		{"10 % slower", about(1, 40, 0.9, 0.05), about(2, 40, 0.81, 0.05), DefaultMargin, Slower},
		{"10 % faster", about(1, 40, 0.9, 0.05), about(2, 40, 0.99, 0.05), DefaultMargin, Faster},
		{"3 % slower, at the margin", about(1, 40, 0.9, 0.05), about(2, 40, 0.873, 0.05), DefaultMargin, Ambiguous},
		{"10 % slower where the noise floor is 15 %", about(1, 40, 0.9, 0.05), about(2, 40, 0.81, 0.05), 0.15, Same},
		{"very noisy", about(1, 12, 0.9, 0.6), about(2, 12, 0.85, 0.6), DefaultMargin, Ambiguous},
		{"too few values", about(1, 5, 0.9, 0.01), about(2, 40, 0.5, 0.01), DefaultMargin, Ambiguous},
	} {
		r := Compare(c.before, c.after, c.margin)
		if r.Change != c.want || !(r.Lo <= r.Value && r.Value <= r.Hi) {
			t.Errorf("%s: %s, %.3f (%.3f to %.3f), want %s", c.name, r.Change, r.Value, r.Lo, r.Hi, c.want)
		}
		if again := Compare(c.before, c.after, c.margin); again != r {
			t.Errorf("%s: %+v, then %+v", c.name, r, again)
		}
	}
	if r := Compare(nil, nil, DefaultMargin); r.Change != Ambiguous {
		t.Errorf("nothing against nothing: %+v", r)
	}
}
