package gate

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"decodegap/reports"
	"decodegap/reports/schema/schematest"
)

// The policy the table tests start from; its limits fit schematest.Run.
const common = `
floor: {kind: latency, basis: probed}
points: [{batch: 1}]
`

func TestVerdicts(t *testing.T) {
	slower := func(factor float64) func(*reports.Run) {
		return func(r *reports.Run) { retime(r, 95.14*factor) }
	}
	for _, c := range []struct {
		name    string
		policy  string
		run     func(*reports.Run)
		base    func(*reports.Run) // nil: no baseline
		verdict string
		why     string // in the reason of a rule with that verdict
	}{
		{name: "efficiency met", policy: common + "min_efficiency: 7%", verdict: Pass, why: "7.62 %, at least 7.00 %"},
		{name: "efficiency missed", policy: common + "min_efficiency: 8%", verdict: Fail, why: "7.62 % is below 8.00 %"},
		{name: "told apart", policy: common + "min_efficiency: 7.6204%", run: noInterval, verdict: Fail, why: "7.6203 % is below 7.6204 %"},
		{name: "efficiency within noise", policy: common + "min_efficiency: 7.65%", verdict: NotComparable, why: "inconclusive: 7.62 % is below 7.65 %"},
		{name: "point's own limit", policy: "floor: {kind: layout, basis: sheet}\nmin_efficiency: 50%\npoints: [{batch: 1, min_efficiency: 5%}]", verdict: Pass},
		{name: "strictest of two entries", policy: "floor: {kind: layout, basis: sheet}\npoints: [{batch: 1, min_efficiency: 50%}, {batch: 1, context: 576, min_efficiency: 5%}]", verdict: Fail},

		{name: "no limit at all", policy: common, verdict: NotComparable, why: "sets no limit"},
		{name: "every point, one unmeasured", policy: "floor: {kind: layout, basis: sheet}\nmin_efficiency: 1%", verdict: NotComparable, why: "not measured"},
		{name: "no points", policy: "floor: {kind: layout, basis: sheet}\nmin_efficiency: 1%", run: func(r *reports.Run) { r.Points = nil }, verdict: NotComparable, why: "no operating point"},
		{name: "missing batch", policy: "floor: {kind: layout, basis: sheet}\nmin_efficiency: 1%\npoints: [{batch: 1}, {batch: 32}]", verdict: NotComparable, why: "the run has no such point; it has batch 1, context 576; batch 64, context 0"},
		{name: "missing context", policy: "floor: {kind: layout, basis: sheet}\nmin_efficiency: 1%\npoints: [{batch: 1, context: 16k}]", verdict: NotComparable, why: "no such point"},
		{name: "missing label", policy: "floor: {kind: layout, basis: sheet}\nmin_efficiency: 1%\npoints: [{batch: 1, label: backend-b}]", verdict: NotComparable, why: "no such point"},
		{name: "not measured", policy: common + "min_efficiency: 1%", run: unmeasure, verdict: NotComparable, why: "not measured"},
		{name: "basis swapped", policy: "floor: {kind: ideal, basis: probed}\npoints: [{batch: 1}]\nmin_efficiency: 1%", verdict: NotComparable, why: "no ideal floor at probed ceilings; the run has ideal/sheet"},
		{name: "given is not sheet", policy: "floor: {kind: ideal, basis: given}\npoints: [{batch: 1}]\nmin_efficiency: 1%", verdict: NotComparable, why: "no ideal floor at the given ceilings"},
		{name: "faster than the floor", policy: common + "min_efficiency: 5%", run: func(r *reports.Run) { retime(r, 4); noInterval(r) }, verdict: NotComparable, why: "one of the two is wrong"},
		{name: "fail beats not comparable", policy: common + "min_efficiency: 50%\nmax_unattributed: 90%\nregression: {relative: 5%}", verdict: Fail, why: "below 50"},

		{name: "unattributed within", policy: common + "max_unattributed: 22%", verdict: Pass, why: "21.0 % of 95.14 ms unattributed"},
		{name: "unattributed above", policy: common + "max_unattributed: 20%", verdict: Fail, why: "above 20.0 %"},
		{name: "unattributed none allowed", policy: common + "max_unattributed: 0%", verdict: Fail},
		{name: "over-explained", policy: common + "max_unattributed: 20%", run: func(r *reports.Run) {
			rungs := r.Points[0].Ledger.Rungs
			rungs[2].Ms += 50
			rungs[3].Ms -= 50
		}, verdict: Fail, why: "31.5 %"},
		{name: "no ledger", policy: common + "max_unattributed: 90%", run: func(r *reports.Run) { r.Points[0].Ledger = nil }, verdict: NotComparable, why: "no ledger"},
		{name: "residual renamed", policy: common + "max_unattributed: 90%", run: func(r *reports.Run) {
			r.Points[0].Ledger.Rungs[3].Cause, r.Points[0].Ledger.Rungs[3].Evidence = "kernel", "trust me"
		}, verdict: NotComparable, why: "no ledger that says"},
		{name: "rung without evidence", policy: common + "max_unattributed: 50%", run: func(r *reports.Run) { r.Points[0].Ledger.Rungs[2].Evidence = "" }, verdict: Fail, why: "92.9 %"},

		{name: "evidence shown", policy: common + "require: [trace, bench, probes, interval, ledger, fingerprint]", verdict: Pass},
		{name: "no trace", policy: common + "require: [trace]", run: func(r *reports.Run) { r.Inputs = nil }, verdict: NotComparable, why: "the record holds no trace"},
		{name: "no probes", policy: common + "require: [probes]", run: func(r *reports.Run) { r.Hardware.Ceilings = r.Hardware.Ceilings[:1] }, verdict: NotComparable, why: "no ceiling of the record was probed"},
		{name: "no headers", policy: common + "require: [headers]", verdict: NotComparable, why: "counted from side-file"},
		{name: "no interval", policy: common + "require: [interval]", run: noInterval, verdict: NotComparable, why: "no interval of the measured time at batch 1"},
		{name: "no launch", policy: common + "require: [launch]", verdict: NotComparable},

		{name: "no baseline given", policy: common + "regression: {relative: 5%}", verdict: NotComparable, why: "no baseline was given"},
		{name: "baseline without limits", policy: common + "min_efficiency: 1%", base: same, verdict: NotComparable, why: "sets no limits"},
		{name: "same as baseline", policy: common + "regression: {relative: 5%, absolute: 0.5ms}", base: same, verdict: Pass, why: "±0 %"},
		{name: "faster", policy: common + "regression: {relative: 5%, absolute: 0.5ms}", run: slower(0.5), base: same, verdict: Pass, why: "−50.0 %"},
		{name: "slower", policy: common + "regression: {relative: 5%, absolute: 0.5ms}", run: slower(1.2), base: same, verdict: Fail, why: "+20.0 %"},
		{name: "slower, within relative", policy: common + "regression: {relative: 5%, absolute: 0.5ms}", run: slower(1.04), base: same, verdict: Pass},
		{name: "slower, within absolute", policy: common + "regression: {relative: 5%, absolute: 50ms}", run: slower(1.2), base: same, verdict: Pass},
		{name: "slower, only absolute", policy: common + "regression: {absolute: 1ms}", run: slower(1.02), base: same, verdict: Fail},
		{name: "lower end within", policy: common + "regression: {relative: 5%}", run: func(r *reports.Run) { slower(1.06)(r); interval(r, 0.98, 1.02) }, base: same, verdict: Pass, why: "within the measurement's noise"},
		{name: "too noisy to tell", policy: common + "regression: {relative: 5%}", run: func(r *reports.Run) { slower(2)(r); interval(r, 0.3, 1.7) }, base: same, verdict: NotComparable, why: "wider than the limit"},
		{name: "noisy but slower", policy: common + "regression: {relative: 5%}", run: func(r *reports.Run) { slower(2)(r); interval(r, 0.7, 1.7) }, base: same, verdict: Fail},

		{name: "other model", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Model.Name = "Another" }, verdict: NotComparable, why: "model Example-MoE-NVFP4, baseline Another"},
		{name: "other formats", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Model.Formats = "BF16" }, verdict: NotComparable, why: "weight formats"},
		{name: "other hardware", policy: common + "regression: {relative: 5%}", run: slower(2), base: func(r *reports.Run) { r.Hardware.Name = "H200 SXM" }, verdict: NotComparable, why: "hardware Example GPU 96 GB, baseline H200 SXM"},
		{name: "fewer GPUs", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Hardware.Count = 4 }, verdict: NotComparable, why: "GPUs 8, baseline 4"},
		{name: "other sharding", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Points[0].EP = 8 }, verdict: NotComparable, why: "ep 1, baseline 8"},
		{name: "other cache type", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Points[0].KVType = "fp8" }, verdict: NotComparable, why: "kv type bf16, baseline fp8"},
		{name: "other speculation", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Points[0].AcceptedTokens = 2.5 }, verdict: NotComparable, why: "accepted tokens 1, baseline 2.5"},
		{name: "other context", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Points[0].Context = 4096 }, verdict: NotComparable, why: "the baseline has no such point"},
		{name: "baseline lacks the floor", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { dropProbed(r) }, verdict: NotComparable, why: "the baseline has no latency floor at probed ceilings"},
		{name: "sheet floor differs", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { refloor(r, 0, 3.2) }, verdict: NotComparable, why: "ideal floor at the sheet 3.070 ms, baseline 3.200 ms"},
		{name: "probed floor differs", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { refloor(r, 4, 8) }, verdict: NotComparable, why: "latency floor at probed ceilings 7.250 ms, baseline 8.000 ms"},
		{name: "probed floor close", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { refloor(r, 4, 7.2) }, verdict: Pass},
		{name: "baseline not measured", policy: common + "regression: {relative: 5%}", base: unmeasure, verdict: NotComparable, why: "the baseline is not measured"},
		{name: "other statistic", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Points[0].Measured.Statistic = "median" }, verdict: NotComparable, why: "the mean, the baseline's the median"},
		{name: "single series under another name", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Points[0].Label = "last week" }, verdict: Pass},
		{name: "several series, none of the name", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) {
			r.Points = append(r.Points, r.Points[0])
			r.Points[0].Label, r.Points[2].Label = "x", "y"
		}, verdict: NotComparable, why: "several series"},

		{name: "kernel upgraded", policy: common + "regression: {relative: 5%}", run: slower(2), base: fact("host.kernel", "6.8.0"), verdict: NotComparable, why: "host.kernel 6.14.11, baseline 6.8.0"},
		{name: "kernel upgraded, ignored key", policy: common + "regression: {relative: 5%}\nfingerprint: {ignore: [host.kernel]}", base: fact("host.kernel", "6.8.0"), verdict: Pass},
		{name: "kernel upgraded, ignored family", policy: common + "regression: {relative: 5%}\nfingerprint: {ignore: [\"host.*\"]}", base: fact("host.kernel", "6.8.0"), verdict: Pass},
		{name: "kernel upgraded, other key ignored", policy: common + "regression: {relative: 5%}\nfingerprint: {ignore: [host.kerne]}", base: fact("host.kernel", "6.8.0"), verdict: NotComparable},
		{name: "kernel upgraded, warned", policy: common + "regression: {relative: 5%}\nfingerprint: warn", base: fact("host.kernel", "6.8.0"), verdict: Pass, why: "only warned of: host.kernel"},
		{name: "kernel upgraded, not looked at", policy: common + "regression: {relative: 5%}\nfingerprint: ignore", base: fact("host.kernel", "6.8.0"), verdict: Pass},
		{name: "warned and slower", policy: common + "regression: {relative: 5%}\nfingerprint: warn", run: slower(2), base: fact("host.kernel", "6.8.0"), verdict: Fail},
		{name: "fact only there", policy: common + "regression: {relative: 5%}", base: fact("env.NCCL_PROTO", "LL"), verdict: NotComparable, why: "env.NCCL_PROTO unknown, baseline LL"},
		{name: "fact only here", policy: common + "regression: {relative: 5%}", run: fact("env.NCCL_PROTO", "LL"), base: same, verdict: NotComparable, why: "env.NCCL_PROTO LL, baseline unknown"},
		{name: "tool changed", policy: common + "regression: {relative: 5%}", base: func(r *reports.Run) { r.Fingerprint.ToolVersion = "0.0.9" }, verdict: NotComparable, why: "tool_version"},
		{name: "no facts in the run", policy: common + "regression: {relative: 5%}", run: noFacts, base: same, verdict: NotComparable, why: "host.kernel unknown, baseline 6.14.11"},
		{name: "no facts in the baseline", policy: common + "regression: {relative: 5%}", base: noFacts, verdict: NotComparable, why: "host.kernel 6.14.11, baseline unknown"},
		{name: "no facts at all", policy: common + "regression: {relative: 5%}", run: noFacts, base: noFacts, verdict: Pass, why: "neither run records its environment"},
		{name: "no facts at all, insisted on", policy: common + "regression: {relative: 5%}\nrequire: [fingerprint]", run: noFacts, base: noFacts, verdict: NotComparable, why: "records nothing of its environment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy, err := ParsePolicy("policy.yaml", []byte(c.policy))
			if err != nil {
				t.Fatal(err)
			}
			run := schematest.Run()
			if c.run != nil {
				c.run(run)
			}
			var base *reports.Run
			if c.base != nil {
				base = schematest.Run()
				c.base(base)
			}
			doc, err := Evaluate(policy, run, base)
			if err != nil {
				t.Fatal(err)
			}
			if doc.Verdict != c.verdict {
				t.Errorf("verdict %s, want %s", doc.Verdict, c.verdict)
			}
			found := c.why == ""
			for _, r := range doc.Rules {
				found = found || r.Verdict == c.verdict && strings.Contains(r.Why, c.why)
			}
			if !found {
				t.Errorf("no rule with verdict %s says %q", c.verdict, c.why)
			}
			if t.Failed() {
				var b bytes.Buffer
				if err := WriteText(&b, doc); err != nil {
					t.Error(err)
				}
				t.Log("\n" + b.String())
			}
		})
	}
}

