package gate

import (
	"os"
	"strings"
	"testing"
)

// TestRulesDocumented holds every rule and requirement to be complete, named
// once, and explained in the guide.
func TestRulesDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	explained := func(what, name string) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/guide/ci.md does not name the %s `%s`", what, name)
		}
	}
	for _, r := range All {
		if r.Name == "" || r.Doc == "" || r.Judge == nil {
			t.Errorf("rule %q is incomplete", r.Name)
		}
		if seen[r.Name] {
			t.Errorf("two rules named %q", r.Name)
		}
		seen[r.Name] = true
		explained("rule", r.Name)
		if r.Key != "" {
			explained("key", r.Key)
		}
	}
	for _, q := range Requirements {
		explained("requirement", q.Name)
	}
}

// TestGuidePolicy holds the policy shown in the guide to be one.
func TestGuidePolicy(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		if !strings.HasPrefix(text, "floor:") {
			continue
		}
		found++
		if _, err := ParsePolicy("docs/guide/ci.md", []byte(text)); err != nil {
			t.Error(err)
		}
	}
	if found == 0 {
		t.Error("no policy in docs/guide/ci.md: the check sees nothing")
	}
}
