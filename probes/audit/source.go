package audit

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
)

// Bounds on a launch file. Real ones are a few kilobytes.
const (
	maxBytes   = 1 << 20
	maxWords   = 1 << 16
	maxNesting = 64      // quotes inside substitutions, blocks inside blocks
	maxScripts = 4       // scripts quoted inside scripts
	maxSplices = 1 << 14 // array elements put in, over the whole file
	maxQuoted  = 64      // quoted texts read as scripts, over the whole file
)

// file is a launch file: its name for messages and where its lines start.
type file struct {
	name  string
	lines []int // offsets
}

func newFile(name string, data []byte) *file {
	f := &file{name: printable(name, 200), lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	return f
}

// position is the line and byte column, from 1, of an offset.
func (f *file) position(offset int) (line, col int) {
	line = sort.SearchInts(f.lines, offset+1)
	return line, offset - f.lines[line-1] + 1
}

func (f *file) errorf(offset int, format string, args ...any) error {
	line, col := f.position(offset)
	return fmt.Errorf("%s:%d:%d: %s", f.name, line, col, fmt.Sprintf(format, args...))
}

// source is shell text and where in the file its bytes stand: the whole file,
// or a script quoted in a word of it.
type source struct {
	text []byte
	at   []int32 // nil: text is the file
	end  int     // offset after the last byte
}

func (s source) offset(i int) int {
	switch {
	case i >= len(s.text):
		return s.end
	case s.at == nil:
		return i
	}
	return int(s.at[i])
}

// printable is s without what a terminal would act on, at most n runes.
func printable(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			continue
		}
		if n--; n < 0 {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
