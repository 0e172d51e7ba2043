package pdf

import (
	"math"
	"strings"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

// Sizes a table tries, largest first, before it is split into two.
var sizes = []face{{8, 10.6}, {7.5, 10}, {7, 9.4}, {6.5, 8.8}}

const (
	gap     = 9.0  // points between columns
	narrow  = 58.0 // the least that a short text is given
	wide    = 88.0 // and a long one
	padding = 3.2  // above and below a row
)

// table prints a table that never leaves the page: texts wrap, then the type
// gets smaller, then the columns go on in a table below.
func (p *printer) table(t *reports.Table) {
	columns := make([]int, len(t.Columns))
	for i := range columns {
		columns[i] = i
	}
	for part := 0; len(columns) > 0; part++ {
		g := p.grid(t, columns)
		p.rows(t, g, part)
		if len(g.columns) == len(columns) {
			break
		}
		// The first column names the rows, so the next part has it again.
		rest := columns[len(g.columns):]
		if columns[0] == 0 && len(g.columns) > 1 {
			columns = append([]int{0}, rest...)
		} else {
			columns = rest
		}
		p.y += 8
	}
	if t.Note != "" {
		p.y += 3
		p.paragraph(t.Note, small, muted)
	}
}

// grid is the columns that one part of a table shows, with their widths.
type grid struct {
	face    face
	columns []int
	widths  []float64
}

// grid finds the largest size at which the columns fit, else the first columns
// that do.
func (p *printer) grid(t *reports.Table, columns []int) grid {
	for _, f := range sizes {
		if widths, ok := p.widths(t, columns, f); ok {
			return grid{f, columns, widths}
		}
	}
	f := sizes[len(sizes)-1]
	for n := len(columns) - 1; n > 1; n-- {
		if widths, ok := p.widths(t, columns[:n], f); ok {
			return grid{f, columns[:n], widths}
		}
	}
	return grid{f, columns[:1], []float64{width}}
}

// widths shares the page among the columns. Numbers and short names get what
// they need; texts get what they need if it is less than an even share of the
// rest, and an even share otherwise. It fails where texts would be squeezed.
func (p *printer) widths(t *reports.Table, columns []int, f face) ([]float64, bool) {
	needs := make([]float64, len(columns))
	least := make([]float64, len(columns))
	for n, i := range columns {
		p.style(f, muted)
		for _, word := range strings.Fields(t.Columns[i].Title) {
			least[n] = max(least[n], p.measure(word))
		}
		needs[n] = p.measure(t.Columns[i].Title)
		for _, r := range t.Rows {
			if i >= len(r.Cells) {
				continue
			}
			p.style(f, cellTone(t, r, i))
			w := p.measure(r.Cells[i])
			needs[n] = max(needs[n], w)
			if t.Columns[i].Right || t.Columns[i].Whole && len(r.Cells[i]) <= 64 {
				least[n] = max(least[n], w)
			} else if w > 3*narrow {
				least[n] = max(least[n], wide)
			} else {
				least[n] = max(least[n], min(w, narrow))
			}
		}
	}
	room := width - gap*float64(len(columns)-1)
	sum := 0.0
	for n := range columns {
		sum += least[n]
	}
	if sum > room {
		return nil, false
	}
	out := make([]float64, len(columns))
	copy(out, least)
	for room -= sum; room > 0.01; { // hand out the rest evenly to those that still need it
		short := 0
		for n := range out {
			if out[n] < needs[n]-0.01 {
				short++
			}
		}
		if short == 0 {
			break
		}
		each := room / float64(short)
		for n := range out {
			if more := min(each, needs[n]-out[n]); more > 0 {
				out[n] += more
				room -= more
			}
		}
	}
	p.widen(t, columns, f, out, room)
	return out, true
}

// widen gives what room is left to groups whose name is wider than they are.
func (p *printer) widen(t *reports.Table, columns []int, f face, widths []float64, room float64) {
	p.style(f, plain)
	for n := 0; n < len(columns); {
		group, w := t.Columns[columns[n]].Group, -gap
		for n < len(columns) && t.Columns[columns[n]].Group == group {
			w += widths[n] + gap
			n++
		}
		if more := min(room, p.measure(group)+3-w); group != "" && more > 0 {
			widths[n-1] += more
			room -= more
		}
	}
}

// cellTone is how a cell is set.
func cellTone(t *reports.Table, r reports.Row, i int) tone {
	switch {
	case i < len(t.Columns) && t.Columns[i].Whole:
		return code
	case r.Kind == reports.RowStrong, r.Kind == reports.RowTotal:
		return strong
	case r.Kind == reports.RowWarn:
		return warn
	case r.Kind == reports.RowFloor && i == 0:
		return tone{color: canvas.C0}
	}
	return plain
}

// rows prints title, head and rows; the head stays with the first row and is
// repeated on every page.
func (p *printer) rows(t *reports.Table, g grid, part int) {
	title := t.Title
	if part > 0 {
		title += ", continued"
	}
	if h := p.height(t, g); h <= together {
		p.need(h)
	}
	if title != "" {
		p.need(small.lead + 5*g.face.lead)
		p.paragraph(title, small, muted)
	}
	p.tableHead(t, g)
	for _, r := range t.Rows {
		p.tableRow(t, g, r)
	}
}

// together is the height up to which a table is not broken over two pages.
const together = (bottom - top) / 2

// height is about what title, head and rows take.
func (p *printer) height(t *reports.Table, g grid) float64 {
	h := small.lead + 3*g.face.lead
	for _, r := range t.Rows {
		tallest := 1
		for n, i := range g.columns {
			if i < len(r.Cells) {
				p.style(g.face, cellTone(t, r, i))
				tallest = max(tallest, len(p.wrap(r.Cells[i], g.widths[n]+0.5)))
			}
		}
		if h += float64(tallest)*g.face.lead + 2*padding; h > together {
			return h
		}
	}
	return h
}

func (p *printer) tableHead(t *reports.Table, g grid) {
	p.style(g.face, muted)
	heads := make([][]string, len(g.columns))
	tallest := 1
	for n, i := range g.columns {
		heads[n] = p.wrap(t.Columns[i].Title, g.widths[n]+0.5)
		tallest = max(tallest, len(heads[n]))
	}
	p.need(float64(tallest+3) * g.face.lead)
	p.groups(t, g)
	p.y += 2
	for n := range g.columns {
		for l, line := range heads[n] {
			y := p.y + g.face.size + float64(tallest-len(heads[n])+l)*g.face.lead
			p.style(g.face, muted)
			p.cell(t, g, n, y, line)
		}
	}
	p.y += float64(tallest)*g.face.lead + 2
	p.rule(margin, p.y, p.span(g), canvas.Muted, 0.6)
}

// groups prints the names that stand above several columns.
func (p *printer) groups(t *reports.Table, g grid) {
	any := false
	for _, i := range g.columns {
		any = any || t.Columns[i].Group != ""
	}
	if !any {
		return
	}
	x := float64(margin)
	for n := 0; n < len(g.columns); {
		group, from := t.Columns[g.columns[n]].Group, x
		for n < len(g.columns) && t.Columns[g.columns[n]].Group == group {
			x += g.widths[n] + gap
			n++
		}
		if group != "" {
			w := x - gap - from
			p.style(g.face, plain)
			p.put(from+2, p.y+g.face.size, p.fit(group, w-2))
			p.rule(from+2, p.y+g.face.lead+1, w-2, canvas.Grid, 0.5)
		}
	}
	p.y += g.face.lead + 1
}

func (p *printer) span(g grid) float64 {
	w := gap * float64(len(g.widths)-1)
	for _, x := range g.widths {
		w += x
	}
	return w
}

// cell puts one line of the n-th column of the grid.
func (p *printer) cell(t *reports.Table, g grid, n int, y float64, s string) {
	x := float64(margin)
	for _, w := range g.widths[:n] {
		x += w + gap
	}
	if t.Columns[g.columns[n]].Right {
		p.putRight(x+g.widths[n], y, s)
	} else {
		p.put(x, y, s)
	}
}

// tableRow prints a row in one piece where a page can hold it, else over as
// many pages as it takes.
func (p *printer) tableRow(t *reports.Table, g grid, r reports.Row) {
	lines := make([][]string, len(g.columns))
	tallest := 1
	for n, i := range g.columns {
		if i < len(r.Cells) {
			p.style(g.face, cellTone(t, r, i))
			lines[n] = p.wrap(r.Cells[i], g.widths[n]+0.5)
			tallest = max(tallest, len(lines[n]))
		}
	}
	height := float64(tallest)*g.face.lead + 2*padding
	if r.Kind == reports.RowTotal {
		p.rule(margin, p.y, p.span(g), canvas.Fg, 0.6)
	}
	if p.y+height > bottom && p.y > top {
		p.newPage()
		p.tableHead(t, g)
	}
	for from := 0; from < tallest; {
		fits := max(1, int(math.Floor((bottom-p.y-2*padding)/g.face.lead)))
		to := min(tallest, from+fits)
		p.y += padding
		for n, i := range g.columns {
			for l := from; l < min(to, len(lines[n])); l++ {
				p.style(g.face, cellTone(t, r, i))
				p.cell(t, g, n, p.y+g.face.size+float64(l-from)*g.face.lead, lines[n][l])
			}
		}
		p.y += float64(to-from)*g.face.lead + padding
		if from = to; from < tallest {
			p.newPage()
			p.tableHead(t, g)
		}
	}
	p.rule(margin, p.y, p.span(g), canvas.Grid, 0.5)
}
