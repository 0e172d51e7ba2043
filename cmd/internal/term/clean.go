package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from a file or a server safe to print: escape sequences and
// control characters are removed, line breaks and tabs become one space, bidi
// overrides and other invisible format characters are dropped, and bytes that
// are not UTF-8 become U+FFFD. Text without any of these is returned as it is.
func Clean(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		if n := escape(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch {
		case breaks(r):
			b.WriteByte(' ')
		case !hidden(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

func clean(s string) bool {
	for _, r := range s {
		if breaks(r) || hidden(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// breaks says whether r would start a new line or column.
func breaks(r rune) bool {
	switch r {
	case '\t', '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// hidden says whether r is a control or format character: what moves the
// cursor, reorders text or cannot be seen.
func hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) }

// escape is the length of the terminal sequence s starts with, 0 if none: CSI,
// the string sequences (OSC, DCS, SOS, PM, APC) up to their terminator, and
// two-byte escapes, in both the 7-bit and the C1 spelling. An unfinished
// sequence runs to the end of s, as a terminal would take it.
func escape(s string) int {
	var kind byte
	var n int
	switch {
	case s[0] == 0x1b:
		if len(s) == 1 {
			return 1
		}
		kind, n = s[1], 2
	case len(s) > 1 && s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f && s[1] != 0x85:
		kind, n = s[1]-0x40, 2
	default:
		return 0
	}
	switch kind {
	case '[':
		for n < len(s) && s[n] >= 0x20 && s[n] <= 0x3f {
			n++
		}
		if n < len(s) && s[n] >= 0x40 && s[n] <= 0x7e {
			n++
		}
	case ']', 'P', 'X', '^', '_':
		for n < len(s) {
			switch {
			case s[n] == 0x07:
				return n + 1
			case s[n] == 0x1b && n+1 < len(s) && s[n+1] == '\\':
				return n + 2
			case s[n] == 0xc2 && n+1 < len(s) && s[n+1] == 0x9c:
				return n + 2
			}
			n++
		}
	default:
		// ESC with intermediates ("ESC ( B") or one byte; a C1 byte, or a
		// character that is no part of a sequence, stands alone.
		if s[0] != 0x1b {
			return n
		}
		n = 1
		for n < len(s) && s[n] >= 0x20 && s[n] <= 0x2f {
			n++
		}
		if n < len(s) && s[n] >= 0x30 && s[n] <= 0x7e {
			n++
		}
	}
	return n
}
