package text

import (
	"fmt"
	"io"

	"decodegap/reports"
)

// mostItems is how many items of a list the summary shows.
const mostItems = 7

// Summary writes the report's first page for a terminal: headline, ladder,
// what to do next, what to mind. Tables, notes below items and the tail of
// long lists are left to the whole report. The error is w's.
func Summary(w io.Writer, run *reports.Run) error {
	page := reports.Compose(run)
	var sections []reports.Section
	for _, s := range page.Sections {
		if !s.First {
			continue
		}
		var blocks []reports.Block
		for _, b := range s.Blocks {
			switch b := b.(type) {
			case *reports.Table:
			case reports.List:
				blocks = append(blocks, shorten(b))
			default:
				blocks = append(blocks, b)
			}
		}
		s.Blocks = blocks
		sections = append(sections, s)
	}
	page.Sections = sections
	var p printer
	p.page(page)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// shorten keeps a list's first items and says how many more there are.
func shorten(l reports.List) reports.List {
	short := reports.List{Numbered: l.Numbered}
	for i, item := range l.Items {
		if i == mostItems {
			short.Items = append(short.Items, reports.Item{Text: fmt.Sprintf("… and %d more in the whole report", len(l.Items)-mostItems)})
			break
		}
		item.Notes = nil
		short.Items = append(short.Items, item)
	}
	return short
}
