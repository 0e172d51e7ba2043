package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"decodegap/reports"
	"decodegap/traces/bench"
)

// FromBench is an imported result in the form of the documents.
func FromBench(path string, r bench.Result) reports.BenchResult {
	out := reports.BenchResult{
		Path: path, Tool: r.Tool, Model: r.Model,
		Concurrency: r.Concurrency, MaxConcurrency: r.MaxConcurrency,
		InputTokens: r.InputTokens, OutputTokens: r.OutputTokens,
		RequestInput: r.RequestInput, RequestOutput: r.RequestOutput,
		Completed: r.Completed, Failed: r.Failed,
		TPOT: reports.Summary(r.TPOT), ITL: reports.Summary(r.ITL), TTFT: reports.Summary(r.TTFT), E2E: reports.Summary(r.E2E),
		OutputTokPerS: r.OutputTokPerS, TokensPerChunk: r.TokensPerChunk, AcceptanceLength: r.AcceptanceLength,
		Derived: r.Derived, Facts: r.Facts, Warnings: []reports.Warning{},
	}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, reports.Warning(w))
	}
	return out
}

// unsound are the warnings of a result that speak against comparing it.
var unsound = []string{"incomplete-requests", "retokenized-mismatch", "ttft-zero"}

// SeriesOf makes one series of a file's results. Facts that vary within the
// file say so. The doubts are what speaks against comparing the series at all.
func SeriesOf(name, source string, results []bench.Result) (s reports.Series, doubts []string) {
	s = reports.Series{Name: name, Source: source, Points: []reports.SeriesPoint{}}
	nowhere, varied := 0, map[string]bool{}
	for i, r := range results {
		if i == 0 {
			s.Tool = r.Tool
		} else if r.Tool != s.Tool {
			s.Tool = "mixed"
		}
		merge(&s, i == 0, r, varied)
		for _, code := range unsound {
			if r.Warned(code) {
				doubts = append(doubts, fmt.Sprintf("%s%s: %s", name, at(r), code))
			}
		}
		p := reports.SeriesPoint{
			Achieved: r.Concurrency, OutputTokPerS: r.OutputTokPerS, TPOT: reports.Summary(r.TPOT),
			InputTokens: r.RequestInput, OutputTokens: r.RequestOutput, Requests: r.Completed,
		}
		switch {
		case r.MaxConcurrency != nil:
			p.Concurrency = float64(*r.MaxConcurrency)
		case r.Concurrency != nil:
			p.Concurrency = *r.Concurrency
		default:
			nowhere++
			continue
		}
		s.Points = append(s.Points, p)
	}
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(varied)) {
		if !strings.HasPrefix(k, "bench.") || k == "bench.model" || k == "bench.backend" || k == "bench.dataset" {
			keys = append(keys, k)
		}
	}
	if len(keys) > 0 {
		doubts = append(doubts, fmt.Sprintf("%s: not one set-up; within the file %s vary", name, list(keys)))
	}
	if nowhere > 0 {
		doubts = append(doubts, fmt.Sprintf("%s: %d results without any concurrency are left out", name, nowhere))
	}
	return s, doubts
}

// merge adds a result's facts to the series'. A fact that one result lacks or
// states differently varies.
func merge(s *reports.Series, first bool, r bench.Result, varied map[string]bool) {
	facts := map[string]string{}
	for k, v := range r.Facts {
		facts[k] = v
	}
	if r.Model != "" {
		facts["bench.model"] = r.Model
	}
	if first {
		s.Facts = facts
		return
	}
	for k, v := range facts {
		was, ok := s.Facts[k]
		switch {
		case varied[k]:
		case !ok, was != v:
			varied[k] = true
			s.Facts[k] = "varies"
		}
	}
	for k := range s.Facts {
		if _, ok := facts[k]; !ok && !varied[k] {
			varied[k] = true
			s.Facts[k] = "varies"
		}
	}
}

// at names a result's point in a doubt.
func at(r bench.Result) string {
	if r.MaxConcurrency == nil {
		return ""
	}
	return fmt.Sprintf(" at concurrency %d", *r.MaxConcurrency)
}

// AddFact sets a fact the user knows, "SERIES:key=value", on the series it
// names. Errors say what was expected.
func AddFact(series []reports.Series, text string) error {
	for i := range series {
		rest, ok := strings.CutPrefix(text, series[i].Name+":")
		if !ok {
			continue
		}
		key, value, ok := strings.Cut(rest, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || key == "" || value == "" {
			break
		}
		if series[i].Facts == nil {
			series[i].Facts = map[string]string{}
		}
		series[i].Facts[key] = value
		return nil
	}
	return fmt.Errorf("fact %q: expected SERIES:key=value, such as %s:host.kernel=6.14.11; the series are %s",
		text, series[0].Name, list(names(series)))
}
