package gate

import "decodegap/reports"

// The verdicts of a rule and of the whole gate.
const (
	Pass          = "pass"
	Fail          = "fail"
	NotComparable = "not_comparable"
)

// Verdicts lists every verdict.
var Verdicts = []string{Pass, Fail, NotComparable}

// overall joins the rules' verdicts: any failure fails, else anything that
// could not be compared makes the whole not comparable; only a gate on which
// every rule passed passes. No rule at all is not comparable.
func overall(rules []reports.GateRule) string {
	verdict := NotComparable
	for i, r := range rules {
		switch {
		case r.Verdict == Fail:
			return Fail
		case r.Verdict != Pass:
			verdict = NotComparable
		case i == 0:
			verdict = Pass
		}
	}
	return verdict
}

func pass(point, why string) reports.GateRule {
	return reports.GateRule{Point: point, Verdict: Pass, Why: why}
}

func notComparable(point, why string) reports.GateRule {
	return reports.GateRule{Point: point, Verdict: NotComparable, Why: why}
}
