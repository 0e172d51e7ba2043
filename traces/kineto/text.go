package kineto

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of what is kept of a string, and of all kept strings together before
// the table is started anew.
const (
	maxText   = 4 << 10
	maxDims   = 2 << 10
	maxIntern = 32 << 20
)

// interner gives equal strings one place in memory.
type interner struct {
	known map[string]string
	bytes int
}

// text is raw, a string as the file writes it, decoded, valid and bounded.
func (t *interner) text(raw []byte) string {
	if len(raw) > maxText {
		raw = raw[:maxText]
	}
	if s, ok := t.known[string(raw)]; ok {
		return s
	}
	s := string(raw)
	key := s
	if strings.IndexByte(s, '\\') >= 0 {
		s = string(unescape(raw))
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	t.keep(key, s)
	return s
}

// dims is raw JSON without its white space, "" if there is too much of it.
func (t *interner) dims(raw []byte) string {
	if s, ok := t.known[string(raw)]; ok {
		return s
	}
	key := string(raw)
	out := make([]byte, 0, len(raw))
	quoted := false
	for i, c := range raw {
		if c == '"' && (i == 0 || raw[i-1] != '\\') {
			quoted = !quoted
		}
		if c > ' ' || quoted {
			out = append(out, c)
		}
	}
	if len(out) > maxDims {
		out = nil
	}
	s := strings.ToValidUTF8(string(out), "\uFFFD")
	t.keep(key, s)
	return s
}

func (t *interner) keep(key, s string) {
	if t.known == nil || t.bytes > maxIntern {
		t.known, t.bytes = map[string]string{}, 0
	}
	t.known[key] = s
	t.bytes += len(key) + len(s) + 64
}

// unescape decodes JSON's escapes and leaves all others as they stand.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			continue
		}
		i++
		if k := strings.IndexByte(`"\/bfnrt`, raw[i]); k >= 0 {
			out = append(out, "\"\\/\b\f\n\r\t"[k])
			continue
		}
		if raw[i] != 'u' || !hex4(raw[i+1:]) {
			out = append(out, '\\', raw[i])
			continue
		}
		r := rune(unhex(raw[i+1:]))
		i += 4
		if utf16.IsSurrogate(r) {
			r2 := rune(utf8.RuneError)
			if rest := raw[i+1:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' && hex4(rest[2:]) {
				r2 = utf16.DecodeRune(r, rune(unhex(rest[2:])))
			}
			if r = r2; r != utf8.RuneError {
				i += 6
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func hex4(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	for _, c := range b[:4] {
		if bytes.IndexByte([]byte("0123456789abcdefABCDEF"), c) < 0 {
			return false
		}
	}
	return true
}

// unhex is the value of four hexadecimal digits.
func unhex(b []byte) (x uint32) {
	for _, c := range b[:4] {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		x = x<<4 | uint32(c)
	}
	return x
}
