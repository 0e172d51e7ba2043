package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// WriteJSON prints one JSON document, indented, with a final newline. It reads
// back as the same document; but characters that a terminal obeys or that turn
// the direction of text, which names out of a file may hold, are written as
// escapes. The error is of figures that JSON does not have, or of w.
func WriteJSON(w io.Writer, doc any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := w.Write(escapeControls(text.Bytes()))
	return err
}

// escapeControls escapes what encoding/json leaves as it is: DEL, C1 controls
// and format characters. They stand in strings only, as all structure is ASCII.
func escapeControls(text []byte) []byte {
	if !bytes.ContainsFunc(text, obeyed) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case obeyed(r) && r > 0xffff:
			hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			out = fmt.Appendf(out, "\\u%04x\\u%04x", hi, lo)
		case obeyed(r):
			out = fmt.Appendf(out, "\\u%04x", r)
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

func obeyed(r rune) bool { return r >= 0x7f && unicode.In(r, unicode.Cc, unicode.Cf) }
