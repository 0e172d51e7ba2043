package gate

// All lists the rules in the order they are judged and shown.
var All = []Rule{
	pointsRule,
	measuredRule,
	floorRule,
	efficiencyRule,
	unattributedRule,
	requireRule,
	baselineRule,
	fingerprintRule,
	regressionRule,
}
