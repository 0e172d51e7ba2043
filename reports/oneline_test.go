package reports

import "testing"

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"plain µs ✓", 0, "plain µs ✓"},
		{"a\nb\tc\r", 0, "a b c "},
		{"\x1b[31mred", 0, "�[31mred"},
		{"\u009b31m", 0, "�31m"},
		{"a\u202egnp.exe", 0, "a�gnp.exe"},
		{"bad\xffbyte", 0, "bad�byte"},
		{"line\u2028sep", 0, "line sep"},
		{"abcdef", 3, "abc…"},
		{"abc", 3, "abc"},
	} {
		if got := OneLine(c.in, c.limit); got != c.want {
			t.Errorf("OneLine(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
