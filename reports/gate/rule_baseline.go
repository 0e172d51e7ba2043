package gate

import (
	"strings"

	"decodegap/reports"
)

// baselineRule holds the baseline to the same model and hardware. It judges
// only if a baseline was given.
var baselineRule = Rule{
	Name: "baseline",
	Doc:  "the baseline is of the same model and hardware",
	Judge: func(c *candidate) []reports.GateRule {
		if c.baseline == nil {
			return nil
		}
		if differ := sameModel(c.run, c.baseline); len(differ) > 0 {
			return []reports.GateRule{notComparable("", strings.Join(differ, "; "))}
		}
		return []reports.GateRule{pass("", "same model and hardware")}
	},
}
