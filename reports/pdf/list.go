package pdf

import (
	"fmt"

	"decodegap/reports"
	"decodegap/reports/chart"
	"decodegap/reports/figures"
)

// list prints items with a tag or number on the left and a worth on the right.
func (p *printer) list(l reports.List) {
	left, right := 78.0, 0.0
	if l.Numbered {
		left = 18
	}
	for _, item := range l.Items {
		if item.Value != "" {
			right = 96
		}
	}
	for i, item := range l.Items {
		if i > 0 {
			p.y += 5
		}
		p.need(body.lead + small.lead*float64(min(len(item.Notes), 2)))
		y, page := p.y, p.doc.PageNo()
		text := item.Text
		if text == "" {
			text = "–"
		}
		if l.Numbered {
			p.style(body, accent)
			p.put(margin, y+body.size, fmt.Sprint(i+1))
		} else if item.Tag != "" {
			t := muted
			if item.Warn {
				t = warn
				t.bold = true
			}
			p.style(small, t)
			p.put(margin, y+body.size, p.fit(item.Tag, left-6))
		}
		if item.Value != "" {
			p.style(body, strong)
			p.putRight(margin+width, y+body.size, p.fit(item.Value, right))
		}
		p.column(text, margin+left, width-left-right-10, body, plain)
		for _, note := range item.Notes {
			p.column(note, margin+left, width-left-right-10, small, muted)
		}
		if p.doc.PageNo() == page {
			p.y = max(p.y, y+body.lead)
		}
	}
}

// figure draws a block, or prints a ladder's rows where it cannot be drawn.
func (p *printer) figure(b reports.Block) {
	f := figures.Of(p.run, b)
	if f == nil {
		if l, ok := b.(reports.Ladder); ok {
			p.table(ladderTable(l))
		}
		return
	}
	w, h := figureSize(f)
	p.need(h + small.lead + 6)
	p.style(small, muted)
	p.put(margin, p.y+small.size, f.Title)
	p.y += small.lead + 3
	if _, err := f.DrawPDF(p.doc, margin, p.y, w); err != nil {
		p.doc.SetError(err)
		return
	}
	p.y += h
}

// figureSize is a drawing's size on the page: as wide as the text, unless it
// would be too tall.
func figureSize(f *chart.Figure) (w, h float64) {
	w = width
	h = w * float64(f.Height/f.Width)
	if most := float64(bottom - top - 20); h > most {
		w, h = w*most/h, most
	}
	return w, h
}

func ladderTable(l reports.Ladder) *reports.Table {
	t := &reports.Table{Title: "From floor to measured", Columns: []reports.Column{
		{Title: "ms", Right: true}, {Title: "sum", Right: true}, {Title: "share", Right: true}, {Title: "what"}}}
	for _, r := range l.Rows {
		what := r.Name
		if r.Text != "" {
			what += ": " + r.Text
		}
		t.Rows = append(t.Rows, reports.Row{Kind: r.Kind, Cells: []string{r.Ms, r.Sum, r.Share, what}})
	}
	return t
}
