package html

import (
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"

	"decodegap/reports"
	"decodegap/reports/figures"
)

// functions are what page.html calls.
func functions(run *reports.Run) template.FuncMap {
	return template.FuncMap{
		"kind":   kind,
		"figure": func(b reports.Block) (template.HTML, error) { return drawing(run, b) },
		"text":   func(p reports.Paragraph) string { return string(p) },
		"groups": groups,
		"body":   func(t *reports.Table) []reports.Row { return part(t, false) },
		"foot":   func(t *reports.Table) []reports.Row { return part(t, true) },
		"column": column,
		"cell":   cell,
		"bar":    bar,
		"inc":    func(i int) int { return i + 1 },
	}
}

// kind names the template that prints a block.
func kind(b reports.Block) string {
	switch b.(type) {
	case reports.Paragraph:
		return "paragraph"
	case reports.Heading:
		return "heading"
	case reports.List:
		return "list"
	case *reports.Table:
		return "table"
	case reports.Ladder:
		return "ladder"
	}
	return "figure"
}

// drawing is the inline SVG of a block; empty where there is none. The canvas
// has escaped every text in it.
func drawing(run *reports.Run, b reports.Block) (template.HTML, error) {
	f := figures.Of(run, b)
	if f == nil {
		return "", nil
	}
	svg, err := f.SVG()
	if err != nil {
		return "", err
	}
	caption := template.HTMLEscapeString(f.Title)
	return template.HTML(`<figure id="` + template.HTMLEscapeString(f.ID) + `"><figcaption>` + caption +
		`</figcaption><div class="scroll" tabindex="0" role="group" aria-label="` + caption + `">` + svg + `</div></figure>`), nil
}

// group is a run of columns below one name.
type group struct {
	Title string
	Span  int
}

// groups is the upper row of titles; none where no column has a group.
func groups(t *reports.Table) []group {
	var out []group
	any := false
	for _, c := range t.Columns {
		any = any || c.Group != ""
		if n := len(out); n > 0 && out[n-1].Title == c.Group {
			out[n-1].Span++
		} else {
			out = append(out, group{c.Group, 1})
		}
	}
	if !any {
		return nil
	}
	return out
}

// part is the table's rows without its totals, or the totals alone: they stay
// at the foot however the rows are sorted.
func part(t *reports.Table, totals bool) []reports.Row {
	var out []reports.Row
	for _, r := range t.Rows {
		if (r.Kind == reports.RowTotal) == totals {
			out = append(out, r)
		}
	}
	return out
}

// column is the class of a table's i-th column.
func column(t *reports.Table, i int) string {
	if i < len(t.Columns) && t.Columns[i].Right {
		return "n"
	}
	if i < len(t.Columns) && t.Columns[i].Whole {
		return "code"
	}
	return "t"
}

// A text of at most unbroken runes stays on one line; one of more than running
// is a sentence, and gets room for one.
const (
	unbroken = 26
	running  = 36
)

// cell is the class of a cell.
func cell(t *reports.Table, i int, s string) string {
	class := column(t, i)
	switch n := utf8.RuneCountInString(s); {
	case class == "t" && n <= unbroken:
		return "t id"
	case class == "t" && n > running:
		return "t say"
	}
	return class
}

// bar is a headline row's time as a share of the longest, for a bar's width.
func bar(rows []reports.HeadRow, r reports.HeadRow) string {
	longest := 0.0
	for _, other := range rows {
		longest = max(longest, other.Value)
	}
	if r.Value <= 0 || longest <= 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%.2f", max(0.4, 100*r.Value/longest)), ".00") + "%"
}
