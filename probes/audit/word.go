package audit

import "strings"

// word is one word of a command after its quotes are taken off. What only a
// shell could fill in stays in text as "$NAME", "${NAME…}" or "$(…)" and is
// counted in refs.
type word struct {
	text   []byte
	at     []int32 // file offset of each byte of text
	start  int     // file offset of the word
	quoted bool    // part of it stood in quotes
	refs   int     // substitutions in it
	whole  bool    // it is one substitution and nothing else
	many   bool    // that substitution may become no word or several
	array  string  // the array whose elements it stands for
}

func (w *word) add(c byte, at int) {
	w.text = append(w.text, c)
	w.at = append(w.at, int32(at))
}

func (w *word) addText(s string, at int) {
	for i := range len(s) {
		w.add(s[i], at)
	}
}

func (w word) String() string { return string(w.text) }

// plain is the text of a word that stands unquoted and whole in the script,
// as reserved words and assignments must; empty otherwise.
func (w word) plain() string {
	if w.quoted || w.refs > 0 {
		return ""
	}
	return string(w.text)
}

// assignment splits NAME=value. The name must be a shell name; quotes may
// start only after it, which is not checked: `"A"=b` runs a command called A=b
// and nobody writes it.
func (w word) assignment() (name string, value word, ok bool) {
	name, _, ok = strings.Cut(string(w.text), "=")
	if !ok || !isName(name) {
		return "", word{}, false
	}
	n := len(name) + 1
	value = w
	value.text, value.at = w.text[n:], w.at[n:]
	value.whole = false
	return name, value, true
}

// flagLike says whether the word starts an option rather than a value: "-tp",
// "--tp", not "-", "-1" or "--".
func (w word) flagLike() bool {
	t := w.text
	if len(t) < 2 || t[0] != '-' {
		return false
	}
	if t[1] == '-' {
		return len(t) > 2 && isLetter(t[2])
	}
	return isLetter(t[1])
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// isName says whether s may name a shell variable.
func isName(s string) bool {
	if s == "" || len(s) > 200 || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return len(s) > 0
}
