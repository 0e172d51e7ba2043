package audit

import (
	"slices"
	"strings"
)

// NCCLProtocol finds NCCL's protocol or algorithm taken out of its hands.
var NCCLProtocol = Check{
	Name: "nccl-protocol",
	Doc:  "NCCL_PROTO without LL, NCCL_ALGO forced",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || l.single() {
			return nil
		}
		var found []Finding
		if v, ok := l.EnvVar("NCCL_PROTO"); ok && v.Value != "" {
			x := Finding{Severity: Note, Where: l.at(v.setting()),
				Text:   v.setting().Text + " fixes the protocol for every message size",
				Advice: "leave it to NCCL unless a sweep over 8-256 KiB, in a graph, says otherwise"}
			if withoutLL(v.Value) {
				x.Severity = High
				x.Text = v.setting().Text + " leaves out LL, the protocol for messages as small as a decode step's"
				x.Cost = "LL is 1.5-1.9 times as fast at 32-256 KB (rtx6kpro)"
			}
			found = append(found, x)
		}
		if v, ok := l.EnvVar("NCCL_ALGO"); ok && v.Value != "" {
			found = append(found, Finding{Severity: Low, Where: l.at(v.setting()),
				Text:   v.setting().Text + " fixes the algorithm for every message size",
				Advice: "leave it to NCCL unless a sweep over 8-256 KiB, in a graph, says otherwise"})
		}
		return found
	},
}

// withoutLL says whether a protocol list ("Simple", "^LL", "LL,LL128") forbids
// LL. A list per collective is not judged.
func withoutLL(value string) bool {
	value = strings.ToUpper(value)
	if strings.ContainsAny(value, "=;") {
		return false
	}
	list, negated := strings.CutPrefix(value, "^")
	return slices.Contains(strings.Split(list, ","), "LL") == negated
}
