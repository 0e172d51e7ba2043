package gate

import (
	"fmt"

	"decodegap/reports"
)

// floorRule holds every gated point to the very floor the policy names. Another
// kind or basis is another number, so it never stands in.
var floorRule = Rule{
	Name: "floor",
	Doc:  "every gated point has the floor that the policy names",
	Key:  "floor",
	Judge: func(c *candidate) []reports.GateRule {
		var out []reports.GateRule
		for _, t := range c.targets {
			f := t.point.Floor(c.policy.Floor)
			if f == nil {
				out = append(out, notComparable(t.name, fmt.Sprintf("no %s; the run has %s%s",
					floorName(c.policy.Floor), floorNames(t.point), wayToFloor(c.policy.Floor.Basis))))
				continue
			}
			r := pass(t.name, fmt.Sprintf("%s: %s per token", floorName(c.policy.Floor), ms(f.MsPerToken)))
			if e, ok := c.efficiency(t); ok && e.beatsFloor() {
				r = notComparable(t.name, fmt.Sprintf("%s per token, but measured %s: a time below the floor means that one of the two is wrong", ms(e.floorMs), ms(e.measuredMs)))
			}
			r.Value, r.Unit = ptr(f.MsPerToken), "ms"
			out = append(out, r)
		}
		return out
	},
}

// wayToFloor is what gives a run floors of that basis.
func wayToFloor(basis string) string {
	switch basis {
	case "probed":
		return "; only a record made with probes has probed ones"
	case "given":
		return "; diagnose --bandwidth adds given ones"
	}
	return ""
}
