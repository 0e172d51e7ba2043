package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Fit is the step time as fixed + a·batch + b·kilotokens, where kilotokens is
// the context of all sequences of the batch together. The fixed part is what a
// step costs whatever it carries: launches, host work, latencies.
type Fit struct {
	FixedMs        float64
	PerSequenceMs  float64
	PerKilotokenMs *float64 // nil: contexts are unknown or did not vary by themselves
	Points         int
	ResidualMs     float64 // standard deviation about the fit
	Statistic      string  // of TPOT: median, mean
}

const (
	minSpread   = 2.0  // largest batch / smallest batch
	minOwnShare = 0.02 // of the variance of kilotokens that batch does not explain
)

// FitSteps fits the results' TPOT by least squares. It returns nil where the
// points do not allow it: fewer than three that are decode alone, batches that
// hardly vary, or results of different set-ups; a warning says why where a fit
// could have been expected.
func FitSteps(results []Result) (*Fit, []Warning) {
	use := decodeAlone(results)
	points, statistic := fitPoints(use)
	if len(points) < 3 {
		return nil, nil
	}
	if keys := setups(use); len(keys) > 1 {
		if largest := slices.Max(slices.Collect(maps.Values(keys))); largest < 3 {
			return nil, nil
		}
		return nil, []Warning{{"fit-mixed", fmt.Sprintf("no step-time fit: the results are of %d different set-ups", len(keys))}}
	}
	low, high, batches := math.Inf(1), 0.0, map[float64]bool{}
	contexts := true
	for _, p := range points {
		low, high = min(low, p.batch), max(high, p.batch)
		batches[p.batch] = true
		contexts = contexts && p.kilotokens != nil
	}
	if high < minSpread*low || len(batches) < 2 {
		return nil, nil
	}
	if contexts && len(points) >= 4 {
		if fit := solve(points, true); fit != nil {
			fit.Statistic = statistic
			return fit, nil
		}
	}
	if len(batches) < 3 {
		return nil, nil
	}
	fit := solve(points, false)
	if fit == nil {
		return nil, []Warning{{"fit-not-linear", "no step-time fit: the times do not grow with the batch from a cost above 0"}}
	}
	fit.Statistic = statistic
	return fit, nil
}

type fitPoint struct {
	ms, batch  float64
	kilotokens *float64
}

// decodeAlone are the results whose TPOT is a step's time and nothing else.
func decodeAlone(results []Result) []*Result {
	var use []*Result
	for i := range results {
		r := &results[i]
		ms, _ := r.TPOT.Central()
		if ms == nil || r.batch() == 0 || r.AcceptanceLength != nil && *r.AcceptanceLength > 1 ||
			r.Warned("prefill-bound") || r.Warned("overload") || r.Warned("retokenized-mismatch") {
			continue
		}
		use = append(use, r)
	}
	return use
}

// fitPoints are the results as points, by the statistic that all of them
// state; none if there is no such statistic.
func fitPoints(use []*Result) ([]fitPoint, string) {
	median, mean := true, true
	for _, r := range use {
		median, mean = median && r.TPOT.Median != nil, mean && r.TPOT.Mean != nil
	}
	if !median && !mean {
		return nil, ""
	}
	var out []fitPoint
	for _, r := range use {
		p := fitPoint{batch: r.batch()}
		if median {
			p.ms = *r.TPOT.Median
		} else {
			p.ms = *r.TPOT.Mean
		}
		if r.RequestInput != nil && r.RequestOutput != nil {
			k := p.batch * (*r.RequestInput + *r.RequestOutput/2) / 1000
			p.kilotokens = &k
		}
		out = append(out, p)
	}
	if median {
		return out, "median"
	}
	return out, "mean"
}

// batch is the achieved concurrency, else the cap, else 0.
func (r *Result) batch() float64 {
	if r.Concurrency != nil {
		return *r.Concurrency
	}
	if r.MaxConcurrency != nil {
		return float64(*r.MaxConcurrency)
	}
	return 0
}

// setups counts the results of each set-up: tool, model and every setting that
// is not the load itself.
func setups(results []*Result) map[string]int {
	keys := map[string]int{}
	for _, r := range results {
		parts := []string{r.Tool, r.Model}
		for _, k := range slices.Sorted(maps.Keys(r.Facts)) {
			switch k {
			case "bench.date", "bench.tag", "bench.input_len", "bench.output_len", "bench.range_ratio",
				"bench.request_rate", "bench.total_tok_s_per_gpu", "bench.output_tok_s_per_gpu":
			default:
				parts = append(parts, k+"="+r.Facts[k])
			}
		}
		keys[strings.Join(parts, "\x00")]++
	}
	return keys
}

// solve is ordinary least squares by making the columns orthogonal in turn; nil
// if kilotokens cannot be told from batch or a cost comes out negative.
func solve(points []fitPoint, withContext bool) *Fit {
	n := float64(len(points))
	var mt, mb, mk float64
	for _, p := range points {
		mt, mb = mt+p.ms/n, mb+p.batch/n
		if withContext {
			mk += *p.kilotokens / n
		}
	}
	var bb, kb, kk, tb float64
	for _, p := range points {
		b := p.batch - mb
		bb, tb = bb+b*b, tb+b*(p.ms-mt)
		if withContext {
			k := *p.kilotokens - mk
			kb, kk = kb+k*b, kk+k*k
		}
	}
	fit := &Fit{Points: len(points)}
	perKilotoken, unknowns := 0.0, 2.0
	if withContext {
		own, tOwn := 0.0, 0.0
		for _, p := range points {
			k := *p.kilotokens - mk - kb/bb*(p.batch-mb)
			own, tOwn = own+k*k, tOwn+k*(p.ms-mt)
		}
		if kk == 0 || own < minOwnShare*kk {
			return nil
		}
		perKilotoken, unknowns = tOwn/own, 3
		fit.PerKilotokenMs = &perKilotoken
	}
	fit.PerSequenceMs = (tb - perKilotoken*kb) / bb
	fit.FixedMs = mt - fit.PerSequenceMs*mb - perKilotoken*mk
	var squares float64
	for _, p := range points {
		e := p.ms - fit.FixedMs - fit.PerSequenceMs*p.batch
		if withContext {
			e -= perKilotoken * *p.kilotokens
		}
		squares += e * e
	}
	if n > unknowns {
		fit.ResidualMs = math.Sqrt(squares / (n - unknowns))
	}
	if fit.FixedMs < 0 || fit.PerSequenceMs < 0 || perKilotoken < 0 {
		return nil
	}
	return fit
}
