// Package junit writes a gate's result, or a run record, as JUnit XML, the
// format in which CI systems show results case by case.
//
// It refuses to let a gate's result that could not be judged look like a pass:
// "not comparable" becomes an <error>, since runners count a <skipped> case as
// green. It states no times: it measures nothing itself.
package junit

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"decodegap/reports"
)

// WriteGate writes doc as one test suite with one case for each rule and point.
func WriteGate(w io.Writer, doc *reports.GateDocument) error {
	var failures, errors int
	for _, r := range doc.Rules {
		switch r.Verdict {
		case "pass":
		case "fail":
			failures++
		default:
			errors++
		}
	}
	// A gate whose parts all look green but which did not pass must not show
	// as green either.
	extra := doc.Verdict != "pass" && failures+errors == 0
	total := len(doc.Rules)
	if extra {
		total++
		errors++
	}
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	counts := fmt.Sprintf(`tests="%d" failures="%d" errors="%d" skipped="0"`, total, failures, errors)
	fmt.Fprintf(&b, "<testsuites name=\"decodegap\" %s>\n  <testsuite name=\"decodegap gate\" %s>\n", counts, counts)
	b.WriteString("    <properties>\n")
	property(&b, "verdict", doc.Verdict)
	property(&b, "floor.kind", doc.Floor.Kind)
	property(&b, "floor.basis", doc.Floor.Basis)
	if doc.Efficiency != nil {
		property(&b, "efficiency", fmt.Sprintf("%.6g", *doc.Efficiency))
	}
	b.WriteString("    </properties>\n")
	for _, r := range doc.Rules {
		testcase(&b, r)
	}
	if extra {
		testcase(&b, reports.GateRule{Name: "verdict", Verdict: doc.Verdict, Why: "the gate's verdict is " + doc.Verdict})
	}
	b.WriteString("  </testsuite>\n</testsuites>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func property(b *strings.Builder, name, value string) {
	fmt.Fprintf(b, "      <property name=\"%s\" value=\"%s\"/>\n", escape(name), escape(value))
}

func testcase(b *strings.Builder, r reports.GateRule) {
	name := r.Name
	if r.Point != "" {
		name += ": " + r.Point
	}
	fmt.Fprintf(b, "    <testcase classname=\"decodegap.gate.%s\" name=\"%s\">\n", escape(r.Name), escape(name))
	switch r.Verdict {
	case "pass":
		fmt.Fprintf(b, "      <system-out>%s</system-out>\n", escape(r.Why))
	case "fail":
		fmt.Fprintf(b, "      <failure type=\"fail\" message=\"%s\">%s</failure>\n", escape(r.Why), escape(figures(r)))
	default:
		fmt.Fprintf(b, "      <error type=\"not_comparable\" message=\"%s\">%s</error>\n", escape(r.Why), escape(figures(r)))
	}
	b.WriteString("    </testcase>\n")
}

// figures is a result's text with its limit and value, for runners that show
// only the element's content.
func figures(r reports.GateRule) string {
	s := r.Why
	if r.Limit != nil {
		s += fmt.Sprintf(" [limit %.6g %s]", *r.Limit, r.Unit)
	}
	if r.Value != nil {
		s += fmt.Sprintf(" [value %.6g %s]", *r.Value, r.Unit)
	}
	return s
}

// escape makes text safe in element content and in attributes. Characters that
// XML 1.0 cannot hold at all, and noncharacters, are already gone or replaced
// by OneLine or here.
func escape(s string) string {
	var b strings.Builder
	for _, r := range reports.OneLine(s, 0) {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\'':
			b.WriteString("&apos;")
		case r&0xfffe == 0xfffe || !unicode.IsPrint(r) && r != unicode.ReplacementChar && r != ' ':
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
