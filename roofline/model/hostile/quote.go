package hostile

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quote writes a name from a file so that it is safe to print and short.
func Quote[T string | []byte](name T) string {
	s := string(name)
	if len(s) > 120 {
		return strconv.Quote(s[:120]) + "..."
	}
	if strings.ContainsRune(s, utf8.RuneError) { // it looks like damage of ours
		return strconv.QuoteToASCII(s)
	}
	return strconv.Quote(s)
}

// Shown is the path of a file, in quotes only if it would not be safe to
// print without. Names in a folder may come from anywhere.
func Shown(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return path
	}
	return strconv.Quote(path)
}
