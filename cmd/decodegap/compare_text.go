package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"decodegap/cmd/internal/term"
	"decodegap/reports"
)

// writeCompareText prints the series by letter, the table, the crossovers and
// whether all this is sound.
func writeCompareText(w io.Writer, doc *reports.CompareDocument, width int) error {
	head := term.Table{Columns: make([]term.Column, 4)}
	head.Columns[1].Shrink, head.Columns[3].Shrink = true, true
	for i, s := range doc.Series {
		source := s.Source
		if source == s.Name {
			source = ""
		}
		head.Rows = append(head.Rows, []string{letter(i), s.Name, s.Tool, source})
	}
	if err := head.Write(w, width); err != nil {
		return err
	}
	fmt.Fprintln(w)
	c := doc.Comparison
	table := func() error { return compareTable(doc).Write(w, width) }
	if len(c.Probes) > 0 {
		table = func() error { return writeProbeChanges(w, c.Probes, width) }
	}
	if err := table(); err != nil {
		return err
	}
	for _, r := range c.Rows {
		if causes := changed(r.Causes); len(causes) > 0 {
			r.Causes = append(wholeStep(r.Causes, len(doc.Series)), causes...)
			fmt.Fprintln(w)
			if err := causesTable(r, len(doc.Series)).Write(w, width); err != nil {
				return err
			}
			if first := causes[0]; first.Text != "" {
				writeWrapped(w, "largest: "+first.Cause+", above all "+term.Clean(first.Text), width, "")
			}
		}
	}
	if len(c.Crossovers) > 0 {
		fmt.Fprintln(w)
	}
	for _, x := range c.Crossovers {
		writeWrapped(w, x.Text, width, "")
	}
	fmt.Fprintln(w)
	if c.Comparable {
		writeWrapped(w, "comparable: what decides speed is known on every side and agrees", width, "")
		return nil
	}
	writeWrapped(w, "NOT COMPARABLE as they stand:", width, "")
	for _, r := range c.Reasons {
		writeWrapped(w, "- "+r, width, "  ")
	}
	return nil
}

// compareTable has the values of each series and, behind each but the first,
// its change and verdict.
func compareTable(doc *reports.CompareDocument) term.Table {
	rows := doc.Comparison.Rows
	points := slices.ContainsFunc(rows, func(r reports.CompareRow) bool { return r.Point != "" })
	rated := slices.ContainsFunc(rows, func(r reports.CompareRow) bool {
		return slices.ContainsFunc(r.OutputTokPerS, func(x *float64) bool { return x != nil })
	})
	t := term.Table{}
	if points {
		t.Columns = append(t.Columns, term.Column{Title: "point", Shrink: true})
	} else {
		t.Columns = append(t.Columns, term.Column{Title: "concurrency", Align: term.Right})
	}
	unit := "TPOT ms"
	if rated {
		unit = "tok/s"
	}
	for i := range doc.Series {
		t.Columns = append(t.Columns, term.Column{Title: letter(i) + " " + unit, Align: term.Right})
		if i > 0 {
			t.Columns = append(t.Columns, term.Column{Title: "change", Align: term.Right}, term.Column{Title: "verdict"})
		}
	}
	for _, r := range rows {
		cells := []string{fmt.Sprintf("%g", r.Concurrency)}
		if points {
			cells[0] = r.Point
		}
		for i := range doc.Series {
			cells = append(cells, compareValue(r, i, rated)+compareEfficiency(r, i))
			if i > 0 {
				cells = append(cells, compareChange(r.ChangePct[i]), strings.ReplaceAll(rowVerdict(r, i), "_", " "))
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// changed are the causes that changed as printed; none where only what no
// evidence explains did.
func changed(causes []reports.CauseChange) []reports.CauseChange {
	explained := false
	causes = slices.DeleteFunc(slices.Clone(causes), func(c reports.CauseChange) bool {
		moved := slices.ContainsFunc(c.ChangeMs, func(d *float64) bool { return d != nil && math.Abs(*d) >= 0.0005 })
		explained = explained || moved && c.Cause != "unattributed"
		return !moved
	})
	if !explained {
		return nil
	}
	return causes
}

// causesTable sets the ledgers of one operating point side by side.
func causesTable(r reports.CompareRow, sides int) term.Table {
	t := term.Table{Columns: []term.Column{{Title: "ms by cause, " + r.Point, Shrink: true}}}
	for i := range sides {
		t.Columns = append(t.Columns, term.Column{Title: letter(i), Align: term.Right})
		if i > 0 {
			t.Columns = append(t.Columns, term.Column{Title: "change", Align: term.Right})
		}
	}
	for _, c := range r.Causes {
		cells := []string{c.Cause}
		for i := range sides {
			cells = append(cells, causeMs("%.3f", c.Ms[i]))
			if i > 0 {
				cells = append(cells, causeMs("%+.3f", c.ChangeMs[i]))
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// wholeStep is what all causes add up to: the measured time. None where a side
// has no ledger.
func wholeStep(causes []reports.CauseChange, sides int) []reports.CauseChange {
	sum := reports.CauseChange{Cause: "measured", Ms: make([]*float64, sides), ChangeMs: make([]*float64, sides)}
	for _, c := range causes {
		for i := range sides {
			if i >= len(c.Ms) || c.Ms[i] == nil {
				return nil
			}
			if sum.Ms[i] == nil {
				sum.Ms[i], sum.ChangeMs[i] = new(float64), new(float64)
			}
			*sum.Ms[i] += *c.Ms[i]
			if i < len(c.ChangeMs) && c.ChangeMs[i] != nil {
				*sum.ChangeMs[i] += *c.ChangeMs[i]
			}
		}
	}
	return []reports.CauseChange{sum}
}

func causeMs(format string, ms *float64) string {
	if ms == nil {
		return "–"
	}
	return fmt.Sprintf(format, *ms)
}

// rowVerdict is series i's verdict against the first.
func rowVerdict(r reports.CompareRow, i int) string {
	if len(r.Verdicts) >= i {
		return r.Verdicts[i-1]
	}
	return r.Verdict
}

// compareValue is tok/s, or TPOT with its unit where the table is of tok/s and
// this series has none.
func compareValue(r reports.CompareRow, i int, rated bool) string {
	switch {
	case rated && r.OutputTokPerS[i] != nil:
		return fmt.Sprintf("%.2f", *r.OutputTokPerS[i])
	case i >= len(r.TPOTMs) || r.TPOTMs[i] == nil:
		return "–"
	case rated:
		return fmt.Sprintf("%.2f ms", *r.TPOTMs[i])
	}
	return fmt.Sprintf("%.2f", *r.TPOTMs[i])
}

// compareEfficiency is the efficiency against the layout floor, if known.
func compareEfficiency(r reports.CompareRow, i int) string {
	for _, e := range r.Efficiency {
		if e.Floor.Kind == "layout" && e.Ratio[i] != nil {
			return fmt.Sprintf(" (%.1f %% of floor)", 100**e.Ratio[i])
		}
	}
	return ""
}

func compareChange(pct *float64) string {
	if pct == nil {
		return "–"
	}
	return fmt.Sprintf("%+.1f %%", *pct)
}

// letter names a series in the table: A to Z, then by number.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}
