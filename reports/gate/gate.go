// Package gate judges a run record against a policy for CI: pass, fail or not
// comparable, with the numbers and a reason for each rule and point.
//
// It refuses to pass on silence. A floor, point, measurement, ledger or
// baseline that the policy asks for and the record cannot show is not
// comparable, never a pass; so is a policy that sets no limit. It takes no
// measurement and reads no clock: the same record and policy give the same
// verdict everywhere.
package gate

import (
	"fmt"

	"decodegap/reports"
)

// Evaluate judges run against policy; baseline is the run to compare with, or
// nil. An error means that a record's own figures disagree, so that no verdict
// can be given on it.
func Evaluate(policy *Policy, run, baseline *reports.Run) (*reports.GateDocument, error) {
	if err := run.Check(); err != nil {
		return nil, fmt.Errorf("run record: %w", err)
	}
	if baseline != nil {
		if err := baseline.Check(); err != nil {
			return nil, fmt.Errorf("baseline: %w", err)
		}
	}
	c := &candidate{policy: policy, run: run, baseline: baseline}
	c.choose()
	doc := &reports.GateDocument{Schema: reports.GateSchema, Floor: policy.Floor, Rules: []reports.GateRule{}}
	limits := 0
	for _, rule := range All {
		results := rule.Judge(c)
		for _, r := range results {
			r.Name = rule.Name + r.Name
			doc.Rules = append(doc.Rules, r)
		}
		if rule.Limit {
			limits += len(results)
		}
	}
	if limits == 0 {
		doc.Rules = append(doc.Rules, reports.GateRule{
			Name: "limits", Verdict: NotComparable,
			Why: "the policy sets no limit that could be judged; set min_efficiency, max_unattributed, regression or require",
		})
	}
	doc.Verdict = overall(doc.Rules)
	doc.Efficiency, doc.Interval = c.worst()
	return doc, nil
}
