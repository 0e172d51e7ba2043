package gate

import (
	"strings"

	"decodegap/reports"
)

// requireRule holds the run to the evidence the policy asks for. A run without
// it is not bad, it is unfit to be judged.
var requireRule = Rule{
	Name:  "require",
	Doc:   "the run shows the evidence that the policy asks for",
	Key:   "require",
	Limit: true,
	Judge: func(c *candidate) []reports.GateRule {
		var out []reports.GateRule
		for _, name := range c.policy.Require {
			for _, q := range Requirements {
				if q.Name != name {
					continue
				}
				r := pass("", q.Doc)
				if lacks := q.lacks(c); lacks != "" {
					r = notComparable("", lacks)
				}
				r.Name = "/" + name
				out = append(out, r)
			}
		}
		return out
	},
}

// Requirement is one kind of evidence a record can show.
type Requirement struct {
	Name, Doc string
	lacks     func(*candidate) string // what is missing; empty: nothing
}

// Requirements lists what a policy may require.
var Requirements = []Requirement{
	{"trace", "a profiler trace was read", func(c *candidate) string { return c.lacksInput("trace", "the record holds no trace") }},
	{"bench", "a benchmark file was read", func(c *candidate) string {
		return c.lacksInput("bench", "no benchmark file was read; give diagnose --bench")
	}},
	{"launch", "the server's launch command was read", func(c *candidate) string {
		return c.lacksInput("launch", "no launch command was read; give diagnose --launch")
	}},
	{"probes", "ceilings were probed on the machine", func(c *candidate) string {
		for _, ceiling := range c.run.Hardware.Ceilings {
			if ceiling.Basis == "probed" {
				return ""
			}
		}
		return "no ceiling of the record was probed"
	}},
	{"headers", "weight bytes come from the checkpoint's headers", func(c *candidate) string {
		if c.run.Model.BytesSource == "headers" {
			return ""
		}
		return "weight bytes were counted from " + c.run.Model.BytesSource + ", not from the checkpoint's headers"
	}},
	{"interval", "every gated point's measurement has an interval", func(c *candidate) string {
		return c.lacksAtPoints("no interval of the measured time at ", func(p *reports.RunPoint) bool {
			return p.Measured != nil && p.Measured.LoMs != nil && p.Measured.HiMs != nil
		})
	}},
	{"ledger", "every gated point has a ledger", func(c *candidate) string {
		return c.lacksAtPoints("no ledger at ", func(p *reports.RunPoint) bool { return p.Ledger != nil })
	}},
	{"fingerprint", "the environment was recorded", func(c *candidate) string {
		if len(c.run.Fingerprint.Facts) > 0 {
			return ""
		}
		return "the run records nothing of its environment; diagnose --launch FILE adds it"
	}},
}

func requirementNames() []string {
	var names []string
	for _, q := range Requirements {
		names = append(names, q.Name)
	}
	return names
}

func (c *candidate) lacksInput(role, lack string) string {
	for _, in := range c.run.Inputs {
		if in.Role == role {
			return ""
		}
	}
	return lack
}

func (c *candidate) lacksAtPoints(lack string, has func(*reports.RunPoint) bool) string {
	var at []string
	for _, t := range c.targets {
		if !has(t.point) {
			at = append(at, t.name)
		}
	}
	if len(c.targets) == 0 {
		return "no gated point"
	}
	if len(at) == 0 {
		return ""
	}
	return lack + strings.Join(at, "; ")
}
