package reports

import (
	"fmt"
	"slices"
	"strings"
)

// gap is the waterfall and the ledger of a point, or why there is none.
func gap(run *Run, point int) []Block {
	if point < 0 {
		return nil
	}
	pt := &run.Points[point]
	if pt.Ledger == nil {
		if pt.Measured == nil {
			return []Block{Paragraph("There is no measured time to explain. Give one with --measured or --bench.")}
		}
		return []Block{Paragraph("The record holds no ledger for this point.")}
	}
	return []Block{ladder(pt, point), ledgerTable(pt.Ledger)}
}

// rungs are the ledger's rungs in ladder order, the unattributed last and
// always there.
func rungs(l *Ledger) []Rung {
	out := slices.Clone(l.Rungs)
	slices.SortStableFunc(out, func(a, b Rung) int { return slices.Index(Causes, a.Cause) - slices.Index(Causes, b.Cause) })
	if len(out) == 0 || out[len(out)-1].Cause != "unattributed" {
		out = append(out, Rung{Cause: "unattributed", Text: "the causes above add up to the measured time"})
	}
	return out
}

func rungName(r *Rung) string {
	return joined(" · ", r.Cause, name(component(r)))
}

// component is where a rung's time goes; "other" places it nowhere.
func component(r *Rung) string {
	if r.Component == "other" {
		return ""
	}
	return r.Component
}

func ladder(pt *RunPoint, point int) Ladder {
	l := pt.Ledger
	share := func(ms float64) string { return percent(ms / l.MeasuredMs) }
	out := Ladder{Point: point, Rows: []Step{{Ms: micros(l.FloorMs), Sum: micros(l.FloorMs), Share: share(l.FloorMs),
		Name: floorName(l.Floor), Text: ladderFloor(pt, l), Kind: RowFloor}}}
	sum := l.FloorMs
	for _, r := range rungs(l) {
		sum += r.Ms
		s := Step{Ms: signed(r.Ms), Sum: micros(sum), Share: share(r.Ms), Name: rungName(&r), Text: text(r.Text)}
		if r.Cause == "unattributed" {
			s.Kind = RowWarn
			s.Name = joined(" · ", "UNATTRIBUTED", name(component(&r)))
		}
		out.Rows = append(out.Rows, s)
	}
	return Ladder{Point: point, Rows: append(out.Rows, Step{Ms: "= " + micros(l.MeasuredMs), Share: share(l.MeasuredMs),
		Name: "measured", Kind: RowTotal})}
}

func ladderFloor(pt *RunPoint, l *Ledger) string {
	if f := pt.Floor(l.Floor); f != nil {
		return floorText(pt, l.Floor, f)
	}
	return ""
}

func ledgerTable(l *Ledger) *Table {
	t := &Table{ID: "ledger", Ordered: true, Title: "The ledger: ms per token, from the floor to the measured time", Columns: []Column{
		{Title: "cause"}, {Title: "component"}, {Title: "ms", Right: true}, {Title: "sum", Right: true, Told: true},
		{Title: "lo to hi", Right: true}, {Title: "what", Told: true}, {Title: "evidence"},
	}}
	t.Rows = append(t.Rows, Row{Kind: RowFloor, Cells: []string{l.Floor.Kind + " floor", absent, micros(l.FloorMs), micros(l.FloorMs),
		absent, "at " + l.Floor.Basis + " ceilings", "the floor's own table below"}})
	sum := l.FloorMs
	for _, r := range rungs(l) {
		sum += r.Ms
		row := Row{Cells: []string{r.Cause, orAbsent(name(r.Component)), signed(r.Ms), micros(sum), interval(&r), orAbsent(r.Text), orAbsent(r.Evidence)}}
		if r.Cause == "unattributed" {
			row.Kind = RowWarn
			row.Cells[5] = joined(": ", percent(r.Ms/l.MeasuredMs)+" of the measured time", text(r.Text))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, Row{Kind: RowTotal, Cells: []string{"measured", absent, micros(l.MeasuredMs), micros(l.MeasuredMs), absent, absent, absent}})
	if l.Closes {
		t.Note = "Floor and rungs add up to the measured time to 1 μs."
	}
	return t
}

// interval is a rung's range. Ends that meet state none: that is not the same
// as being exact.
func interval(r *Rung) string {
	if r.LoMs == r.HiMs {
		return absent
	}
	return micros(r.LoMs) + " to " + micros(r.HiMs)
}

// levers are the record's, in its order.
func levers(run *Run) Block {
	if len(run.Levers) == 0 {
		return Paragraph("No lever: nothing in this record bounds what a change could win back.")
	}
	out := List{Numbered: true}
	for _, l := range run.Levers {
		item := Item{Text: text(l.Change), Value: worth(&l)}
		if l.Evidence != "" {
			item.Notes = []string{text(l.Evidence)}
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func worth(l *Lever) string {
	switch {
	case l.Ms == nil:
		return "not bounded yet"
	case l.LoMs != nil && *l.LoMs != 0 && *l.LoMs != *l.Ms:
		return roughly(*l.LoMs) + " to " + roughly(*l.Ms) + " ms"
	}
	return "≤ " + roughly(*l.Ms) + " ms"
}

// severities in the order they are shown.
var severities = []string{"high", "medium", "low", "note"}

// mind is what may decide the matter: findings of high severity, what changes
// how the numbers must be read, and the other findings.
func mind(run *Run, pt *RunPoint) Block {
	var out List
	if pt != nil {
		for _, e := range pt.Efficiency {
			if e.Ratio > 1 {
				out.Items = append(out.Items, Item{Tag: "check", Warn: true, Text: fmt.Sprintf(
					"The measured time is below the %s (%s): model, batch, speculation or hardware of the two differ, and no conclusion may be drawn.",
					floorName(e.Floor), percent(e.Ratio))})
				break
			}
		}
	}
	findings := slices.Clone(run.Findings)
	slices.SortStableFunc(findings, func(a, b Finding) int { return severity(a.Severity) - severity(b.Severity) })
	high := 0
	for high < len(findings) && severity(findings[high].Severity) == 0 {
		high++
	}
	out.Items = append(out.Items, findingItems(findings[:high])...)
	for _, w := range run.Warnings {
		out.Items = append(out.Items, Item{Tag: "reading", Text: text(w.Text), Warn: true})
	}
	out.Items = append(out.Items, findingItems(findings[high:])...)
	return out
}

func findingItems(findings []Finding) []Item {
	var out []Item
	for _, f := range findings {
		item := Item{Tag: name(f.Severity), Text: text(f.Text), Warn: f.Severity == "high"}
		if f.Advice != "" {
			item.Notes = append(item.Notes, "do: "+text(f.Advice))
		}
		if f.Cost != "" {
			item.Notes = append(item.Notes, "others measured: "+text(f.Cost))
		}
		if f.Where != "" || f.Check != "" {
			item.Notes = append(item.Notes, joined(" · ", text(f.Where), "check "+name(f.Check)))
		}
		out = append(out, item)
	}
	return out
}

func severity(s string) int {
	if i := slices.Index(severities, s); i >= 0 {
		return i
	}
	return len(severities)
}

// sentence ends a text of the record as a sentence.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}