// TestEvaluateRefusesBrokenRecords holds records whose figures are not numbers
// or disagree to an error: no verdict, least of all a pass.
func TestEvaluateRefusesBrokenRecords(t *testing.T) {
	policy, err := ParsePolicy("policy.yaml", []byte(common+"min_efficiency: 1%\nregression: {relative: 500%}"))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for name, edit := range map[string]func(*reports.Run){
		"NaN measured":      func(r *reports.Run) { r.Points[0].Measured.ValueMs = nan },
		"zero measured":     func(r *reports.Run) { r.Points[0].Measured.ValueMs = 0 },
		"negative measured": func(r *reports.Run) { r.Points[0].Measured.ValueMs = -95 },
		"infinite measured": func(r *reports.Run) { r.Points[0].Measured.ValueMs = math.Inf(1) },
		"NaN floor":         func(r *reports.Run) { r.Points[0].Floors[4].MsPerToken = nan },
		"negative floor":    func(r *reports.Run) { r.Points[0].Floors[4].MsPerToken = -1 },
		"NaN lower end":     func(r *reports.Run) { r.Points[0].Measured.LoMs = &nan },
		"ratio edited":      func(r *reports.Run) { r.Points[0].Efficiency[4].Ratio = 0.99 },
		"open ledger":       func(r *reports.Run) { r.Points[0].Ledger.Rungs[3].Ms = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			broken := schematest.Run()
			edit(broken)
			if doc, err := Evaluate(policy, broken, schematest.Run()); err == nil {
				t.Errorf("as the run: verdict %s, want an error", doc.Verdict)
			}
			if doc, err := Evaluate(policy, schematest.Run(), broken); err == nil || !strings.HasPrefix(err.Error(), "baseline: ") {
				t.Errorf("as the baseline: %v, %v, want an error that names it", doc, err)
			}
		})
	}
}

