//go:build cgo && linux

package cpu

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// near is how far two scores may be apart for float32 to see them otherwise.
const near = 2e-6

// routedAs checks one token's experts and weights against float64: each expert
// must be the best that is left, or so near it that float32 cannot tell.
func routedAs(r router, logits, bias []float32, ids []int32, weights []float32) error {
	n := r.experts
	score, choice := make([]float64, n), make([]float64, n)
	top, total := float64(slices.Max(logits)), 0.0
	for i, l := range logits {
		score[i] = math.Exp(float64(l) - top)
		if r.sigmoid {
			score[i] = 1 / (1 + math.Exp(-float64(l)))
		}
		total += score[i]
	}
	for i := range score {
		if !r.sigmoid {
			score[i] /= total
		}
		choice[i] = score[i]
		if bias != nil {
			choice[i] += float64(bias[i])
		}
	}
	if r.groups > 1 {
		if err := keepGroups(r, choice, ids); err != nil {
			return err
		}
	}
	sum := 0.0
	for k, id := range ids {
		if id < 0 || int(id) >= n {
			return fmt.Errorf("choice %d is expert %d of %d", k, id, n)
		}
		best := slices.Index(choice, slices.Max(choice))
		if d := choice[best] - choice[id]; d > near || d == 0 && int(id) > best {
			return fmt.Errorf("choice %d is expert %d with %g, expert %d has %g", k, id, choice[id], best, choice[best])
		}
		choice[id] = math.Inf(-1)
		sum += score[id]
	}
	factor := float64(r.scale)
	if factor == 0 {
		factor = 1
	}
	if r.renormalise {
		factor /= max(sum, 1e-20)
	}
	for k, id := range ids {
		// An exponent of float32 is the less exact the farther from 0 it is.
		want, bound := score[id]*factor, 2e-6+2e-7*min(128, math.Abs(float64(logits[id])-top))
		if !(math.Abs(float64(weights[k])-want) <= bound*want+1e-30) {
			return fmt.Errorf("expert %d has weight %g, not %g", id, weights[k], want)
		}
	}
	return nil
}

// keepGroups takes the experts of groups that are not kept out of the choice.
// Groups that float32 cannot tell apart are kept where an expert was chosen.
func keepGroups(r router, choice []float64, ids []int32) error {
	each := r.experts / r.groups
	score := make([]float64, r.groups)
	for g := range score {
		in := slices.Sorted(slices.Values(choice[g*each:][:each]))
		score[g] = in[each-1]
		if r.two && each > 1 {
			score[g] += in[each-2]
		}
	}
	order := make([]int, r.groups)
	for g := range order {
		order[g] = g
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	last := score[order[r.kept-1]]
	kept, told := map[int]bool{}, true
	for k, g := range order {
		d := math.Abs(score[g] - last)
		kept[g] = k < r.kept
		told = told && (d == 0 || d > near)
	}
	for k, id := range ids {
		g := int(id) / each
		if id < 0 || int(id) >= len(choice) || !kept[g] && (told || math.Abs(score[g]-last) > near) {
			return fmt.Errorf("choice %d is expert %d of a group that is not kept", k, id)
		}
	}
	if !told { // of groups at the edge, those that were chosen from are kept
		for g := range kept {
			if math.Abs(score[g]-last) <= near {
				kept[g] = slices.ContainsFunc(ids, func(id int32) bool { return int(id)/each == g })
			}
		}
	}
	for i := range choice {
		if !kept[i/each] {
			choice[i] = math.Inf(-1)
		}
	}
	return nil
}
