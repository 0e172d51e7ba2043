package text

import (
	"strings"

	"decodegap/reports"
)

const (
	tableIndent = 2
	columnGap   = 2
	widestText  = 26 // cells of a text column before it wraps
)

// table prints what fits side by side; the columns that do not fit follow each
// row on lines of their own, named.
func (p *printer) table(t *reports.Table) {
	if t.Title != "" {
		p.wrapped("", t.Title, tableIndent)
	}
	columns := shown(t)
	titles := make([]string, len(columns))
	rows := make([][]string, len(t.Rows))
	for i, c := range columns {
		titles[i] = titleOf(t.Columns[c])
		for r := range t.Rows {
			rows[r] = append(rows[r], cell(t.Rows[r], c))
		}
	}
	widths := widthsOf(t, columns, titles, rows)
	beside := len(widths)
	p.row(titles, widths, t, columns)
	for r, cells := range rows {
		if t.Rows[r].Kind == reports.RowTotal {
			p.line(strings.Repeat(" ", tableIndent) + strings.Repeat("─", spread(widths)))
		}
		p.row(cells[:beside], widths, t, columns)
		var rest []string
		for i := beside; i < len(cells); i++ {
			if cells[i] != "" && cells[i] != "–" {
				rest = append(rest, titles[i]+" "+cells[i])
			}
		}
		if len(rest) > 0 {
			p.wrapped("", strings.Join(rest, " · "), tableIndent+4)
		}
	}
	if t.Note != "" {
		p.wrapped("", t.Note, tableIndent)
	}
}

// shown are the columns that the ladder above has not told already.
func shown(t *reports.Table) []int {
	var out []int
	for i, c := range t.Columns {
		if !c.Told {
			out = append(out, i)
		}
	}
	return out
}

func titleOf(c reports.Column) string {
	if c.Short != "" {
		return c.Short + " " + c.Title
	}
	return c.Title
}

func cell(r reports.Row, i int) string {
	if i < len(r.Cells) {
		return r.Cells[i]
	}
	return ""
}

// widthsOf gives as many columns a width as fit beside each other, at least
// one. Numbers take what they need; texts wrap, but not into a narrow column.
func widthsOf(t *reports.Table, columns []int, titles []string, rows [][]string) []int {
	room := lineWidth - tableIndent
	var widths, needs []int
	for i, c := range columns {
		need := cells(titles[i])
		for _, r := range rows {
			need = max(need, cells(r[i]))
		}
		gap := columnGap
		if i == 0 {
			gap = 0
		}
		width := need
		if !t.Columns[c].Right && !t.Columns[c].Whole {
			width = min(need, widestText)
		}
		if i > 0 && width+gap > room {
			break
		}
		width = min(width, room)
		room -= width + gap
		widths, needs = append(widths, width), append(needs, need)
	}
	for i, c := range columns[:len(widths)] { // what is left goes to texts that wrap
		if more := min(room, needs[i]-widths[i]); more > 0 && !t.Columns[c].Right {
			widths[i] += more
			room -= more
		}
	}
	return widths
}

func spread(widths []int) int {
	n := columnGap * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}

// row prints one row, as many lines as its tallest cell.
func (p *printer) row(texts []string, widths []int, t *reports.Table, columns []int) {
	lines := make([][]string, len(widths))
	tallest := 1
	for i, w := range widths {
		lines[i] = wrap(texts[i], w)
		tallest = max(tallest, len(lines[i]))
	}
	for n := range tallest {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", tableIndent))
		for i, w := range widths {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", columnGap))
			}
			s := ""
			if n < len(lines[i]) {
				s = lines[i][n]
			}
			if t.Columns[columns[i]].Right {
				b.WriteString(right(s, w))
			} else {
				b.WriteString(left(s, w))
			}
		}
		p.line(b.String())
	}
}
