package main

import (
	"slices"

	"decodegap/reports"
)

// addWarnings appends warnings that are not there yet.
func addWarnings(have []reports.Warning, more ...reports.Warning) []reports.Warning {
	for _, m := range more {
		if !slices.Contains(have, m) {
			have = append(have, m)
		}
	}
	return have
}

// weighty are the warnings that can turn a conclusion around, first those that
// question the whole record; all others follow in the order they arose.
var weighty = []string{
	"below-floor", "params-differ", "does-not-fit", "assumed-format", "context-beyond-model",
	"series-not-comparable", "launch-of-series", "checkpoint-differs", "tp-differs", "engine-differs",
	"assumption-differs", "series-agree", "speculation", "prefill-bound", "overload", "latency-floor-absent", "compute-unknown",
}

// sortWarnings puts the weighty ones first.
func sortWarnings(w []reports.Warning) {
	rank := func(x reports.Warning) int {
		if i := slices.Index(weighty, x.Code); i >= 0 {
			return i
		}
		return len(weighty)
	}
	slices.SortStableFunc(w, func(a, b reports.Warning) int { return rank(a) - rank(b) })
}
