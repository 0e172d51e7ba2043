package roofline

import (
	"sync"
	"testing"
)

// TestExpertCountsAreTheComputedOnes: every key has its own count, asked once
// or twice, from one goroutine or many, remembered or not.
func TestExpertCountsAreTheComputedOnes(t *testing.T) {
	keys := []expertCount{{64, 4, 3, 2}, {64, 4, 3, 4}, {64, 4, 5, 4}, {64, 6, 5, 4}, {32, 6, 5, 4}, {64, 4, 3, 1}}
	var shared ExpertCounts
	var none *ExpertCounts
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for _, k := range append(keys, keys...) {
				want := BusiestRankExperts(k.experts, k.topK, k.tokens, k.ranks)
				for _, c := range []*ExpertCounts{&shared, none} {
					if got := c.Busiest(k.experts, k.topK, k.tokens, k.ranks); got != want {
						t.Errorf("%+v: got %v, want %v", k, got, want)
					}
				}
			}
		})
	}
	wait.Wait()
	if len(shared.known) != len(keys) {
		t.Errorf("%d counts remembered, want %d", len(shared.known), len(keys))
	}
}

func TestExpertCountsAreBounded(t *testing.T) {
	var c ExpertCounts
	for tokens := range mostCounts + 2 {
		c.Busiest(2, 1, tokens, 2)
	}
	if n := len(c.known); n == 0 || n > mostCounts {
		t.Errorf("%d counts remembered, want 1 to %d", n, mostCounts)
	}
}
