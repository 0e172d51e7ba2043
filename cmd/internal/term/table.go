package term

import (
	"io"
	"strings"
)

// Align is where a column's text stands.
type Align int

// Text goes left and numbers right.
const (
	Left Align = iota
	Right
)

// Column is one column of a table. A column with Shrink may be cut with … when
// the table is wider than the output; the others never are, so that no number
// loses a digit.
type Column struct {
	Title  string
	Align  Align
	Shrink bool
}

// Table is rows under titles, aligned with two spaces between columns. A row
// may be shorter than the columns; missing cells are blank. A table whose
// titles are all empty has no head line.
type Table struct {
	Columns []Column
	Rows    [][]string
	Indent  int // cells before each line

	// Paint, if set, styles a cell that is cut and not yet padded; row -1 is
	// the head. It must not change how many cells the text takes.
	Paint func(row, column int, text string) string
}

const (
	gap       = 2 // cells between columns
	minShrink = 8 // cells a cut column keeps
)

// Write prints the table so that it fits width cells where shrinking allows
// it. Every cell is cleaned first; no line ends in blanks. The error is w's.
func (t Table) Write(w io.Writer, width int) error {
	cells, head := t.clean()
	widths := t.fit(cells, width)
	var b strings.Builder
	for i, row := range cells {
		number := i - 1
		if !head {
			number = i
		}
		b.WriteString(t.line(number, row, widths))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// clean is all lines, cleaned and squared, the titles first if there are any.
func (t Table) clean() (lines [][]string, head bool) {
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.Title
		head = head || c.Title != ""
	}
	if head {
		lines = append(lines, titles)
	}
	for _, row := range t.Rows {
		line := make([]string, len(t.Columns))
		for i := range line {
			if i < len(row) {
				line[i] = Clean(row[i])
			}
		}
		lines = append(lines, line)
	}
	return lines, head
}

// fit is the width of each column: its widest cell, less what must be taken
// from the widest shrinkable columns for the line to fit.
func (t Table) fit(lines [][]string, width int) []int {
	widths := make([]int, len(t.Columns))
	total := t.Indent + gap*max(0, len(t.Columns)-1)
	for i := range t.Columns {
		for _, line := range lines {
			widths[i] = max(widths[i], Width(line[i]))
		}
		total += widths[i]
	}
	for ; total > width; total-- {
		widest := -1
		for i, c := range t.Columns {
			if c.Shrink && widths[i] > max(minShrink, Width(c.Title)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

func (t Table) line(number int, cells []string, widths []int) string {
	var b strings.Builder
	blanks := t.Indent // owed before the next text, so that none trail
	for i, c := range t.Columns {
		if i > 0 {
			blanks += gap
		}
		text := Truncate(cells[i], widths[i])
		pad := widths[i] - Width(text)
		if text == "" {
			blanks += pad
			continue
		}
		if c.Align == Right {
			blanks += pad
			pad = 0
		}
		b.WriteString(strings.Repeat(" ", blanks))
		if t.Paint != nil {
			text = t.Paint(number, i, text)
		}
		b.WriteString(text)
		blanks = pad
	}
	return b.String()
}
