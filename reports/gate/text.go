package gate

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"decodegap/reports"
)

// WriteText prints a gate's result for people: one line for each rule and
// point with ✓, ✗ or ?, then the verdict.
func WriteText(w io.Writer, doc *reports.GateDocument) error {
	var names, points int
	for _, r := range doc.Rules {
		names = max(names, utf8.RuneCountInString(reports.OneLine(r.Name, 0)))
		points = max(points, utf8.RuneCountInString(reports.OneLine(r.Point, 0)))
	}
	var b strings.Builder
	for _, r := range doc.Rules {
		line := fmt.Sprintf("%s %-*s  %-*s  %s", mark(r.Verdict), names, reports.OneLine(r.Name, 0),
			points, reports.OneLine(r.Point, 0), reports.OneLine(r.Why, 0))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString("\n" + Summary(doc) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func mark(verdict string) string {
	switch verdict {
	case Pass:
		return "✓"
	case Fail:
		return "✗"
	}
	return "?"
}

// Summary is the verdict in one line.
func Summary(doc *reports.GateDocument) string {
	var failed, open int
	for _, r := range doc.Rules {
		switch r.Verdict {
		case Pass:
		case Fail:
			failed++
		default:
			open++
		}
	}
	var s string
	switch doc.Verdict {
	case Pass:
		s = fmt.Sprintf("gate: pass, all %d checks", len(doc.Rules))
	case Fail:
		s = fmt.Sprintf("gate: FAIL, %d of %d checks", failed, len(doc.Rules))
		if open > 0 {
			s += fmt.Sprintf(", and %d not comparable", open)
		}
	default:
		s = fmt.Sprintf("gate: NOT COMPARABLE, %d of %d checks; no verdict on speed", open, len(doc.Rules))
	}
	if doc.Efficiency != nil {
		s += fmt.Sprintf("; lowest efficiency %s of the %s", share(*doc.Efficiency), floorName(doc.Floor))
		if doc.Interval != nil {
			s += fmt.Sprintf(" (%s to %s)", share(doc.Interval[0]), share(doc.Interval[1]))
		}
	}
	return s
}
