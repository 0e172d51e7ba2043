// Package text prints a run record for a terminal or a log: plain characters,
// at most 80 cells a line, no colour. It refuses to pass anything on that
// could move a cursor or hide what stands beside it, and to cut a number.
package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"decodegap/reports"
)

// Renderer is the text format.
var Renderer = reports.Renderer{
	Name: "text", Ext: ".txt",
	Doc:    "plain text of 80 columns, for terminals and logs",
	Render: Render,
}

// lineWidth is the widest line printed, in terminal cells.
const lineWidth = 80

// Render writes the report. The error is w's.
func Render(w io.Writer, run *reports.Run) error {
	var p printer
	p.page(reports.Compose(run))
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct{ b strings.Builder }

// line prints one line without trailing blanks.
func (p *printer) line(s string) {
	p.b.WriteString(strings.TrimRight(s, " "))
	p.b.WriteByte('\n')
}

// wrapped prints text between two margins; the first line starts with head.
func (p *printer) wrapped(head, text string, indent int) {
	lines := wrap(text, lineWidth-indent)
	for i, l := range lines {
		if i == 0 {
			p.line(head + strings.Repeat(" ", max(0, indent-cells(head))) + l)
		} else {
			p.line(strings.Repeat(" ", indent) + l)
		}
	}
}

func (p *printer) page(page *reports.Page) {
	p.title(page.Title)
	p.line("")
	p.wrapped("  "+page.Headline.Number+"  ", page.Headline.Of, 4+cells(page.Headline.Number))
	p.wrapped("", page.Headline.Sentence, 2)
	p.headRows(page.Headline.Rows)
	for _, s := range page.Sections {
		if !slices.ContainsFunc(s.Blocks, printed) {
			continue
		}
		p.line("")
		p.line("")
		p.line(strings.ToUpper(s.Title))
		p.line(strings.Repeat("─", cells(s.Title)))
		first := true
		for _, b := range s.Blocks {
			if printed(b) {
				p.block(b, first)
				first = false
			}
		}
	}
}

// title fills lines with whole parts where they fit.
func (p *printer) title(t reports.Title) {
	line := ""
	for _, part := range []string{t.Model, t.Machine, t.Engine, t.Point} {
		switch {
		case part == "":
		case line == "":
			line = part
		case cells(line)+3+cells(part) <= lineWidth:
			line += " · " + part
		default:
			p.wrapped("", line, 0)
			line = part
		}
	}
	p.wrapped("", line, 0)
}

func (p *printer) headRows(rows []reports.HeadRow) {
	if len(rows) > 0 {
		p.line("")
	}
	var name, ms, tok, ratio int
	for _, r := range rows {
		name, ms, tok, ratio = max(name, cells(r.Name)), max(ms, cells(r.Ms)), max(tok, cells(r.TokS)), max(ratio, cells(r.Ratio))
	}
	for _, r := range rows {
		msUnit, tokUnit := " ms", " tok/s"
		if r.Ms == "–" {
			msUnit, tokUnit = "   ", "      "
		}
		head := "  " + left(r.Name, name) + "  " + right(r.Ms, ms) + msUnit + "  " + right(r.TokS, tok) + tokUnit + "  " + right(r.Ratio, ratio)
		text := r.Text
		if r.Claim != "" {
			text = r.Claim + "; " + text
		}
		if indent := cells(head) + 2; indent <= 56 {
			p.wrapped(head, text, indent)
		} else { // figures of a strange size leave no room beside them
			p.line(head)
			p.wrapped("", text, 6)
		}
	}
}

// printed says whether a block has a form in text; drawings have none.
func printed(b reports.Block) bool {
	_, drawing := b.(reports.Figure)
	return !drawing
}

func (p *printer) block(b reports.Block, first bool) {
	switch b := b.(type) {
	case reports.Paragraph:
		if !first {
			p.line("")
		}
		p.wrapped("", string(b), 2)
	case reports.Heading:
		p.line("")
		p.wrapped("", b.Title, 0)
	case reports.List:
		if !first {
			p.line("")
		}
		p.list(b)
	case *reports.Table:
		if !first {
			p.line("")
		}
		p.table(b)
	case reports.Ladder:
		p.ladder(b)
	}
}

// list prints items with their tags or numbers, and their notes below.
func (p *printer) list(l reports.List) {
	indent := 4
	for _, item := range l.Items {
		if item.Tag != "" && cells(item.Tag) <= 14 {
			indent = max(indent, cells(item.Tag)+4)
		}
	}
	value := 0
	for _, item := range l.Items {
		value = max(value, min(cells(item.Value), 20))
	}
	if value > 0 {
		indent = 2 + len(fmt.Sprint(len(l.Items))) + 2 + value + 2
	}
	for i, item := range l.Items {
		head, text := "  ·", item.Text
		switch {
		case l.Numbered:
			head = "  " + right(fmt.Sprint(i+1), len(fmt.Sprint(len(l.Items))))
		case item.Tag != "" && cells(item.Tag)+4 <= indent:
			head = "  " + item.Tag
		case item.Tag != "":
			text = item.Tag + ": " + text
		}
		switch {
		case item.Value != "" && cells(item.Value) <= value:
			head += "  " + item.Value
		case item.Value != "":
			text = item.Value + ": " + text
		}
		p.wrapped(head, text, max(indent, cells(head)+1))
		for _, note := range item.Notes {
			p.wrapped("", note, min(indent, 24)+2)
		}
	}
}

// ladder prints the running sum down to the measured time.
func (p *printer) ladder(l reports.Ladder) {
	ms, sum, share := cells("ms"), cells("sum"), cells("share")
	for _, r := range l.Rows {
		ms, sum, share = max(ms, cells(r.Ms)), max(sum, cells(r.Sum)), max(share, cells(r.Share))
	}
	p.line("  " + right("ms", ms) + "  " + right("sum", sum) + "  " + right("share", share))
	for _, r := range l.Rows {
		if r.Kind == reports.RowTotal {
			p.line("  " + strings.Repeat("─", ms+sum+share+4) + "─╂─")
		}
		text := r.Name
		if r.Text != "" {
			text += ": " + r.Text
		}
		head := "  " + right(r.Ms, ms) + "  " + right(r.Sum, sum) + "  " + right(r.Share, share) + " ┃ "
		rest := strings.Repeat(" ", cells(head)-3) + " ┃ "
		if cells(head) > 50 {
			p.line(head)
			head, rest = "      ", "      "
		}
		for i, line := range wrap(text, lineWidth-cells(head)) {
			if i == 0 {
				p.line(head + line)
			} else {
				p.line(rest + line)
			}
		}
	}
}
