package markdown

import "strings"

// inline is a text between markup: escaped, or the stand-in where nothing can
// be seen of it, since "****" would be a rule.
func inline(s, standIn string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return standIn
	}
	return escape(s)
}

// escape makes one line of text mean itself in GitHub-flavoured Markdown, at
// any place of a paragraph, list, heading or table cell. Beside markup, it
// undoes what GitHub makes of bare text: links from URLs, mentions from @name.
func escape(s string) string {
	var b strings.Builder
	r := []rune(s)
	for i, c := range r {
		switch c {
		case '\\', '`', '*', '[', ']', '|', '~':
			b.WriteByte('\\')
			b.WriteRune(c)
		case '_':
			if i > 0 && i+1 < len(r) && word(r[i-1]) && word(r[i+1]) {
				b.WriteRune(c) // inside a word it is no markup
			} else {
				b.WriteString("\\_")
			}
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@':
			b.WriteString("@<!-- -->")
		case ':':
			if i+2 < len(r) && r[i+1] == '/' && r[i+2] == '/' {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		case '.':
			if i >= 3 && strings.EqualFold(string(r[i-3:i]), "www") || numbered(r[:i]) && ends(r, i+1) {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		case '#', '+', '-', '=':
			if i == 0 && (ends(r, 1) || r[1] == c) {
				b.WriteByte('\\') // would start a heading, a list or a rule
			}
			b.WriteRune(c)
		case ')':
			if numbered(r[:i]) && ends(r, i+1) {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// ends says whether a word ends before position i.
func ends(r []rune, i int) bool { return i >= len(r) || r[i] == ' ' }

func word(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
}

// numbered says whether the line so far is nothing but digits, as before the
// point of a numbered list.
func numbered(before []rune) bool {
	for _, r := range before {
		if r < '0' || r > '9' {
			return false
		}
	}
	return len(before) > 0
}
