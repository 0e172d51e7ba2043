package gate

import (
	"fmt"
	"strings"

	"decodegap/reports"
)

// PolicyError is a mistake in a policy file. Line and Column count from 1, in
// characters; a Line of 0 means the file as a whole.
type PolicyError struct {
	File         string
	Line, Column int
	Text         string
	Excerpt      string // the line and a caret under the column; may be empty
}

func (e *PolicyError) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Excerpt == "" {
		return where + ": " + e.Text
	}
	return where + ": " + e.Text + "\n" + e.Excerpt
}

// excerptWidth is how many characters of a line an excerpt shows.
const excerptWidth = 100

// excerpt shows a line of source with a caret under column.
func excerpt(source string, line, column int) string {
	lines := strings.Split(source, "\n")
	if line < 1 || line > len(lines) || column < 1 {
		return ""
	}
	text := []rune(reports.OneLine(strings.TrimRight(lines[line-1], "\r"), 0))
	column = min(column, len(text)+1)
	start := 0
	if column > excerptWidth {
		start = column - excerptWidth/2
	}
	end := min(len(text), start+excerptWidth)
	label := fmt.Sprintf("%5d | ", line)
	return label + string(text[start:end]) + "\n" +
		strings.Repeat(" ", len(label)-2) + "| " + strings.Repeat(" ", column-1-start) + "^"
}
