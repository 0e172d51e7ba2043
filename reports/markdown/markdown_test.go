package markdown

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"decodegap/reports"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain moe.experts q_a 5.4 %", "plain moe.experts q_a 5.4 %"},
		{"<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"},
		{"a|b `c` *d* _e_ ~f~", "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\~f\\~"},
		{"[x](javascript:1)", "\\[x\\](javascript:1)"},
		{"&lt; \\", "&amp;lt; \\\\"},
		{"see http://evil.example", "see http\\://evil.example"},
		{"www.evil.example", "www\\.evil.example"},
		{"@everyone", "@<!-- -->everyone"},
		{"# title", "\\# title"}, {"## title", "\\## title"}, {"#1", "#1"},
		{"- item", "\\- item"}, {"--flag", "\\--flag"}, {"-2 ms", "-2 ms"}, {"+1.228", "+1.228"}, {"+ item", "\\+ item"},
		{"1. one", "1\\. one"}, {"12) two", "12\\) two"}, {"1.5 ms", "1.5 ms"},
		{"===", "\\==="}, {"= 95.140", "\\= 95.140"}, {"> quote", "&gt; quote"},
		{"", ""},
	} {
		if got := escape(c.in); got != c.want {
			t.Errorf("escape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestTables: every row of a table has as many cells as its head, whatever the
// cells hold.
func TestTables(t *testing.T) {
	bar := regexp.MustCompile(`(^|[^\\])(\\\\)*\|`)
	files, err := filepath.Glob("../../testdata/runs/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d records: %v", len(files), err)
	}
	for _, f := range files {
		run, err := reports.ReadRun(f)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Render(&b, run); err != nil {
			t.Fatal(err)
		}
		tables, want := 0, 0
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "|") {
				want = 0
				continue
			}
			// Bars that touch are found one at a time.
			n := len(bar.FindAllString(strings.ReplaceAll(line, "|", "| "), -1))
			if want == 0 {
				want, tables = n, tables+1
			}
			if n != want {
				t.Errorf("%s: %d bars, expected %d: %s", f, n, want, line)
			}
		}
		if tables < 3 {
			t.Errorf("%s: %d tables, the check sees nothing", f, tables)
		}
	}
}
