package term

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "GLM-5 ≥ 5.13 µs, Δ η –", "GLM-5 ≥ 5.13 µs, Δ η –"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"title, string terminator", "a\x1b]0;owned\x1b\\b", "ab"},
		{"hyperlink", "\x1b]8;;http://x/\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"device control", "a\x1bP1$r0m\x1b\\b", "ab"},
		{"8-bit CSI", "a\u009b31mb", "ab"},
		{"8-bit OSC", "a\u009d0;x\u009cb", "ab"},
		{"charset", "a\x1b(Bb", "ab"},
		{"reset", "a\x1bcb", "ab"},
		{"unfinished CSI", "a\x1b[31", "a"},
		{"unfinished OSC", "a\x1b]0;rest of the line", "a"},
		{"lone escape", "a\x1b", "a"},
		{"nested", "\x1b[\x1b[31mx", "x"},
		{"line breaks", "a\r\nb\tc\u2028d\u0085e", "a  b c d e"},
		{"backspace, bell, delete", "pass\b\b\b\bfail\a\x7f", "passfail"},
		{"bidi", "a\u202eb\u2066c\u200fd", "abcd"},
		{"zero width", "a\u200bb\ufeffc", "abc"},
		{"tag characters", "a\U000e0041b", "ab"},
		{"invalid UTF-8", "a\xffb", "a\ufffdb"},
		{"lone C1 byte", "a\x9bb", "a\ufffdb"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31mx", "\u009b1m", "\x1b]0;\x1b\\", "a\xc2", "\x1b\xe2\x80\xae"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("Clean(%q) keeps %U", s, r)
			}
		}
		if again := Clean(got); again != got {
			t.Fatalf("Clean(%q) = %q, cleaned again %q", s, got, again)
		}
	})
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "η=0.5": 5, "模型": 4, "e\u0301": 1, "🚀": 2, "…": 1} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"kernel", 6, "kernel"}, {"kernel", 5, "kern…"}, {"kernel", 1, "…"}, {"kernel", 0, ""},
		{"模型模型", 5, "模型…"}, {"模型模型", 4, "模…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
	} {
		got := Truncate(c.in, c.width)
		if got != c.want || Width(got) > c.width {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	table := Table{
		Columns: []Column{{Title: "component"}, {Title: "ms", Align: Right}, {Title: "kernel", Shrink: true}, {Title: "share", Align: Right}},
		Rows: [][]string{
			{"moe.experts", "12.25", "cutlass::device_kernel<flash::enable_sm90>", "61 %"},
			{"norm", "0.5", "rms\x1b[31mnorm", "2 %"},
			{"other", "1234.125"},
		},
	}
	for _, c := range []struct {
		width int
		want  string
	}{
		{200, `
component          ms  kernel                                      share
moe.experts     12.25  cutlass::device_kernel<flash::enable_sm90>   61 %
norm              0.5  rmsnorm                                       2 %
other        1234.125
`},
		{50, `
component          ms  kernel                share
moe.experts     12.25  cutlass::device_ker…   61 %
norm              0.5  rmsnorm                 2 %
other        1234.125
`},
		{20, `
component          ms  kernel    share
moe.experts     12.25  cutlass…   61 %
norm              0.5  rmsnorm     2 %
other        1234.125
`},
	} {
		var b bytes.Buffer
		if err := table.Write(&b, c.width); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), c.want[1:]; got != want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, got, want)
		}
	}
}

func TestTablePaintAndIndent(t *testing.T) {
	colour := Screen{Colour: true}
	table := Table{
		Columns: []Column{{}, {Align: Right}},
		Rows:    [][]string{{"a", "1"}, {"bb", "22"}},
		Indent:  2,
		Paint: func(row, column int, text string) string {
			if row == 1 && column == 1 {
				return colour.Paint(Red, text)
			}
			return text
		},
	}
	var b bytes.Buffer
	if err := table.Write(&b, 80); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "  a    1\n  bb  \x1b[31m22\x1b[0m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		width int
	}{
		{nil, DefaultWidth},
		{map[string]string{"COLUMNS": "132"}, 132},
		{map[string]string{"COLUMNS": "132", "DECODEGAP_WIDTH": "100"}, 100},
		{map[string]string{"COLUMNS": "wide", "DECODEGAP_WIDTH": "3"}, DefaultWidth},
	} {
		got := Of(&bytes.Buffer{}, func(name string) string { return c.env[name] })
		if got != (Screen{Width: c.width}) {
			t.Errorf("Of(buffer, %v) = %+v, want width %d, no terminal, no colour", c.env, got, c.width)
		}
	}
}

func TestPaintWithoutColour(t *testing.T) {
	if got := (Screen{}).Paint(Red, "fail"); got != "fail" {
		t.Errorf("got %q, want it unchanged", got)
	}
}

func TestProgress(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b, Screen{Width: 20, TTY: true}, false)
	p.Set("reading %s", "trace\x1b[2J.json, rank 7")
	p.Clear()
	p.Clear()
	if got, want := b.String(), "\r\x1b[Kreading trace.json…\r\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Reset()
	for _, silent := range []*Progress{NewProgress(&b, Screen{Width: 20}, false), NewProgress(&b, Screen{Width: 20, TTY: true}, true)} {
		silent.Set("reading")
		silent.Clear()
	}
	if b.Len() != 0 {
		t.Errorf("a silent progress line wrote %q", b.String())
	}
}
