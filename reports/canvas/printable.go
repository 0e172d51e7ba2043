package canvas

import (
	"strings"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/sfnt"
)

// Printable is s without anything that could change how its neighbours are
// read: line breaks and tabs become spaces, other control characters, invalid
// bytes and XML's forbidden code points become U+FFFD, and invisible format
// characters (bidirectional overrides, zero-width marks) are dropped.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r':
			return ' '
		case unicode.Is(unicode.Cf, r), r == 0x2028, r == 0x2029:
			return -1
		case unicode.IsControl(r), r == 0xFFFE, r == 0xFFFF, r&0xFFFE == 0xFFFE:
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// inFont is Printable with "?" for every character that the embedded fonts
// cannot draw; fpdf would print an empty box or, beyond the basic plane, fail.
func inFont(f *sfnt.Font, s string) string {
	var buf sfnt.Buffer
	return strings.Map(func(r rune) rune {
		if r > 0xFFFF {
			return '?'
		}
		if g, err := f.GlyphIndex(&buf, r); err != nil || g == 0 {
			return '?'
		}
		return r
	}, Printable(s))
}

// PDFText returns a function that makes any string safe for the fonts that
// Fonts registers: write every text of a PDF page through it.
func PDFText() (func(string) string, error) {
	f, err := sfnt.Parse(liberationsansregular.TTF)
	if err != nil {
		return nil, err
	}
	return func(s string) string { return inFont(f, s) }, nil
}
