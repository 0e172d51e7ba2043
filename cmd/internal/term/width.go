package term

import "unicode"

// Width is the number of terminal cells s takes: combining marks take none,
// East Asian wide characters and emoji two, all others one.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case wide(r):
		return 2
	}
	return 1
}

// wide follows the blocks that Unicode's East Asian Width gives as W or F.
func wide(r rune) bool {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf,
		r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f,
		r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return true
	}
	return false
}

// Truncate shortens s to at most width cells, ending in … where it cuts.
func Truncate(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	used, cut := 0, 0
	for i, r := range s {
		if used+cells(r) > width-1 {
			break
		}
		used += cells(r)
		cut = i + len(string(r))
	}
	return s[:cut] + "…"
}
