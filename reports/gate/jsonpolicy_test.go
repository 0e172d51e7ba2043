package gate

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"decodegap/reports"
	"decodegap/reports/schema"
	"decodegap/reports/schema/schematest"
)

// TestJSONPolicies holds the JSON form of each good policy to its schema and to
// the same meaning.
func TestJSONPolicies(t *testing.T) {
	run := schematest.Run()
	run.Points[0].Label = "12"
	run.Points = append(run.Points, run.Points[0])
	run.Points[2].Label = `"\` + "\x1b"
	starter, err := Starter(run, "run.json")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"starter": starter}
	for _, name := range []string{"floors.yaml", "regression.yaml", "whole.json"} {
		if texts[name], err = os.ReadFile(filepath.Join(policies, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		want, err := ParsePolicy(name, text)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteJSONPolicy(&b, text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		schematest.Validate(t, "policy", b.Bytes())
		got, err := ParsePolicy(name+" as JSON", b.Bytes())
		if err != nil {
			t.Errorf("%v\n%s", err, b.String())
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s changed by becoming JSON (-YAML +JSON):\n%s", name, d)
		}
	}
}

// TestPolicySchema holds the schema to the keys and names the parser takes. The
// parser lists the keys of a mapping when it finds a plain value in its place.
func TestPolicySchema(t *testing.T) {
	text, err := schema.Get("policy")
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	dig := func(path ...any) map[string]any {
		var at any = root
		for _, p := range path {
			switch p := p.(type) {
			case string:
				at = at.(map[string]any)[p]
			case int:
				at = at.([]any)[p]
			}
		}
		return at.(map[string]any)
	}
	const floor = "floor: {kind: ideal, basis: sheet}\n"
	keys := regexp.MustCompile(`expected keys \(([^)]*)\)`)
	for _, c := range []struct {
		text string
		in   map[string]any
	}{
		{"x", dig("properties")},
		{"floor: x", dig("properties", "floor", "properties")},
		{floor + "points: [x]", dig("properties", "points", "items", "properties")},
		{floor + "regression: x", dig("properties", "regression", "properties")},
	} {
		_, err := ParsePolicy("p", []byte(c.text))
		if err == nil {
			t.Fatalf("%q was accepted", c.text)
		}
		match := keys.FindStringSubmatch(err.Error())
		if match == nil {
			t.Fatalf("%q: error %v lists no keys", c.text, err)
		}
		var got []string
		for k := range c.in {
			got = append(got, k)
		}
		want := strings.Split(match[1], ", ")
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-parser +schema):\n%s", c.text, d)
		}
	}
	for _, c := range []struct {
		in   map[string]any
		want []string
	}{
		{dig("properties", "floor", "properties", "kind"), reports.FloorKinds},
		{dig("properties", "floor", "properties", "basis"), reports.Bases},
		{dig("properties", "require", "items"), requirementNames()},
		{dig("$defs", "Mode"), FingerprintModes},
	} {
		var got []string
		for _, v := range c.in["enum"].([]any) {
			got = append(got, v.(string))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("names (-parser +schema):\n%s", d)
		}
	}
}
