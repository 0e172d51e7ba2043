// Package markdown prints a run record for a pull request, a wiki or a job
// summary. It refuses to let a text of the record become markup: no link, no
// HTML, no mention, no broken table.
package markdown

import (
	"fmt"
	"io"
	"strings"

	"decodegap/reports"
)

// Renderer is the Markdown format.
var Renderer = reports.Renderer{
	Name: "md", Ext: ".md",
	Doc:    "GitHub-flavoured Markdown, for pull requests and job summaries",
	Render: Render,
}

// Render writes the report. The error is w's.
func Render(w io.Writer, run *reports.Run) error {
	var p printer
	p.page(reports.Compose(run))
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct{ b strings.Builder }

func (p *printer) f(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

func (p *printer) page(page *reports.Page) {
	h := page.Headline
	p.f("# %s\n\n", inline(page.Title.Model, "Decode report"))
	if rest := (reports.Title{Machine: page.Title.Machine, Engine: page.Title.Engine, Point: page.Title.Point}).Line(); rest != "" {
		p.f("%s\n\n", escape(rest))
	}
	p.f("## %s %s\n\n", escape(h.Number), escape(h.Of))
	p.f("%s\n", escape(h.Sentence))
	if len(h.Rows) > 0 {
		p.f("\n| | ms/token | tok/s | efficiency | |\n|:--|--:|--:|--:|:--|\n")
	}
	for _, r := range h.Rows {
		text := r.Text
		if r.Claim != "" {
			text = r.Claim + "; " + text
		}
		cells := []string{r.Name, r.Ms, r.TokS, r.Ratio, text}
		p.row(cells, r.Kind == reports.RowTotal || r.Kind == reports.RowStrong)
	}
	for _, s := range page.Sections {
		open := false
		for _, b := range s.Blocks {
			if _, drawing := b.(reports.Figure); drawing {
				continue
			}
			if !open {
				p.f("\n## %s\n", escape(s.Title))
				open = true
			}
			p.block(b)
		}
	}
}

func (p *printer) block(b reports.Block) {
	switch b := b.(type) {
	case reports.Paragraph:
		p.f("\n%s\n", escape(string(b)))
	case reports.Heading:
		p.f("\n### %s\n", escape(b.Title))
	case reports.List:
		p.list(b)
	case *reports.Table:
		p.table(b)
	case reports.Ladder:
		p.ladder(b)
	}
}

func (p *printer) list(l reports.List) {
	p.f("\n")
	for i, item := range l.Items {
		mark, indent := "-", "  "
		if l.Numbered {
			mark = fmt.Sprintf("%d.", i+1)
			indent = strings.Repeat(" ", len(mark)+1)
		}
		p.f("%s ", mark)
		if item.Tag != "" {
			p.f("**%s**: ", inline(item.Tag, "–"))
		}
		p.f("%s", inline(item.Text, "–"))
		if item.Value != "" {
			p.f(" (**%s**)", escape(item.Value))
		}
		p.f("\n")
		for _, note := range item.Notes {
			p.f("%s- %s\n", indent, inline(note, "–"))
		}
	}
}

func (p *printer) table(t *reports.Table) {
	if t.Title != "" {
		p.f("\n**%s**\n", escape(t.Title))
	}
	var titles, rules []string
	var columns []int
	for i, c := range t.Columns {
		if c.Told {
			continue
		}
		title := c.Title
		if c.Short != "" {
			title = c.Short + " " + title
		}
		rule := ":--"
		if c.Right {
			rule = "--:"
		}
		columns, titles, rules = append(columns, i), append(titles, escape(title)), append(rules, rule)
	}
	p.f("\n| %s |\n|%s|\n", strings.Join(titles, " | "), strings.Join(rules, "|"))
	for _, r := range t.Rows {
		cells := make([]string, len(columns))
		for n, i := range columns {
			if i < len(r.Cells) {
				cells[n] = r.Cells[i]
			}
		}
		p.row(cells, r.Kind == reports.RowStrong || r.Kind == reports.RowTotal || r.Kind == reports.RowWarn)
	}
	if t.Note != "" {
		p.f("\n%s\n", escape(t.Note))
	}
}

// row prints a table's row; strong ones have their first cell set apart.
func (p *printer) row(cells []string, strong bool) {
	for i, c := range cells {
		c = inline(c, "")
		if i == 0 && strong && c != "" {
			c = "**" + c + "**"
		}
		p.f("| %s ", c)
	}
	p.f("|\n")
}

func (p *printer) ladder(l reports.Ladder) {
	p.f("\n| ms | sum | share | what |\n|--:|--:|--:|:--|\n")
	for _, r := range l.Rows {
		what := inline(r.Name, "–")
		if r.Kind != "" {
			what = "**" + what + "**"
		}
		if r.Text != "" {
			what += ": " + inline(r.Text, "")
		}
		p.f("| %s | %s | %s | %s |\n", escape(r.Ms), escape(r.Sum), escape(r.Share), what)
	}
}
