package gate

import (
	"fmt"

	"decodegap/reports"
)

// measuredRule holds every gated point to a measurement: a floor alone is no
// result.
var measuredRule = Rule{
	Name: "measured",
	Doc:  "every gated point has a measured time per output token",
	Judge: func(c *candidate) []reports.GateRule {
		var out []reports.GateRule
		for _, t := range c.targets {
			m := t.point.Measured
			if m == nil {
				out = append(out, notComparable(t.name, "not measured; give diagnose --measured or --bench, or leave the point out of the policy"))
				continue
			}
			r := pass(t.name, fmt.Sprintf("%s per token, %s, from %s%s", ms(m.ValueMs), m.Statistic, m.Source, intervalText(m)))
			r.Value, r.Unit = ptr(m.ValueMs), "ms"
			out = append(out, r)
		}
		return out
	},
}

func intervalText(m *reports.Measured) string {
	if m.LoMs == nil || m.HiMs == nil {
		return ""
	}
	return fmt.Sprintf(", interval %s to %s", ms(*m.LoMs), ms(*m.HiMs))
}
