package bench

import "fmt"

// finish derives what the fields allow, drops what they forbid, and adds the
// warnings. The record must not be used after it.
func (r *record) finish() Result {
	r.detail.apply(r)
	r.means()
	r.refuseZeroTTFT()
	r.dropZeros()
	missing := r.deriveTPOT()
	r.deriveConcurrency()
	if r.ITL.Mean != nil && r.TPOT.Mean != nil {
		// Well below 1 the pooled mean and the mean of requests disagree for
		// other reasons (overload), and the ratio says nothing about chunks.
		if ratio := *r.ITL.Mean / *r.TPOT.Mean; ratio >= 0.9 {
			r.TokensPerChunk = &ratio
		}
	}
	if missing != "" {
		r.warn("tpot-missing", missing)
	}
	for _, t := range traps {
		if text := t.check(r); text != "" {
			r.warn(t.code, text)
		}
	}
	if r.Derived == nil {
		r.Derived = []string{}
	}
	if r.Warnings == nil {
		r.Warnings = []Warning{}
	}
	return r.Result
}

func (r *record) warn(code, text string) {
	r.Warnings = append(r.Warnings, Warning{code, text})
}

// means are the lengths of a request: totals over completed requests, because
// the lengths asked for are only upper limits in most tools.
func (r *record) means() {
	if r.Completed == nil || *r.Completed == 0 {
		return
	}
	n := float64(*r.Completed)
	if r.InputTokens != nil {
		x := float64(*r.InputTokens) / n
		r.RequestInput = &x
		r.derived("request_input_tokens")
	}
	if r.OutputTokens != nil && *r.OutputTokens > 0 {
		x := float64(*r.OutputTokens) / n
		r.RequestOutput = &x
		r.derived("request_output_tokens")
	}
}

// refuseZeroTTFT drops TPOT where the client saw no first token: its TPOT is
// then E2E / (n − 1), with the prefill in it.
func (r *record) refuseZeroTTFT() {
	zero := func(x *float64) bool { return x != nil && *x == 0 }
	some := func(x *float64) bool { return x != nil && *x > 0 }
	if zero(r.TTFT.Mean) || zero(r.TTFT.Median) {
		r.zeroTTFT = r.zeroTTFT || some(r.E2E.Mean) || some(r.E2E.Median) || some(r.TPOT.Mean) || some(r.TPOT.Median)
		r.TTFT = Summary{}
	}
	if r.zeroTTFT {
		r.TPOT, r.TTFT = Summary{}, Summary{}
		r.warn("ttft-zero", "TTFT is 0 although requests took time: the client did not see the first token, so a TPOT from this run would hold the prefill and is refused; run again with streaming on")
	}
}

// dropZeros removes the zeros that stand for "no samples". A median ITL of 0
// beside a mean above 0 is a real figure: chunks that were read together.
func (r *record) dropZeros() {
	for _, s := range []*Summary{&r.E2E, &r.TPOT, &r.ITL} {
		mean, median := s.Mean, s.Median
		if mean != nil && *mean == 0 || mean == nil && median != nil && *median == 0 {
			*s = Summary{}
		}
	}
}

// deriveTPOT takes the mean TPOT from mean latencies where the file has none,
// and says what was missing.
func (r *record) deriveTPOT() string {
	if r.TPOT.Mean != nil || r.TPOT.Median != nil || r.zeroTTFT || !r.figures() {
		return ""
	}
	n, e2e, ttft := r.RequestOutput, r.E2E.Mean, r.TTFT.Mean
	switch {
	case n == nil || e2e == nil || ttft == nil || *ttft <= 0 || *e2e <= *ttft || *n <= 1:
		return "the file states no TPOT, and it cannot be derived: that takes mean E2E, mean TTFT, and the output tokens and number of completed requests"
	case r.retokenizedRatio() != nil:
		return "the file states no TPOT, and it is not derived because the number of output tokens is in doubt"
	}
	x := (*e2e - *ttft) / (*n - 1)
	r.TPOT.Mean = &x
	r.derived("tpot_ms.mean")
	text := fmt.Sprintf("the file states no TPOT; its mean %.2f ms is derived: (mean E2E %.2f ms − mean TTFT %.2f ms) / (%.1f output tokens − 1)", x, *e2e, *ttft, *n)
	if !r.fixedOutput() {
		text += ", which is exact only if all outputs had the same length, and the file does not say so"
	}
	return text
}

// fixedOutput says whether the file shows that all outputs had one length.
func (r *record) fixedOutput() bool {
	return r.rangeRatio != nil && *r.rangeRatio == 1 &&
		r.nominalOut != nil && r.RequestOutput != nil && *r.nominalOut == *r.RequestOutput
}

// deriveConcurrency uses Little's law where the tool gives no achieved
// concurrency: mean E2E × completed requests per second.
func (r *record) deriveConcurrency() {
	if r.Concurrency == nil && r.E2E.Mean != nil && r.requestRate != nil {
		x := *r.E2E.Mean / 1000 * *r.requestRate
		r.Concurrency = &x
		r.derived("concurrency")
	}
}

// retokenizedRatio is the client's count of output tokens over the server's,
// if the two disagree by more than a tenth; nil otherwise.
func (r *record) retokenizedRatio() *float64 {
	if r.retokenized == nil || r.OutputTokens == nil || *r.OutputTokens == 0 {
		return nil
	}
	ratio := float64(*r.retokenized) / float64(*r.OutputTokens)
	if ratio >= 0.9 && ratio <= 1.1 {
		return nil
	}
	return &ratio
}
