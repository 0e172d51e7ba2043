package reports_test

import (
	"strings"
	"testing"

	"decodegap/reports"
	"decodegap/reports/schema/schematest"
)

// TestAttainableStepCheck: a step whose numbers do not follow from each other,
// or whose parts are no components, is found.
func TestAttainableStepCheck(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*reports.AttainableStep)
		want   string
	}{
		"untouched":        {func(*reports.AttainableStep) {}, ""},
		"over the floor":   {func(s *reports.AttainableStep) { s.OverFloor *= 1.1 }, "make it again with probe"},
		"sum of parts":     {func(s *reports.AttainableStep) { s.Parts[0].Ms *= 2 }, "make it again with probe"},
		"unknown name":     {func(s *reports.AttainableStep) { s.Parts[0].Component = "mlp.dence" }, `"mlp.dence" is none`},
		"name that stands": {func(s *reports.AttainableStep) { s.Parts[1].Component = s.Parts[0].Component }, "stands twice"},
	} {
		doc := schematest.Ceilings()
		for i := range doc.Results {
			if s := doc.Results[i].Step; s != nil {
				c.change(s)
			}
		}
		err := doc.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
