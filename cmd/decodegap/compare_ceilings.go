package main

import (
	"fmt"
	"io"
	"strings"

	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/reports/compare"
)

// compareCeilings fills doc from two ceilings documents.
func compareCeilings(doc *reports.CompareDocument, names []string, both []*reports.CeilingsDocument, facts []string, o compare.Options) error {
	if len(both) != 2 || len(names) != 2 {
		return fmt.Errorf("compare: ceilings compare two at a time: give the earlier document, then the later")
	}
	for i, c := range both {
		if c.Fingerprint.Facts == nil {
			c.Fingerprint.Facts = map[string]string{}
		}
		doc.Series = append(doc.Series, reports.Series{Name: names[i], Tool: "decodegap probe", Source: c.When, Facts: c.Fingerprint.Facts, Points: []reports.SeriesPoint{}})
	}
	for _, fact := range facts {
		if err := compare.AddFact(doc.Series, fact); err != nil {
			return fmt.Errorf("compare: --fact: %w", err)
		}
	}
	doc.Comparison = *compare.Ceilings(both[0], both[1], o)
	return nil
}

// writeProbeChanges prints what became of each case.
func writeProbeChanges(w io.Writer, changes []reports.ProbeChange, width int) error {
	t := term.Table{Columns: []term.Column{{Title: "probe"}, {Title: "case", Shrink: true}, {Title: "by"},
		{Title: "B ÷ A", Align: term.Right}, {Title: "interval", Align: term.Right}, {Title: "margin", Align: term.Right}, {Title: "B is"}}}
	by := map[string]string{"": "–", "read_share": "share of read", "time_s": "time"}
	for _, c := range changes {
		row := []string{c.Probe, c.Case, by[c.Of], "–", "–", "–", c.Verdict}
		if c.Ratio != nil {
			row[3] = fmt.Sprintf("%.3f", *c.Ratio)
		}
		if c.Lo != nil && c.Hi != nil {
			row[4] = fmt.Sprintf("%.3f–%.3f", *c.Lo, *c.Hi)
		}
		if c.Margin != nil {
			row[5] = fmt.Sprintf("±%.1f %%", 100**c.Margin)
		}
		t.Rows = append(t.Rows, row)
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	first := true
	for _, c := range changes {
		if c.Why == "" {
			continue
		}
		if first {
			fmt.Fprintln(w)
			first = false
		}
		writeWrapped(w, strings.TrimSpace(c.Probe+" "+c.Case)+": "+c.Why, width, "")
	}
	fmt.Fprintln(w, "\nB ÷ A is of speeds: above 1, B is faster")
	return nil
}
