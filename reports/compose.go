package reports

import "fmt"

// Compose puts the record into words. It computes no figure: it picks, orders
// and prints what the record holds, and prints "–" for what it does not.
func Compose(run *Run) *Page {
	primary := Primary(run)
	p := &Page{Title: title(run, primary), Headline: headline(run, primary)}
	add := func(id, title string, first bool, blocks ...Block) {
		var kept []Block
		for _, b := range blocks {
			if t, ok := b.(*Table); ok && (t == nil || len(t.Rows) == 0) {
				continue
			}
			if l, ok := b.(Ladder); ok && len(l.Rows) == 0 {
				continue
			}
			if s, ok := b.(Paragraph); ok && s == "" {
				continue
			}
			if l, ok := b.(List); ok && len(l.Items) == 0 {
				continue
			}
			kept = append(kept, b)
		}
		if len(kept) > 0 {
			p.Sections = append(p.Sections, Section{ID: id, Title: title, First: first, Blocks: kept})
		}
	}
	var pt *RunPoint
	if primary >= 0 {
		pt = &run.Points[primary]
	}
	add("gap", "Where the time goes", true, gap(run, primary)...)
	add("next", "Next, by what it can be worth", true, levers(run))
	add("mind", "Mind", true, mind(run, pt))
	if pt != nil {
		add("trace", "The traced step", false, traced(run, primary)...)
		add("floors", "Floors", false, floorTable(pt))
		add("attainable", "The attainable step", false, stepTable(pt.Step))
		add("components", "The step, component by component", false, components(pt, primary)...)
		add("worth", "What would lower the floor", false, worthTable(pt))
	}
	add("assumptions", "Floors under other assumptions", false, assumptions(run)...)
	add("points", "All operating points", false, points(run, primary)...)
	add("series", "Benchmark series", false, series(run)...)
	add("records", "Best publicly known", false, records(run)...)
	add("provenance", "Where the numbers come from", false, provenance(run)...)
	add("method", "What each number means", false, method()...)
	return p
}

// Primary is the index of the point that the first page is about: the first
// with a ledger, else the first; -1 where the record has none.
func Primary(run *Run) int {
	for i := range run.Points {
		if run.Points[i].Ledger != nil {
			return i
		}
	}
	return min(0, len(run.Points)-1)
}

// longest bounds, in runes, what a text of the record may take in a report.
const (
	longName = 120
	longText = 1200
)

func name(s string) string { return OneLine(s, longName) }
func text(s string) string { return OneLine(s, longText) }

// orAbsent prints a text of the record, or that it holds none.
func orAbsent(s string) string {
	if s = text(s); s == "" {
		return absent
	}
	return s
}

// count prints a number with its noun: "1 request", "4 requests".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", whole(int64(n)), noun)
}
