package gate

import "decodegap/reports"

// Rule is one thing the gate judges.
type Rule struct {
	Name string // stable: the "name" of the JSON document and of the JUnit case
	Doc  string // one line for people
	Key  string // the policy key that sets it; empty: always judged

	// Limit says that the rule sets a limit. The others only establish that
	// the record can be judged; a gate on which no limit was judged does not
	// pass.
	Limit bool

	// Judge returns one result for each thing judged, none if the policy does
	// not ask for the rule. A result's Name is appended to the rule's.
	Judge func(*candidate) []reports.GateRule
}
