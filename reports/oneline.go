package reports

import (
	"strings"
	"unicode"
)

// OneLine makes text that came from a file safe to print on one line of a
// terminal, a log or a table: line breaks and tabs become spaces, and control
// characters, direction overrides and invalid bytes become U+FFFD, so that no
// input can move the cursor, colour the screen or hide what it says. Text
// beyond limit runes is cut with an ellipsis; a limit of 0 keeps all of it.
func OneLine(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if limit > 0 && n == limit {
			b.WriteRune('…')
			break
		}
		n++
		switch {
		case r == '\n', r == '\r', r == '\t', r == '\u2028', r == '\u2029':
			r = ' '
		case unicode.Is(unicode.C, r):
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return b.String()
}
