package roofline

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDistinctExperts(t *testing.T) {
	// Worked by hand for 256 experts, 8 a token.
	for tokens, want := range map[int]float64{1: 8, 2: 15.75, 4: 30.531006, 32: 163.3, 128: 251.6} {
		if got := DistinctExperts(256, 8, tokens); math.Abs(got-want) > 0.05 {
			t.Errorf("%d tokens: %v distinct experts, want %v", tokens, got, want)
		}
	}
	if got := DistinctExperts(8, 8, 3); got != 8 {
		t.Errorf("all of 8 experts: got %v", got)
	}
	if got := DistinctExperts(0, 0, 3); got != 0 {
		t.Errorf("no experts: got %v", got)
	}
}

func TestBusiestRankExperts(t *testing.T) {
	for _, c := range []struct {
		e, k, t, r int
		want       float64
	}{
		{256, 8, 1, 8, 2.56}, {256, 8, 4, 8, 6.6}, {256, 8, 16, 8, 16.7}, {256, 8, 64, 8, 30.3},
		{128, 4, 64, 8, 15.568816}, {8, 2, 1, 2, 1.428571}, {8, 8, 5, 4, 2}, {64, 4, 100000, 8, 8},
	} {
		if got := BusiestRankExperts(c.e, c.k, c.t, c.r); math.Abs(got-c.want) > 0.05 {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	if got, want := BusiestRankExperts(256, 8, 4, 1), DistinctExperts(256, 8, 4); got != want {
		t.Errorf("one rank: got %v, want %v", got, want)
	}
}

// TestBusiestRankAgainstSimulation draws the choices and counts.
func TestBusiestRankAgainstSimulation(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ e, k, t, r int }{{32, 3, 5, 4}, {60, 6, 2, 2}, {48, 1, 20, 16}, {512, 10, 8, 8}} {
		const rounds = 20000
		var sum, squares float64
		for range rounds {
			chosen := map[int]bool{}
			for range c.t {
				for _, x := range rnd.Perm(c.e)[:c.k] {
					chosen[x] = true
				}
			}
			counts := make([]int, c.r)
			most := 0
			for x := range chosen {
				counts[x/(c.e/c.r)]++
				most = max(most, counts[x/(c.e/c.r)])
			}
			sum += float64(most)
			squares += float64(most * most)
		}
		mean := sum / rounds
		sigma := math.Sqrt((squares/rounds - mean*mean) / rounds)
		if got := BusiestRankExperts(c.e, c.k, c.t, c.r); math.Abs(got-mean) > 6*sigma+1e-9 {
			t.Errorf("%+v: computed %v, drawn %v ± %v", c, got, mean, sigma)
		}
	}
}
