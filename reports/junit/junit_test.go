package junit

import (
	"bytes"
	"encoding/xml"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"decodegap/reports"
	"decodegap/reports/schema/schematest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// suites is what a CI system reads of the file.
type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suite   struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string  `xml:"name,attr"`
			Class   string  `xml:"classname,attr"`
			Failure *result `xml:"failure"`
			Error   *result `xml:"error"`
			Skipped *result `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type result struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func TestGolden(t *testing.T) {
	var run bytes.Buffer
	if err := Render(&run, schematest.Run()); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/gate.xml", render(t, schematest.Gate()))
	golden(t, "testdata/run.xml", run.Bytes())
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; make it with -update", err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

// TestCounts holds the file to show as green exactly when the gate passed.
func TestCounts(t *testing.T) {
	rule := func(verdicts ...string) []reports.GateRule {
		var out []reports.GateRule
		for _, v := range verdicts {
			out = append(out, reports.GateRule{Name: "r", Verdict: v, Why: "why"})
		}
		return out
	}
	for _, c := range []struct {
		verdict                 string
		rules                   []reports.GateRule
		tests, failures, errors int
	}{
		{"pass", rule("pass", "pass"), 2, 0, 0},
		{"fail", rule("pass", "fail", "not_comparable"), 3, 1, 1},
		{"not_comparable", rule("not_comparable"), 1, 0, 1},
		{"not_comparable", nil, 1, 0, 1},
		{"not_comparable", rule("pass"), 2, 0, 1},
		{"fail", rule("pass"), 2, 0, 1},
		{"not_comparable", rule("unheard-of"), 1, 0, 1},
	} {
		var got suites
		if err := xml.Unmarshal(render(t, &reports.GateDocument{Verdict: c.verdict, Rules: c.rules}), &got); err != nil {
			t.Fatal(err)
		}
		s := got.Suite
		if s.Tests != c.tests || s.Failures != c.failures || s.Errors != c.errors || s.Skipped != 0 || len(s.Cases) != c.tests {
			t.Errorf("%s of %v: %d tests, %d failures, %d errors, %d skipped, %d cases; want %d, %d, %d, 0, %d",
				c.verdict, c.rules, s.Tests, s.Failures, s.Errors, s.Skipped, len(s.Cases), c.tests, c.failures, c.errors, c.tests)
		}
		red := 0
		for _, tc := range s.Cases {
			if tc.Skipped != nil {
				t.Errorf("%s: a skipped case, which runners show as green", c.verdict)
			}
			if tc.Failure != nil || tc.Error != nil {
				red++
			}
		}
		if (red == 0) != (c.verdict == "pass") {
			t.Errorf("%s: %d red cases", c.verdict, red)
		}
	}
}

// TestEscapes holds hostile text to come back as text, without what XML or a
// terminal cannot hold.
func TestEscapes(t *testing.T) {
	hostile := "a<b>&\"'\x00\x1b[2J]]><!-- \ufffe\uffff\xff \u202e\U0001fffe end\n"
	doc := &reports.GateDocument{Verdict: hostile, Floor: reports.FloorName{Kind: hostile}, Rules: []reports.GateRule{
		{Name: hostile, Point: hostile, Verdict: "fail", Unit: hostile, Why: hostile},
		{Name: hostile, Point: hostile, Verdict: "pass", Why: hostile},
		{Name: hostile, Verdict: hostile, Why: hostile},
	}}
	data := render(t, doc)
	var got suites
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatalf("not well-formed: %v\n%s", err, data)
	}
	const want = "a<b>&\"'��[2J]]><!-- ��� �� end "
	if got.Suite.Cases[0].Failure.Message != want {
		t.Errorf("message %q, want %q", got.Suite.Cases[0].Failure.Message, want)
	}
	if lines := strings.Count(string(data), "\n"); lines != 19 {
		t.Errorf("%d lines: text from the record must not start its own\n%s", lines, data)
	}
}

// TestRunEscapes holds hostile text of a run record to stay text.
func TestRunEscapes(t *testing.T) {
	const hostile = "a<b>&\"'\x00\x1b[2J]]></failure>\n\xff"
	run := schematest.Run()
	run.Points[0].Label, run.Points[0].Measured.Source = hostile, hostile
	run.Points[0].Efficiency[0].Floor.Kind = hostile
	run.Findings = []reports.Finding{
		{Check: hostile, Severity: "high", Text: hostile, Where: hostile, Advice: hostile, Cost: hostile},
		{Check: hostile, Severity: hostile, Text: hostile, Where: hostile},
	}
	var b bytes.Buffer
	if err := Render(&b, run); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Cases []struct {
				Failure *result `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("not well-formed: %v\n%s", err, b.Bytes())
	}
	if got.Tests != 4 || got.Failures != 1 || got.Skipped != 1 {
		t.Errorf("%d tests, %d failures, %d skipped; want 4, 1, 1", got.Tests, got.Failures, got.Skipped)
	}
	if m := got.Suites[1].Cases[0].Failure.Message; m != "a<b>&\"'��[2J]]></failure> �" {
		t.Errorf("message %q", m)
	}
}

func render(t *testing.T, doc *reports.GateDocument) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteGate(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
