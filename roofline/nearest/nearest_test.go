package nearest

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	known := []string{"H100 SXM", "H200 SXM", "RTX PRO 6000 Blackwell Workstation", "B200"}
	for _, c := range []struct {
		name string
		want string
	}{
		{"h200-sxn", "H200 SXM"},
		{"rtx pro 6000", "RTX PRO 6000 Blackwell Workstation"},
		{"H200", "H200 SXM"},
	} {
		if got := Names(c.name, known); !slices.Contains(got, c.want) {
			t.Errorf("Names(%q) = %q, want %q among them", c.name, got, c.want)
		}
	}
	if got := Names("something else entirely", known); got != nil {
		t.Errorf("a name unlike any other got %q", got)
	}
}
