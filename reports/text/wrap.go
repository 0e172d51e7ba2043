package text

import (
	"strings"
	"unicode"
)

// wrap breaks text into lines of at most width cells, at blanks where there
// are any and inside a word where there are none. There is always one line.
func wrap(s string, width int) []string {
	width = max(width, 2) // the widest character
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(s) {
		n := cells(word)
		if used > 0 && used+1+n <= width {
			line, used = line+" "+word, used+1+n
			continue
		}
		if used > 0 {
			lines = append(lines, line)
		}
		for cells(word) > width {
			at := cut(word, width)
			lines = append(lines, word[:at])
			word = word[at:]
		}
		line, used = word, cells(word)
	}
	if used > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// cut is where a word that is wider than width breaks: after a mark between
// its parts if there is one, else where the line ends.
func cut(s string, width int) int {
	used, mark := 0, 0
	for i, r := range s {
		if used += wide(r); used > width {
			if mark > 0 {
				return mark
			}
			return i
		}
		if strings.ContainsRune("/,:;", r) {
			mark = i + len(string(r))
		}
	}
	return len(s)
}

// cells is how many terminal cells s takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += wide(r)
	}
	return n
}

// wide is the cells of one character: none for combining marks, two for the
// blocks that Unicode's East Asian Width calls wide and for emoji.
func wide(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

func left(s string, width int) string  { return s + strings.Repeat(" ", max(0, width-cells(s))) }
func right(s string, width int) string { return strings.Repeat(" ", max(0, width-cells(s))) + s }
