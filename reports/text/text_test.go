package text

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/reports"
)

// TestWidth: no line is wider than 80 cells or ends in blanks, whatever the
// record holds.
func TestWidth(t *testing.T) {
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
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := cells(line); n > lineWidth {
				t.Errorf("%s: %d cells: %s", f, n, line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s: blanks at the end: %q", f, line)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"one two three", 7, "one two|three"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"a abcdefgh b", 4, "a|abcd|efgh|b"},
		{"", 5, ""},
		{"   ", 5, ""},
		{"漢字漢字", 5, "漢字|漢字"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301|e\u0301"},
		{"漢", 1, "漢"},
	} {
		if got := strings.Join(wrap(c.in, c.width), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// TestColumns: numbers are never cut; what does not fit beside follows below,
// named.
func TestColumns(t *testing.T) {
	table := &reports.Table{Columns: []reports.Column{{Title: "name"}, {Title: "first", Right: true}, {Title: "second", Right: true}, {Title: "why"}}}
	table.Rows = []reports.Row{{Cells: []string{"row", strings.Repeat("1", 40), strings.Repeat("2", 40), "because"}}}
	var p printer
	p.table(table)
	for _, want := range []string{strings.Repeat("1", 40), "second " + strings.Repeat("2", 40) + " · why because"} {
		if !strings.Contains(p.b.String(), want) {
			t.Errorf("no %q in\n%s", want, p.b.String())
		}
	}
}
