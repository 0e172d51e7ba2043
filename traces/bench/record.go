package bench

import (
	"math"
	"strings"
)

// record is one result as its file spells it, before anything is derived. The
// readers fill it by the field names of the JSON files (take); the text
// readers translate their labels to the same names.
type record struct {
	Result
	prompts      *int64   // requests asked for
	retokenized  *int64   // output tokens by the client's tokenizer
	requestRate  *float64 // completed requests per second
	peakRequests *float64 // most requests in flight in a one-second bucket
	peakTokPerS  *float64 // most tokens in a one-second bucket
	rangeRatio   *float64 // shortest over longest random length
	nominalIn    *float64 // random length asked for
	nominalOut   *float64
	detail       detail
	cut          string // why the end is missing
	zeroTTFT     bool
	seconds      bool // latency keys without _ms are seconds, not milliseconds
}

// latency reads a field such as mean_ttft_ms or p99_tpot; false if key is no
// latency field.
func (r *record) latency(key string, v value) bool {
	stat, rest, ok := strings.Cut(key, "_")
	if !ok {
		return false
	}
	factor := 1.0
	name, ms := strings.CutSuffix(rest, "_ms")
	if !ms && r.seconds {
		factor = 1000
	}
	summary := r.metric(name)
	if summary == nil {
		return false
	}
	slot := summary.slot(stat)
	if slot == nil {
		return false
	}
	if x, ok := v.number(); ok && usable(x*factor) {
		x *= factor
		*slot = &x
	}
	return true
}

// metric is the summary a metric's name in a field stands for.
func (r *record) metric(name string) *Summary {
	switch name {
	case "e2e_latency", "e2el":
		return &r.E2E
	case "ttft":
		return &r.TTFT
	case "tpot":
		return &r.TPOT
	case "itl":
		return &r.ITL
	}
	return nil
}

// slot is the place of a statistic, nil for those that are not kept.
func (s *Summary) slot(stat string) **float64 {
	switch stat {
	case "mean":
		return &s.Mean
	case "median", "p50":
		return &s.Median
	case "p90":
		return &s.P90
	case "p95":
		return &s.P95
	case "p99":
		return &s.P99
	case "std":
		return &s.Std
	}
	return nil
}

// take reads one top-level field. Unknown fields are nothing to report: tools
// add some with every release.
func (r *record) take(key string, v value) {
	if r.latency(key, v) {
		return
	}
	switch key {
	case "max_concurrency", "conc":
		if key == "conc" {
			r.Tool = "inferencex" // the aggregate, whichever client it is made of
		}
		if n := integer(v); n != nil && *n > 0 {
			r.MaxConcurrency = n
		}
	case "concurrency":
		r.Concurrency = positive(v)
	case "completed":
		r.Completed = integer(v)
	case "failed":
		r.Failed = integer(v)
	case "num_prompts":
		r.prompts = count(v)
	case "total_input_tokens", "total_input":
		r.InputTokens = count(v)
	case "total_output_tokens", "total_output":
		r.OutputTokens = count(v)
	case "total_output_tokens_retokenized", "total_output_retokenized":
		r.retokenized = count(v)
	case "output_throughput", "output_token_throughput":
		r.OutputTokPerS = positive(v)
	case "request_throughput":
		r.requestRate = positive(v)
	case "max_output_tokens_per_s":
		r.peakTokPerS = positive(v)
	case "max_concurrent_requests":
		r.peakRequests = positive(v)
	case "accept_length", "spec_decode_acceptance_length":
		r.AcceptanceLength = positive(v)
	case "model_id", "model":
		r.Model = modelName(v)
	default:
		r.setting(key, v)
	}
}

// figures says whether the record holds any number worth keeping.
func (r *record) figures() bool {
	return r.OutputTokPerS != nil || !r.TPOT.Empty() || !r.ITL.Empty() || !r.TTFT.Empty() || !r.E2E.Empty()
}

// usable says whether x can be a duration in ms, a rate or a count: 0, or a
// number so far from the ends of float64 that sums and ratios stay finite.
func usable(x float64) bool { return x == 0 || x >= 1e-12 && x <= 1e15 }

// positive is a number above 0, else nil: these fields use 0 and -1 for "not
// known".
func positive(v value) *float64 {
	if x, ok := v.number(); ok && usable(x) && x > 0 {
		return &x
	}
	return nil
}

// count is a whole number from 0 to 2^53, also written "68.00".
func count(v value) *int64 {
	x, ok := v.number()
	if !ok || !usable(x) || x != math.Trunc(x) || x > 1<<53 {
		return nil
	}
	n := int64(x)
	return &n
}

// integer is a count that fits what people ask of a server.
func integer(v value) *int {
	n := count(v)
	if n == nil || *n > 1<<31-1 {
		return nil
	}
	i := int(*n)
	return &i
}
