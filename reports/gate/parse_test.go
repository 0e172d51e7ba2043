package gate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"decodegap/reports"
	"decodegap/roofline/unit"
)

const policies = "../../testdata/policies"

func TestReadPolicy(t *testing.T) {
	context, label := 576, "backend-a"
	half := unit.Seconds(0.5e-3)
	for _, c := range []struct {
		file string
		want Policy
	}{
		{"floors.yaml", Policy{
			Floor:         reports.FloorName{Kind: "latency", Basis: "probed"},
			MinEfficiency: ptr(0.05), Points: []Point{{Batch: 1, Context: &context, MinEfficiency: ptr(0.075)}},
			MaxUnattributed: ptr(0.25), Require: []string{"trace", "probes"}, Fingerprint: Fingerprint{Mode: Strict},
		}},
		{"regression.yaml", Policy{
			Floor:       reports.FloorName{Kind: "layout", Basis: "sheet"},
			Points:      []Point{{Batch: 1, Label: &label}},
			Regression:  &Regression{Relative: ptr(0.05), Absolute: &half},
			Fingerprint: Fingerprint{Mode: Strict, Ignore: []string{"tool_version", "env.*"}},
		}},
		{"whole.json", Policy{
			Floor: reports.FloorName{Kind: "ideal", Basis: "sheet"}, MinEfficiency: ptr(0.03), Fingerprint: Fingerprint{Mode: Strict},
		}},
	} {
		got, err := ReadPolicy(filepath.Join(policies, c.file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		} else if d := cmp.Diff(c.want, *got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, d)
		}
	}
}

// TestBadPolicies holds every mistake in testdata/policies/bad to its message:
// position, what was expected, excerpt.
func TestBadPolicies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(policies, "bad", "*.yaml"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d bad policies, %v", len(files), err)
	}
	var all strings.Builder
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ParsePolicy(filepath.Base(path), data)
		var at *PolicyError
		if p != nil || !errors.As(err, &at) {
			t.Errorf("%s: policy %v, error %v; want a *PolicyError", path, p, err)
			continue
		}
		all.WriteString(err.Error() + "\n\n")
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return r != '\n' && unicode.Is(unicode.C, r) }) {
			t.Errorf("%s: control characters in the message %q", path, err)
		}
	}
	golden(t, "testdata/bad_policies.txt", []byte(all.String()))
}

func TestHostilePolicies(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"large", strings.Repeat("# padding\n", 110_000), "larger than 1 MB"},
		{"many tokens", "require:\n" + strings.Repeat("- a\n", 15_000), "more than 20000 YAML tokens"},
		{"brackets", strings.Repeat("[", 9000), "nested deeper than 16 levels"},
		{"braces", strings.Repeat("{a: ", 6000), "nested deeper than 16 levels"},
		{"dashes", strings.Repeat("- ", 9000), "nested deeper than 16 levels"},
		{"staircase", staircase(60), "the policy: expected keys|nested deeper|unknown key"},
		{"billion laughs", "a: &a [x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n", "anchors, aliases and merge keys"},
		{"points", "floor: {kind: ideal, basis: sheet}\npoints:\n" + strings.Repeat("- {batch: 1}\n", 1200), "above the limit of 1000"},
		{"long value", "floor: {kind: " + strings.Repeat("x", 600) + ", basis: sheet}", "above the limit of 512"},
		{"nul", "floor: {kind: ideal, basis: sheet}\n\x00\x00: 1", ""},
		{"invalid UTF-8", "floor: {kind: \xff\xfe, basis: sheet}", ""},
	} {
		_, err := ParsePolicy("p", []byte(c.text))
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		ok := false
		for _, want := range strings.Split(c.want, "|") {
			ok = ok || strings.Contains(err.Error(), want)
		}
		if !ok {
			t.Errorf("%s: error %q, want %q", c.name, reports.OneLine(err.Error(), 300), c.want)
		}
	}
}

// staircase nests n block mappings.
func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// FuzzParsePolicy holds every input to: no panic, an error of the documented
// type, and limits within their ranges when there is none.
func FuzzParsePolicy(f *testing.F) {
	for _, pattern := range []string{"*.yaml", "*.json", "bad/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(policies, pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy("fuzz", data)
		if err != nil {
			var at *PolicyError
			if !errors.As(err, &at) {
				t.Fatalf("error %T %v, want *PolicyError", err, err)
			}
			return
		}
		if p.Floor.Kind == "" || p.Floor.Basis == "" {
			t.Error("a policy without a floor was accepted")
		}
		for _, v := range []*float64{p.MinEfficiency, p.MaxUnattributed} {
			if v != nil && !(*v >= 0 && *v <= 1) {
				t.Errorf("a share of %g was accepted", *v)
			}
		}
	})
}
