package bench

import (
	"fmt"
	"math"
)

// Limits of the traps; benchmark.md in docs/extend names their sources.
const (
	perChunk      = 1.2  // mean ITL / mean TPOT above it: chunks of several tokens
	coalesced     = 0.5  // median ITL / mean ITL below it: chunks read together
	overloaded    = 1.5  // mean TPOT / median TPOT above it
	prefillShare  = 0.4  // TTFT / E2E above it
	stallRatio    = 3.0  // P99 ITL / median ITL above it
	rateTolerance = 0.01 // of output tok/s against 1000/TPOT at one stream
	peakRatio     = 1.5  // peak / mean throughput above it
)

// trap is one way in which a benchmark file misleads. check returns the text
// of the warning, or nothing.
type trap struct {
	code, doc string
	check     func(*record) string
}

// traps are asked in this order once everything has been derived. tpot-missing
// and ttft-zero come from the derivation itself.
var traps = []trap{
	{"truncated", "the file ends inside the result", cutOff},
	{"incomplete-requests", "requests failed or are missing", incomplete},
	{"retokenized-mismatch", "client and server count different output tokens", retokenizedMismatch},
	{"itl-per-chunk", "ITL is per streamed chunk of several tokens", itlPerChunk},
	{"itl-coalesced", "most chunks were read together, so median ITL means nothing", itlCoalesced},
	{"speculation", "each step emits more than one token", speculation},
	{"prefill-bound", "prefill takes much of the time", prefillBound},
	{"overload", "a few requests wait long", overload},
	{"throughput-includes-ttft", "tok/s at one stream is not 1000/TPOT", throughputIncludesTTFT},
	{"peak-bucketing", "peak requests above the cap come from one-second buckets", peakBucketing},
	{"peak-throughput", "peak tok/s is a one-second bucket, no rate", peakThroughput},
	{"random-lengths", "lengths were drawn from a range", randomLengths},
}

func cutOff(r *record) string {
	if r.cut == "" {
		return ""
	}
	return r.cut + "; only the complete fields before it are used"
}

func incomplete(r *record) string {
	switch {
	case r.Completed != nil && *r.Completed == 0:
		return "no request completed"
	case r.Completed != nil && r.prompts != nil && int64(*r.Completed) < *r.prompts:
		return fmt.Sprintf("%d of %d requests completed: the slow ones may be those that are missing", *r.Completed, *r.prompts)
	case r.Failed != nil && *r.Failed > 0:
		return fmt.Sprintf("%d requests failed: the slow ones may be those that are missing", *r.Failed)
	}
	return ""
}

func retokenizedMismatch(r *record) string {
	ratio := r.retokenizedRatio()
	if ratio == nil {
		return ""
	}
	return fmt.Sprintf("the client counts %d output tokens, the server %d (ratio %.3f): per-token figures are in doubt", *r.retokenized, *r.OutputTokens, *ratio)
}

func itlPerChunk(r *record) string {
	if r.TokensPerChunk == nil || *r.TokensPerChunk <= perChunk {
		return ""
	}
	return fmt.Sprintf("mean ITL %.1f ms is %.2f × mean TPOT %.1f ms: a streamed chunk carries about %.1f tokens, so ITL is per chunk; TPOT is the time per token",
		*r.ITL.Mean, *r.TokensPerChunk, *r.TPOT.Mean, *r.TokensPerChunk)
}

func itlCoalesced(r *record) string {
	m, mid := r.ITL.Mean, r.ITL.Median
	if m == nil || mid == nil || r.TPOT.Mean == nil || *mid >= coalesced**m {
		return ""
	}
	if ratio := *m / *r.TPOT.Mean; ratio > perChunk || ratio < 1/perChunk {
		return ""
	}
	return fmt.Sprintf("median ITL %.3g ms is far below its mean %.3g ms, which agrees with TPOT: chunks were read together, so the median is an artefact", *mid, *m)
}

func speculation(r *record) string {
	if r.AcceptanceLength == nil || *r.AcceptanceLength <= 1 {
		return ""
	}
	return fmt.Sprintf("speculation is on, %.2f tokens a step: TPOT is per emitted token, and a step takes %.2f times as long", *r.AcceptanceLength, *r.AcceptanceLength)
}