func TestOverall(t *testing.T) {
	for _, c := range []struct{ verdicts, want string }{
		{"", NotComparable},
		{"pass", Pass},
		{"pass pass", Pass},
		{"pass fail not_comparable", Fail},
		{"not_comparable fail", Fail},
		{"not_comparable pass", NotComparable},
		{"pass not_comparable pass", NotComparable},
		{"pass unheard-of", NotComparable},
	} {
		var rules []reports.GateRule
		for _, v := range strings.Fields(c.verdicts) {
			rules = append(rules, reports.GateRule{Verdict: v})
		}
		if got := overall(rules); got != c.want {
			t.Errorf("overall(%s) = %s, want %s", c.verdicts, got, c.want)
		}
	}
}

func same(*reports.Run) {}

func unmeasure(r *reports.Run) {
	r.Points[0].Measured, r.Points[0].Efficiency, r.Points[0].Ledger = nil, nil, nil
}

func noInterval(r *reports.Run) { r.Points[0].Measured.LoMs, r.Points[0].Measured.HiMs = nil, nil }

func noFacts(r *reports.Run) { r.Fingerprint.Facts = nil }

func fact(key, value string) func(*reports.Run) {
	return func(r *reports.Run) { r.Fingerprint.Facts[key] = value }
}

// retime gives the first point another measured time, its interval scaled with
// it, and drops what was computed from the old one.
func retime(r *reports.Run, ms float64) {
	m := r.Points[0].Measured
	factor := ms / m.ValueMs
	m.ValueMs, m.TokPerS = ms, 1000/ms
	*m.LoMs *= factor
	*m.HiMs *= factor
	r.Points[0].Efficiency, r.Points[0].Ledger = nil, nil
}

// interval sets the first point's interval, relative to its time.
func interval(r *reports.Run, lo, hi float64) {
	m := r.Points[0].Measured
	*m.LoMs, *m.HiMs = m.ValueMs*lo, m.ValueMs*hi
}

// refloor changes one floor of the first point.
func refloor(r *reports.Run, i int, ms float64) {
	f := &r.Points[0].Floors[i]
	f.MsPerToken, f.TokPerS = ms, 1000/ms
	r.Points[0].Efficiency, r.Points[0].Ledger = nil, nil
}

func dropProbed(r *reports.Run) {
	r.Points[0].Floors = r.Points[0].Floors[:3]
	r.Points[0].Efficiency = r.Points[0].Efficiency[:3]
}
