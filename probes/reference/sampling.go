package reference

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Sampling is how a token is drawn: of the TopK highest logits (0: all), of
// those the fewest that have TopP of the probability (1: all). Tokens are
// ordered by falling logit, of equals the first comes first.
type Sampling struct {
	Temperature float32
	TopK        int
	TopP        float32
}

// Greedy draws the highest logit, whatever the number.
func Greedy() Sampling { return Sampling{1, 1, 1} }

// lowest stands for logits of −∞: a row of nothing else has equals.
const lowest = -1e30

// Drawn checks a token: u of the kept probability must fall on it, or so near
// that float32 sums cannot tell.
func Drawn(how Sampling, logits []float32, u float32, token int32) error {
	if token < 0 || int(token) >= len(logits) {
		return fmt.Errorf("token %d of %d", token, len(logits))
	}
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(logits[b], logits[a]) })
	if how.TopK > 0 {
		order = order[:min(how.TopK, len(order))]
	}
	logit := func(token int) float64 { return max(float64(logits[token]), lowest) }
	top, total := logit(order[0]), 0.0
	p := make([]float64, len(order))
	for i, t := range order {
		p[i] = math.Exp((logit(t) - top) / float64(how.Temperature))
		total += p[i]
	}
	// The cut of top-p may lie a token to either side where sums are close.
	const slack = 1e-5
	low, high, sum := 0.0, 0.0, 0.0 // the least and the most that may be kept
	for i := range p {
		if how.TopP >= 1 || sum < (float64(how.TopP)+slack)*total {
			high = sum + p[i]
		}
		if how.TopP >= 1 || sum < (float64(how.TopP)-slack)*total {
			low = sum + p[i]
		}
		sum += p[i]
	}
	at := slices.Index(order, int(token))
	if at < 0 {
		return fmt.Errorf("token %d is not among the %d highest", token, how.TopK)
	}
	before := 0.0
	for _, v := range p[:at] {
		before += v
	}
	if from, to := float64(u)*low-slack*total, float64(u)*high+slack*total; before > to || before+p[at] < from || before > high {
		return fmt.Errorf("token %d is %g…%g of the probability, %g times %g…%g was drawn", token, before, before+p[at], u, low, high)
	}
	return nil
}
