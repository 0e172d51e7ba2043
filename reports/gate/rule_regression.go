package gate

import (
	"fmt"
	"math"
	"strings"

	"decodegap/reports"
)

// regressionRule holds each gated point to the baseline's time per output
// token. Two limits together keep noise out: a point fails only if the lower
// end of its measured interval is slower by more than the relative and by more
// than the absolute limit.
var regressionRule = Rule{
	Name:  "regression",
	Doc:   "time per output token is not worse than the baseline's by more than the limits",
	Key:   "regression",
	Limit: true,
	Judge: func(c *candidate) []reports.GateRule {
		switch {
		case c.policy.Regression == nil && c.baseline == nil:
			return nil
		case c.policy.Regression == nil:
			return []reports.GateRule{notComparable("", "a baseline was given, but the policy sets no limits; add regression: {relative: 5%, absolute: 0.5ms} or leave --baseline out")}
		case c.baseline == nil:
			return []reports.GateRule{notComparable("", "the policy limits regressions, but no baseline was given; add --baseline RUN or take regression out of the policy")}
		case len(c.targets) == 0:
			return []reports.GateRule{notComparable("", "no gated point to compare")}
		}
		var out []reports.GateRule
		for _, t := range c.targets {
			out = append(out, judgeRegression(c, t))
		}
		return out
	},
}

func judgeRegression(c *candidate, t target) reports.GateRule {
	base, reasons := comparablePoint(c, t)
	if len(reasons) > 0 {
		return notComparable(t.name, strings.Join(reasons, "; "))
	}
	now, then := t.point.Measured, base.Measured.ValueMs
	margin := c.policy.Regression.marginMs(then)
	limit := then + margin
	r := reports.GateRule{Point: t.name, Limit: &limit, Value: ptr(now.ValueMs), Unit: "ms"}
	figures := fmt.Sprintf("%s against %s (%s; limit %s), efficiency %s against %s", ms(now.ValueMs), ms(then), change(now.ValueMs, then), ms(limit),
		share(t.point.Floor(c.policy.Floor).MsPerToken/now.ValueMs), share(base.Floor(c.policy.Floor).MsPerToken/then))
	low := now.ValueMs
	if now.LoMs != nil {
		low = *now.LoMs
	}
	switch {
	case now.ValueMs <= limit:
		r.Verdict, r.Why = Pass, figures
	case low > limit:
		r.Verdict, r.Why = Fail, "slower than the baseline: "+figures
	case now.ValueMs-low <= margin:
		// The interval is narrower than the limit: had the time grown by much
		// more than the limit, the interval would lie beyond it.
		r.Verdict, r.Why = Pass, fmt.Sprintf("%s; within the measurement's noise, whose lower end is %s", figures, ms(low))
	default:
		r.Verdict, r.Why = NotComparable, fmt.Sprintf("inconclusive: %s, but the measurement's interval starts at %s and is wider than the limit; measure with more repeats", figures, ms(low))
	}
	return r
}

// marginMs is how many milliseconds a point may be slower than a baseline of
// thenMs: the larger of the limits, since both must be passed to fail.
func (r *Regression) marginMs(thenMs float64) float64 {
	margin := 0.0
	if r.Relative != nil {
		margin = *r.Relative * thenMs
	}
	if r.Absolute != nil {
		margin = math.Max(margin, r.Absolute.Millis())
	}
	return margin
}

// comparablePoint finds the baseline's point for t, or every reason why the
// two cannot be compared.
func comparablePoint(c *candidate, t target) (*reports.RunPoint, []string) {
	var reasons []string
	if len(sameModel(c.run, c.baseline)) > 0 {
		reasons = append(reasons, "the baseline is of another model or hardware")
	}
	if c.policy.Fingerprint.Mode == Strict && len(c.environment()) > 0 {
		reasons = append(reasons, "the baseline was taken in another environment")
	}
	if t.point.Measured == nil {
		reasons = append(reasons, "not measured")
	}
	base, why := matching(t.point, c.baseline)
	if base == nil {
		return nil, append(reasons, why)
	}
	if t.point.Floor(c.policy.Floor) == nil {
		reasons = append(reasons, "no "+floorName(c.policy.Floor))
	} else {
		reasons = append(reasons, sameFloors(c.policy.Floor, t.point, base)...)
	}
	switch now, then := t.point.Measured, base.Measured; {
	case then == nil:
		reasons = append(reasons, "the baseline is not measured at this point")
	case now != nil && now.Statistic != then.Statistic:
		reasons = append(reasons, fmt.Sprintf("the measured figure is the %s, the baseline's the %s", known(now.Statistic), known(then.Statistic)))
	}
	return base, reasons
}
