package gate

import (
	"fmt"
	"math"

	"decodegap/reports"
)

// unattributedRule holds the share of the measured time that the ledger cannot
// explain to max_unattributed. The residual counts by size: explaining too much
// is ignorance too. A rung without evidence counts as unattributed.
var unattributedRule = Rule{
	Name:  "unattributed",
	Doc:   "the ledger leaves at most max_unattributed of the measured time unexplained",
	Key:   "max_unattributed",
	Limit: true,
	Judge: func(c *candidate) []reports.GateRule {
		if c.policy.MaxUnattributed == nil {
			return nil
		}
		var out []reports.GateRule
		for _, t := range c.targets {
			out = append(out, judgeUnattributed(t, *c.policy.MaxUnattributed))
		}
		return out
	},
}

func judgeUnattributed(t target, limit float64) reports.GateRule {
	r := reports.GateRule{Point: t.name, Limit: &limit, Unit: "ratio"}
	openMs, known := unattributedMs(t.point.Ledger)
	if !known {
		r.Verdict, r.Why = NotComparable, "no ledger that says how much it leaves unattributed"
		return r
	}
	measured := t.point.Ledger.MeasuredMs
	value := openMs / measured
	r.Value = &value
	a, b := shares(value, limit)
	if value <= limit {
		r.Verdict, r.Why = Pass, fmt.Sprintf("%s of %s unattributed, at most %s", a, ms(measured), b)
		return r
	}
	r.Verdict, r.Why = Fail, fmt.Sprintf("%s of %s unattributed, above %s; a trace or probes can split it", a, ms(measured), b)
	return r
}

// unattributedMs adds up the sizes of the ledger's unexplained rungs. It is
// not known without a ledger, nor from one that has no such rung at all: a
// ledger always shows its residual, so one without it says nothing.
func unattributedMs(l *reports.Ledger) (total float64, known bool) {
	if l == nil || !(l.MeasuredMs > 0) {
		return 0, false
	}
	for _, rung := range l.Rungs {
		if rung.Cause == "unattributed" {
			known = true
		}
		if rung.Cause == "unattributed" || rung.Evidence == "" {
			total += math.Abs(rung.Ms)
		}
	}
	return total, known
}
