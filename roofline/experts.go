package roofline

import "math"

// DistinctExperts is the expected number of different experts that t tokens
// choose when each takes k of e uniformly and independently:
// e·(1 − (1 − k/e)^t). It needs only each expert's marginal k/e, so it also
// holds under group-limited routing.
func DistinctExperts(e, k, t int) float64 {
	if e <= 0 || k <= 0 || t <= 0 {
		return 0
	}
	return float64(e) * -math.Expm1(float64(t)*math.Log1p(-float64(k)/float64(e)))
}

// BusiestRankExperts is the expected number of distinct experts on the rank
// that has most of them, when e experts lie in r equal blocks and t tokens
// each choose k of e uniformly. It is exact: given its size u, the union of
// the choices is a uniform u-subset, so
//
//	P(max ≤ j | u) = [x^u] (Σ_{i≤j} C(e/r, i)·x^i)^r / C(e, u),
//
// and the sizes follow a Markov chain with hypergeometric steps. The binomial
// coefficients are carried as binomial probabilities with the mean size's
// share, which cancel in the ratio and keep every number near 1.
func BusiestRankExperts(e, k, t, r int) float64 {
	mean := DistinctExperts(e, k, t)
	if r <= 1 || mean == 0 {
		return mean
	}
	block := e / r
	share := mean / float64(e)
	if share > 1-1e-12 {
		return float64(block)
	}
	logs := logFactorials(e)
	sizes := unionSizes(e, k, t, logs)
	whole := binomial(e, share, logs)
	part := binomial(block, share, logs)
	least, most := 0, e
	for sizes[least] < negligible {
		least++
	}
	for sizes[most] < negligible {
		most--
	}
	// E[max] = Σ_{j≥0} P(max > j). Some block holds at least 1/r of the union.
	sure := (least + r - 1) / r
	expected := float64(sure)
	for j := sure; j < block; j++ {
		fits := power(part[:j+1], r, most)
		more := 0.0
		for u := least; u <= most; u++ {
			atMost := 0.0
			if u < len(fits) && whole[u] > 0 {
				atMost = min(fits[u]/whole[u], 1)
			}
			more += sizes[u] * (1 - atMost)
		}
		expected += more
		if more < 1e-13 {
			break
		}
	}
	return expected
}

// negligible is the probability below which a union's size is not followed.
const negligible = 1e-18

// unionSizes is the distribution of the union's size after t tokens. It stops
// early once every expert is chosen.
func unionSizes(e, k, t int, logs []float64) []float64 {
	p := make([]float64, e+1)
	p[0] = 1
	all := choose(logs, e, k)
	grow := make([][]float64, e+1) // by size, how many experts one token adds, from the least
	next := make([]float64, e+1)
	for range t {
		clear(next)
		for u, pu := range p {
			if pu < negligible {
				continue
			}
			least := max(0, k-u)
			if grow[u] == nil { // the same for every token
				grow[u] = make([]float64, min(k, e-u)-least+1)
				for i := range grow[u] {
					grow[u][i] = math.Exp(choose(logs, e-u, least+i) + choose(logs, u, k-least-i) - all)
				}
			}
			for i, x := range grow[u] {
				next[u+least+i] += pu * x
			}
		}
		p, next = next, p
		if p[e] > 1-1e-12 {
			break
		}
	}
	return p
}

// binomial is the distribution of successes in n trials.
func binomial(n int, share float64, logs []float64) []float64 {
	p := make([]float64, n+1)
	for i := range p {
		p[i] = math.Exp(choose(logs, n, i) + float64(i)*math.Log(share) + float64(n-i)*math.Log1p(-share))
	}
	return p
}

// power is the polynomial with coefficients one raised to r, up to a degree.
// Coefficients too small to matter are left at 0, and the work on them out.
func power(one []float64, r, degree int) []float64 {
	oneLow, oneHigh := window(one)
	out := []float64{1}
	for range r {
		low, high := window(out)
		next := make([]float64, min(len(out)+len(one)-1, degree+1))
		for a := low; a < high; a++ {
			x := out[a]
			for b := oneLow; b < min(oneHigh, len(next)-a); b++ {
				next[a+b] += x * one[b]
			}
		}
		out = next
	}
	return out
}

// window is the range of a distribution outside of which its values are far
// below what any sum here can show.
func window(p []float64) (low, high int) {
	const tiny = 1e-40
	low, high = 0, len(p)
	for low < high && p[low] < tiny {
		low++
	}
	for high > low && p[high-1] < tiny {
		high--
	}
	return low, high
}

// logFactorials holds the logarithms of 0! to n!.
func logFactorials(n int) []float64 {
	logs := make([]float64, n+1)
	for i := 2; i <= n; i++ {
		logs[i] = logs[i-1] + math.Log(float64(i))
	}
	return logs
}

// choose is the logarithm of the binomial coefficient C(n, k).
func choose(logs []float64, n, k int) float64 { return logs[n] - logs[k] - logs[n-k] }
