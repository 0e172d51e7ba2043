package roofline

import "sync"

// ExpertCounts remembers what BusiestRankExperts found: the operating points of
// a sweep, and the floors of one point, ask for the same few counts over and
// over. The zero value is ready, nil remembers nothing, and several goroutines
// may share one.
type ExpertCounts struct {
	mu    sync.Mutex
	known map[expertCount]func() float64
}

// expertCount is one question to BusiestRankExperts.
type expertCount struct{ experts, topK, tokens, ranks int }

// mostCounts bounds what is remembered; a sweep has far fewer batches.
const mostCounts = 4096

// Busiest is BusiestRankExperts(e, k, t, r), computed once. Who asks while
// another goroutine is computing the same count waits for it.
func (c *ExpertCounts) Busiest(e, k, t, r int) float64 {
	if c == nil {
		return BusiestRankExperts(e, k, t, r)
	}
	return c.count(expertCount{e, k, t, r})()
}

// count is the remembered computation of a key. With too many remembered it
// forgets all: what is being computed is still delivered to those who wait.
func (c *ExpertCounts) count(key expertCount) func() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.known[key]; ok {
		return f
	}
	if c.known == nil || len(c.known) >= mostCounts {
		c.known = map[expertCount]func() float64{}
	}
	f := sync.OnceValue(func() float64 { return BusiestRankExperts(key.experts, key.topK, key.tokens, key.ranks) })
	c.known[key] = f
	return f
}
