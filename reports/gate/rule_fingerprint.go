package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"decodegap/reports"
)

// fingerprintRule holds the baseline to the same environment. It judges only
// if a baseline was given and the policy does not ignore the fingerprint.
var fingerprintRule = Rule{
	Name: "fingerprint",
	Doc:  "the baseline was taken in the same environment",
	Key:  "fingerprint",
	Judge: func(c *candidate) []reports.GateRule {
		if c.baseline == nil || c.policy.Fingerprint.Mode == Ignore {
			return nil
		}
		differ := c.environment()
		switch {
		case len(differ) == 0 && len(c.run.Fingerprint.Facts) == 0:
			return []reports.GateRule{pass("", "neither run records its environment, so nothing shows that they differ or agree; require: [fingerprint] insists on one")}
		case len(differ) == 0:
			return []reports.GateRule{pass("", fmt.Sprintf("%d facts agree", len(c.run.Fingerprint.Facts)))}
		case c.policy.Fingerprint.Mode == Warn:
			return []reports.GateRule{pass("", "differs, only warned of: "+joined(differ))}
		}
		return []reports.GateRule{notComparable("", joined(differ))}
	},
}

// environment lists how the two runs' environments differ, less the keys the
// policy ignores. A fact that only one run has counts: nothing shows that the
// other agrees.
func (c *candidate) environment() []string {
	now, then := c.run.Fingerprint, c.baseline.Fingerprint
	var d differences
	if !c.ignored("tool_version") {
		d.add("tool_version", now.ToolVersion, then.ToolVersion)
	}
	keys := slices.Collect(maps.Keys(now.Facts))
	for k := range then.Facts {
		if _, ok := now.Facts[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if c.ignored(k) {
			continue
		}
		a, inNow := now.Facts[k]
		b, inThen := then.Facts[k]
		switch name := reports.OneLine(k, 80); {
		case !inThen:
			d = append(d, fmt.Sprintf("%s %s, baseline unknown", name, known(a)))
		case !inNow:
			d = append(d, fmt.Sprintf("%s unknown, baseline %s", name, known(b)))
		default:
			d.add(name, a, b)
		}
	}
	return d
}

func (c *candidate) ignored(key string) bool {
	for _, pattern := range c.policy.Fingerprint.Ignore {
		prefix, open := strings.CutSuffix(pattern, "*")
		if key == pattern || open && strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// joined lists the first few differences.
func joined(d []string) string {
	const most = 8
	if len(d) > most {
		return strings.Join(d[:most], "; ") + fmt.Sprintf("; and %d more", len(d)-most)
	}
	return strings.Join(d, "; ")
}
