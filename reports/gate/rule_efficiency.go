package gate

import (
	"fmt"

	"decodegap/reports"
)

// efficiencyRule holds floor ÷ measured time to min_efficiency. The figure
// itself must reach the limit to pass; it fails if the whole interval of the
// measurement stays below. Between the two the measurement cannot decide, and
// the verdict says so.
var efficiencyRule = Rule{
	Name:  "efficiency",
	Doc:   "floor ÷ measured time per output token is at least min_efficiency",
	Key:   "min_efficiency",
	Limit: true,
	Judge: func(c *candidate) []reports.GateRule {
		var out []reports.GateRule
		for _, t := range c.targets {
			if t.min != nil {
				out = append(out, judgeEfficiency(c, t))
			}
		}
		return out
	},
}

func judgeEfficiency(c *candidate, t target) reports.GateRule {
	e, ok := c.efficiency(t)
	if !ok {
		r := notComparable(t.name, "no ratio without both the policy's floor and a measurement")
		r.Limit, r.Unit = t.min, "ratio"
		return r
	}
	r := reports.GateRule{Point: t.name, Limit: t.min, Value: ptr(e.ratio), Unit: "ratio"}
	value, limit := shares(e.ratio, *t.min)
	figures := fmt.Sprintf("%s floor / %s measured%s", ms(e.floorMs), ms(e.measuredMs), bestKnown(c.run, t.point))
	switch {
	case e.beatsFloor():
		r.Verdict = NotComparable
		r.Why = fmt.Sprintf("%s: measured below the floor (%s); one of the two is wrong", value, figures)
	case e.ratio >= *t.min:
		r.Verdict = Pass
		r.Why = fmt.Sprintf("%s, at least %s (%s)", value, limit, figures)
	case e.best() < *t.min:
		r.Verdict = Fail
		r.Why = fmt.Sprintf("%s is below %s (%s)", value, limit, figures)
	default:
		r.Verdict = NotComparable
		r.Why = fmt.Sprintf("inconclusive: %s is below %s, but the measurement's interval reaches %s (%s); measure with more repeats",
			value, limit, share(e.best()), figures)
	}
	return r
}

// bestKnown is the best publicly known time at the point, for scale; empty
// where none is known.
func bestKnown(run *reports.Run, p *reports.RunPoint) string {
	best, ok := reports.BestKnownMs(run, p)
	if !ok {
		return ""
	}
	return "; best publicly known " + ms(best)
}
