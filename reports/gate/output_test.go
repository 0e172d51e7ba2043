package gate

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"

	"decodegap/reports"
	"decodegap/reports/schema/schematest"
)

// evaluated is a gate with a pass, a failure and a point that cannot be
// compared.
func evaluated(t *testing.T) *reports.GateDocument {
	t.Helper()
	policy, err := ParsePolicy("policy.yaml", []byte(`
floor: {kind: latency, basis: probed}
min_efficiency: 8%
points: [{batch: 1}, {batch: 64}, {batch: 256, label: "backend-b"}]
max_unattributed: 25%
require: [trace]
regression: {relative: 5%, absolute: 0.5ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Evaluate(policy, schematest.Run(), schematest.Run())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOutputs(t *testing.T) {
	for _, c := range []struct {
		file  string
		write func(io.Writer, *reports.GateDocument) error
	}{
		{"testdata/gate.txt", WriteText},
		{"testdata/gate.md", WriteMarkdown},
	} {
		var b bytes.Buffer
		if err := c.write(&b, evaluated(t)); err != nil {
			t.Fatal(err)
		}
		golden(t, c.file, b.Bytes())
	}
	data, err := json.Marshal(evaluated(t))
	if err != nil {
		t.Fatal(err)
	}
	schematest.Validate(t, "gate", data)
}

// TestOutputsEscape holds both formats to keep text from a record in its
// place: no control characters, no line breaks, no markup.
func TestOutputsEscape(t *testing.T) {
	hostile := "a\x1b[2J\n| x | <script>alert(1)</script> [l](http://e) `c` **b**\u202e"
	doc := &reports.GateDocument{Verdict: Pass, Rules: []reports.GateRule{{Name: "efficiency", Point: hostile, Verdict: Pass, Why: hostile}}}
	for name, write := range map[string]func(io.Writer, *reports.GateDocument) error{"text": WriteText, "markdown": WriteMarkdown} {
		var b bytes.Buffer
		if err := write(&b, doc); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && unicode.Is(unicode.C, r) }) {
			t.Errorf("%s: control characters in %q", name, out)
		}
		if name == "markdown" {
			for _, bad := range []string{"<script>", "[l](", " | x | ", "**b**"} {
				if strings.Contains(out, bad) {
					t.Errorf("markdown: %q unescaped in %q", bad, out)
				}
			}
		}
		if want := map[string]int{"text": 3, "markdown": 5}[name]; strings.Count(out, "\n") != want {
			t.Errorf("%s: %d lines, want %d:\n%s", name, strings.Count(out, "\n"), want, out)
		}
	}
}
