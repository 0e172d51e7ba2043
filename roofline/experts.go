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
// and the sizes follow a Markov chain with hypergeometric steps.
func BusiestRankExperts(e, k, t, r int) float64 {
	if r <= 1 {
		return DistinctExperts(e, k, t)
	}
	sizes := unionSizes(e, k, t)
	block := e / r
	var expected float64
	// E[max] = Σ_{j≥0} P(max > j).
	for j := range block {
		atMost := blocksAtMost(block, j, r)
		for u, p := range sizes {
			if p == 0 {
				continue
			}
			fits := 0.0
			if u < len(atMost) {
				fits = math.Exp(atMost[u] - logChoose(e, u))
			}
			expected += p * (1 - min(fits, 1))
		}
	}
	return expected
}

// unionSizes is the distribution of the union's size after t tokens; sizes
// that can no longer change anything in double precision are kept as they are.
func unionSizes(e, k, t int) []float64 {
	p := make([]float64, e+1)
	p[0] = 1
	for step := 0; step < t; step++ {
		next := make([]float64, e+1)
		for u, pu := range p {
			if pu < 1e-300 {
				continue
			}
			for fresh := max(0, k-u); fresh <= min(k, e-u); fresh++ {
				w := logChoose(e-u, fresh) + logChoose(u, k-fresh) - logChoose(e, k)
				next[u+fresh] += pu * math.Exp(w)
			}
		}
		p = next
		if p[e] > 1-1e-12 {
			break // every expert is chosen: nothing further can happen
		}
	}
	return p
}

// blocksAtMost gives, for each u, the logarithm of the number of u-subsets
// with at most j members in each of r blocks.
func blocksAtMost(block, j, r int) []float64 {
	one := make([]float64, j+1)
	for i := range one {
		one[i] = logChoose(block, i)
	}
	poly := []float64{0}
	for range r {
		next := make([]float64, len(poly)+j)
		for i := range next {
			next[i] = math.Inf(-1)
		}
		for a, pa := range poly {
			for b, pb := range one {
				next[a+b] = logAdd(next[a+b], pa+pb)
			}
		}
		poly = next
	}
	return poly
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

func logChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
