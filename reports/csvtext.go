package reports

import "strings"

// CSVText is a text for a CSV cell, on one line, that no spreadsheet takes for
// a formula: one that begins as a formula does is put behind an apostrophe
// (OWASP, "CSV injection"). Cells of numbers do not pass through it.
func CSVText(s string) string {
	s = OneLine(s, 0)
	first := strings.TrimLeft(s, " \u00a0\u3000")
	for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} { // some spreadsheets fold full-width forms
		if strings.HasPrefix(first, sign) {
			return "'" + s
		}
	}
	return s
}
