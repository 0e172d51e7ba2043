package gate

import (
	"fmt"

	"decodegap/reports"
)

// pointsRule holds the run to the points the policy names.
var pointsRule = Rule{
	Name: "points",
	Doc:  "every point the policy names is in the run",
	Key:  "points",
	Judge: func(c *candidate) []reports.GateRule {
		if len(c.run.Points) == 0 {
			return []reports.GateRule{notComparable("", "the run has no operating point")}
		}
		if len(c.missing) == 0 {
			return []reports.GateRule{pass("", fmt.Sprintf("%d of the run's %d points gated", len(c.targets), len(c.run.Points)))}
		}
		var out []reports.GateRule
		for _, p := range c.missing {
			out = append(out, notComparable(p.String(), "the run has no such point; it has "+pointList(c.run)))
		}
		return out
	},
}

// pointList names the first few points of a run.
func pointList(run *reports.Run) string {
	const most = 6
	var s string
	for i, n := range pointNames(run) {
		if i == most {
			return fmt.Sprintf("%s and %d more", s, len(run.Points)-most)
		}
		if i > 0 {
			s += "; "
		}
		s += n
	}
	if s == "" {
		return "none"
	}
	return s
}
