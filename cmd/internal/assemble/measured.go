package assemble

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/unit"
	"decodegap/traces/bench"
)

// Given is a time per output token the user states.
func Given(t unit.Seconds, text string) *reports.Measured {
	ms := t.Millis()
	return &reports.Measured{ValueMs: ms, Statistic: "given", TokPerS: 1000 / ms, Source: "--measured " + text + ", of one sequence"}
}

// FromBench is the measurement of one benchmark result; nil if it has no TPOT.
func FromBench(path string, r bench.Result) *reports.Measured {
	if r.Completed != nil && *r.Completed == 0 {
		return nil
	}
	ms, statistic := r.TPOT.Central()
	if ms == nil || !(*ms > 0) || math.IsInf(*ms, 0) {
		return nil
	}
	m := &reports.Measured{
		TPOT: reports.Summary(r.TPOT), ValueMs: *ms, Statistic: statistic, Requests: r.Completed, TokPerS: 1000 / *ms,
		Source: fmt.Sprintf("%s (%s)", path, r.Tool),
	}
	for _, d := range r.Derived {
		if d == "tpot_ms."+statistic {
			m.Derived = true
			m.Source += ", derived from E2E and TTFT"
		}
	}
	return m
}

// At is the operating point of a benchmark result. The batch is the achieved
// concurrency, the context the mean over the decode of a request: input plus
// half of output; a length the file does not state stays as in base, and is
// noted. Without a concurrency there is no point to compare with, and the
// error is ErrNoConcurrency.
func At(base roofline.Workload, r bench.Result, fixedBatch, fixedContext bool) (roofline.Workload, []reports.Warning, error) {
	w := base
	var notes []reports.Warning
	switch {
	case fixedBatch:
	case r.Concurrency != nil && *r.Concurrency >= 0.5:
		w.Batch = int(math.Round(*r.Concurrency))
		if r.MaxConcurrency != nil && w.Batch != *r.MaxConcurrency {
			notes = append(notes, reports.Warning{Code: "achieved-concurrency", Text: fmt.Sprintf(
				"concurrency %d was asked for, %.2f achieved: the floor is for batch %d", *r.MaxConcurrency, *r.Concurrency, w.Batch)})
		}
	case r.MaxConcurrency != nil:
		w.Batch = *r.MaxConcurrency
		if w.Batch > 1 {
			notes = append(notes, reports.Warning{Code: "achieved-concurrency-unknown", Text: fmt.Sprintf(
				"the file does not state the achieved concurrency: the floor is for batch %d, the most there can have been", w.Batch)})
		}
	default:
		return w, notes, ErrNoConcurrency
	}
	if w.Batch > maxConcurrency {
		return w, notes, fmt.Errorf("concurrency %d is above the limit of %d", w.Batch, maxConcurrency)
	}
	if !fixedContext {
		if tokens, ok := nominal(r); r.RequestInput == nil && ok {
			w.Context = tokens
			notes = append(notes, reports.Warning{Code: "context-nominal", Text: fmt.Sprintf(
				"the floor is for context %d from the lengths asked for; the file does not state the real ones%s", tokens, half(r))})
		} else if r.RequestInput == nil {
			notes = append(notes, reports.Warning{Code: "context-unknown", Text: fmt.Sprintf(
				"the file states no lengths: the floor is for context %d; give --context", w.Context)})
		} else {
			tokens := *r.RequestInput
			if r.RequestOutput != nil {
				tokens += *r.RequestOutput / 2
			}
			w.Context = int(math.Round(tokens))
		}
	}
	notes = append(notes, speculate(&w, r)...)
	return w, notes, nil
}

// ErrNoConcurrency is the error for a result that does not say how many
// sequences decoded at once.
var ErrNoConcurrency = errors.New("the file states no concurrency, so no floor belongs to it; give --batch")

// maxConcurrency bounds what a file may state.
const maxConcurrency = 1 << 20

// speculate fits the workload to a server that emitted more than one token a
// step: at least so many drafts were verified as were accepted, which keeps
// the floor a floor whatever the real number was.
func speculate(w *roofline.Workload, r bench.Result) []reports.Warning {
	if r.AcceptanceLength == nil || !(*r.AcceptanceLength > 1) {
		return nil
	}
	length := *r.AcceptanceLength
	if w.DraftTokens == 0 {
		w.DraftTokens, w.AcceptedTokens = int(math.Ceil(length-1)), length
		return []reports.Warning{{Code: "speculation", Text: fmt.Sprintf(
			"the server emitted %.2f tokens a step by speculation: the floor verifies %d drafts a step, the fewest that allow it; give --draft-tokens", length, w.DraftTokens)}}
	}
	if w.AcceptedTokens == 1 && length <= float64(w.DraftTokens+1) {
		w.AcceptedTokens = length
	}
	return nil
}

// nominal is the context from the lengths a benchmark was asked for: input
// plus half of output.
func nominal(r bench.Result) (int, bool) {
	in, err := strconv.Atoi(r.Facts["bench.input_len"])
	if err != nil || in < 0 {
		return 0, false
	}
	out, err := strconv.Atoi(r.Facts["bench.output_len"])
	if err != nil || out < 0 {
		out = 0
	}
	return in + out/2, true
}

// half says where the real lengths may be about half of those asked for.
func half(r bench.Result) string {
	if ratio, err := strconv.ParseFloat(r.Facts["bench.range_ratio"], 64); err == nil && ratio == 1 {
		return ""
	}
	return ", which are about half unless --random-range-ratio was 1"
}
