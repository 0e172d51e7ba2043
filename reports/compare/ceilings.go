package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"decodegap/probes"
	"decodegap/reports"
)

// Ceilings sets two runs of probes side by side, case by case: by the share of
// the read ceiling measured beside each, and by time where bytes mean nothing.
// The margin is DefaultMargin of package probes, or the noise floor of either
// run where that is wider. Runs on machines that differ are not comparable,
// and the rows stand all the same.
func Ceilings(a, b *reports.CeilingsDocument, o Options) *reports.Comparison {
	c := &reports.Comparison{Reasons: machines(a, b, o.Vary), Rows: []reports.CompareRow{}, Crossovers: []reports.Crossover{}}
	c.Comparable = len(c.Reasons) == 0
	margin := probes.DefaultMargin
	for _, d := range []*reports.CeilingsDocument{a, b} {
		if d.NoiseFloor != nil {
			margin = max(margin, *d.NoiseFloor)
		}
	}
	type key struct{ probe, name string }
	old := map[key]reports.ProbeResult{}
	for _, r := range a.Results {
		old[key{r.Probe, r.Case}] = r
	}
	for _, r := range b.Results {
		k := key{r.Probe, r.Case}
		before, ok := old[k]
		delete(old, k)
		if !ok {
			c.Probes = append(c.Probes, alone(r, "only in the second"))
			continue
		}
		c.Probes = append(c.Probes, probeChange(before, r, margin))
	}
	for _, r := range a.Results {
		if _, left := old[key{r.Probe, r.Case}]; left {
			c.Probes = append(c.Probes, alone(r, "only in the first"))
		}
	}
	return c
}

// machines is what keeps two runs of probes from being comparable.
func machines(a, b *reports.CeilingsDocument, vary []string) []string {
	var reasons []string
	if a.Device != b.Device {
		reasons = append(reasons, fmt.Sprintf("device: %s and %s", reports.OneLine(a.Device, 40), reports.OneLine(b.Device, 40)))
	}
	facts := map[string]bool{}
	for _, d := range []*reports.CeilingsDocument{a, b} {
		for k := range maps.Keys(d.Fingerprint.Facts) {
			facts[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(facts)) {
		x, y := a.Fingerprint.Facts[k], b.Fingerprint.Facts[k]
		if x != y && !slices.ContainsFunc(vary, func(v string) bool { return varies(v, k) }) && len(reasons) < maxReasons {
			reasons = append(reasons, fmt.Sprintf("%s: %s and %s", reports.OneLine(k, 60), stated(x), stated(y)))
		}
	}
	return reasons
}

// varies says whether a fact is one that was said to differ.
func varies(pattern, fact string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(fact, prefix)
	}
	return pattern == fact
}

func stated(s string) string {
	if s == "" {
		return "not stated"
	}
	return reports.OneLine(s, 120)
}

func alone(r reports.ProbeResult, why string) reports.ProbeChange {
	return reports.ProbeChange{Probe: r.Probe, Case: r.Case, Verdict: "not_comparable", Why: why}
}

// probeChange compares one case.
func probeChange(a, b reports.ProbeResult, margin float64) reports.ProbeChange {
	for _, r := range []struct {
		side string
		of   reports.ProbeResult
	}{{"first", a}, {"second", b}} {
		if r.of.TimeS == nil {
			return alone(b, fmt.Sprintf("%s in the %s: %s", r.of.Outcome, r.side, reports.OneLine(r.of.Reason, 300)))
		}
	}
	out := reports.ProbeChange{Probe: b.Probe, Case: b.Case, Of: "time_s", Margin: &margin}
	before, after := speeds(a.TimeS.Values), speeds(b.TimeS.Values)
	if a.ReadShare != nil && b.ReadShare != nil {
		out.Of, before, after = "read_share", a.ReadShare.Values, b.ReadShare.Values
	}
	r := probes.Compare(before, after, margin)
	out.Ratio, out.Lo, out.Hi, out.Verdict = &r.Value, &r.Lo, &r.Hi, string(r.Change)
	var why []string
	if r.Change == probes.Ambiguous {
		why = append(why, fmt.Sprintf("the interval reaches across the margin of ±%.1f %%", 100*margin))
	}
	for _, side := range []struct {
		name string
		of   reports.ProbeResult
	}{{"first", a}, {"second", b}} {
		if side.of.Verdict == string(probes.Unreliable) {
			out.Verdict = string(probes.Ambiguous)
			why = append(why, "the "+side.name+" is unreliable: "+reports.OneLine(strings.Join(side.of.Doubts, "; "), 300))
		}
	}
	if a.Kernel != b.Kernel {
		why = append(why, fmt.Sprintf("kernel: %s and %s", stated(a.Kernel), stated(b.Kernel)))
	}
	out.Why = strings.Join(why, "; ")
	return out
}

// speeds are the reciprocals of times: more is faster.
func speeds(seconds []float64) []float64 {
	out := make([]float64, len(seconds))
	for i, s := range seconds {
		out[i] = 1 / s
	}
	return out
}