func prefillBound(r *record) string {
	if share, stat := r.ttftShare(); share > prefillShare {
		return fmt.Sprintf("%s TTFT is %.0f %% of the %s request time: prefill and queueing rule this run, and its TPOT holds prefill of other requests", stat, 100*share, stat)
	}
	mid, p99 := r.ITL.Median, r.ITL.P99
	if mid == nil || p99 == nil || *mid == 0 || *p99 <= stallRatio**mid || itlPerChunk(r) != "" || itlCoalesced(r) != "" {
		return ""
	}
	return fmt.Sprintf("P99 ITL %.1f ms is %.1f × the median %.1f ms: as where decode steps wait for the prefill of other requests; TPOT may not be decode alone", *p99, *p99 / *mid, *mid)
}

// ttftShare is TTFT / E2E, with E2E from TPOT and length where it is not
// stated; 0 if neither is known.
func (r *record) ttftShare() (share float64, stat string) {
	for _, s := range []struct {
		name            string
		ttft, e2e, tpot *float64
	}{
		{"median", r.TTFT.Median, r.E2E.Median, r.TPOT.Median},
		{"mean", r.TTFT.Mean, r.E2E.Mean, r.TPOT.Mean},
	} {
		switch {
		case s.ttft == nil:
		case s.e2e != nil && *s.e2e > 0:
			return *s.ttft / *s.e2e, s.name
		case s.tpot != nil && r.RequestOutput != nil && *r.RequestOutput > 1:
			decode := *s.tpot * (*r.RequestOutput - 1)
			return *s.ttft / (*s.ttft + decode), s.name
		}
	}
	return 0, ""
}

func overload(r *record) string {
	m, mid := r.TPOT.Mean, r.TPOT.Median
	if m == nil || mid == nil || *mid == 0 || *m <= overloaded**mid {
		return ""
	}
	return fmt.Sprintf("mean TPOT %.1f ms is %.1f × the median %.1f ms: some requests waited while others were served", *m, *m / *mid, *mid)
}

func throughputIncludesTTFT(r *record) string {
	single := r.MaxConcurrency != nil && *r.MaxConcurrency == 1 ||
		r.MaxConcurrency == nil && r.Concurrency != nil && *r.Concurrency <= 1.01
	if !single || r.OutputTokPerS == nil || r.TPOT.Mean == nil {
		return ""
	}
	rate := 1000 / *r.TPOT.Mean
	if math.Abs(*r.OutputTokPerS/rate-1) <= rateTolerance {
		return ""
	}
	return fmt.Sprintf("%.2f tok/s includes TTFT and the client's gaps; by TPOT decode runs at %.2f tok/s", *r.OutputTokPerS, rate)
}

func peakBucketing(r *record) string {
	if r.peakRequests == nil || r.MaxConcurrency == nil || *r.peakRequests <= float64(*r.MaxConcurrency) {
		return ""
	}
	return fmt.Sprintf("peak of %.0f concurrent requests above the cap of %d: requests that follow each other within one second are counted together", *r.peakRequests, *r.MaxConcurrency)
}

func peakThroughput(r *record) string {
	if r.peakTokPerS == nil || r.OutputTokPerS == nil || *r.peakTokPerS <= peakRatio**r.OutputTokPerS {
		return ""
	}
	return fmt.Sprintf("peak of %.0f tok/s is %.1f × the mean %.2f tok/s: it counts chunks in one second and is no rate to compare with", *r.peakTokPerS, *r.peakTokPerS / *r.OutputTokPerS, *r.OutputTokPerS)
}

// randomLengths applies to sglang's random prompts, whose lengths run from
// ratio × the length asked for up to that length; the default ratio is 0.
func randomLengths(r *record) string {
	if r.Facts["bench.dataset"] != "random" || r.nominalOut == nil || r.rangeRatio != nil && *r.rangeRatio == 1 {
		return ""
	}
	if r.RequestOutput != nil && *r.RequestOutput == *r.nominalOut {
		return ""
	}
	ratio := "random_range_ratio is not stated, and by default"
	if r.rangeRatio != nil {
		ratio = fmt.Sprintf("random_range_ratio is %g:", *r.rangeRatio)
	}
	text := fmt.Sprintf("%s output lengths are drawn from a range up to %.0f", ratio, *r.nominalOut)
	if r.RequestOutput != nil {
		return text + fmt.Sprintf("; the mean was %.1f", *r.RequestOutput)
	}
	return text + ", so the mean length is not known"
}
