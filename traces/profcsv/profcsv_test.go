package profcsv

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		text  string
		shift int
		want  int64
		ok    bool
	}{
		{"1234", 0, 1234, true}, {"1,234,567", 0, 1234567, true}, {"0.0015", 6, 1500, true}, {"2.5", 0, 3, true}, {"-2.5", 0, -3, true},
		{"0.4", 0, 0, true}, {"0.5", 0, 1, true}, {"0.05", 0, 0, true}, {"1.5e+03", 0, 1500, true}, {"9223372036854775807", 0, 9223372036854775807, true}, {"", 0, 0, false},
		{"9223372036854775808", 0, 0, false}, {"1", 19, 0, false}, {"1,23", 0, 0, false}, {"12,34,567", 0, 0, false}, {"n/a", 0, 0, false},
		{"1.2.3", 0, 0, false}, {"nan", 0, 0, false}, {"0x10", 0, 0, false}, {",123", 0, 0, false}, {"-", 0, 0, false}, {"000", 0, 0, true},
	} {
		n, ok := ParseNumber(c.text)
		got, fits := n.Int(c.shift)
		if ok = ok && fits; ok != c.ok || ok && got != c.want {
			t.Errorf("%q × 10^%d: %d, %v; want %d, %v", c.text, c.shift, got, ok, c.want, c.ok)
		}
	}
	if n, ok := ParseNumber("2.33"); !ok {
		t.Error("2.33 is no number")
	} else if v, _ := n.Float(6); v != 2330000 {
		t.Errorf("2.33 × 10^6 is %v", v)
	}
}

func TestScanner(t *testing.T) {
	const text = "\ufeffa, b ,\"c,\"\"d\"\"\"\r\n\"two\nlines\",x\n\"open\nnext,1\nlast"
	s := NewScanner(strings.NewReader(text), int64(len(text)))
	var got []string
	for {
		r, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, strings.Join(r.Fields, "|"))
	}
	want := []string{`a|b|c,"d"`, "two\nlines|x", "byte 34: a quote that does not close", "next|1", "last"}
	if strings.Join(got, ";") != strings.Join(want, ";") {
		t.Errorf("got %q, want %q", got, want)
	}
	long := strings.Repeat("x", maxLine+10) + "\nshort"
	s = NewScanner(strings.NewReader(long), int64(len(long)))
	if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a long line: %v", err)
	}
	if r, err := s.Next(); err != nil || r.Line != "short" {
		t.Errorf("behind a long line: %+v, %v", r, err)
	}
}

func FuzzScanner(f *testing.F) {
	f.Add("a,\"b\n\"\n\"c")
	f.Fuzz(func(t *testing.T, text string) {
		s := NewScanner(strings.NewReader(text), int64(len(text)))
		for last := int64(-1); ; {
			r, err := s.Next()
			if bad := (*Bad)(nil); errors.As(err, &bad) {
				r.Offset = bad.Offset
			} else if err != nil {
				return
			}
			if r.Offset <= last || r.Offset > int64(len(text)) {
				t.Fatalf("offset %d behind %d", r.Offset, last)
			}
			last = r.Offset
		}
	})
}
