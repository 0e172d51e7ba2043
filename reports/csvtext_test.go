package reports_test

import (
	"testing"

	"decodegap/reports"
)

func TestCSVText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"}, {"=1+1", "'=1+1"}, {"+1", "'+1"}, {"-2+3", "'-2+3"}, {"@SUM(A1)", "'@SUM(A1)"},
		{"\t=1", "' =1"}, {"\r\n=1", "'  =1"}, {" =1", "' =1"}, {"\u00a0=1", "'\u00a0=1"}, {"＝1", "'＝1"},
		{"\u3000＝1", "'\u3000＝1"}, {"a=b", "a=b"}, {"%", "%"}, {"", ""}, {"\x1b[31m", "�[31m"},
	} {
		if got := reports.CSVText(c.in); got != c.want {
			t.Errorf("CSVText(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
