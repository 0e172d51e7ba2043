package canvas

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
)

func TestSVGGolden(t *testing.T) { golden(t, "sketch.svg", sketchSVG()) }

func TestSVGSameBytes(t *testing.T) {
	if sketchSVG() != sketchSVG() {
		t.Error("two drawings of the same sketch differ")
	}
}

// texts parses the fragment strictly and returns the content of its elements
// of one name.
func texts(t *testing.T, svg, element string) []string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var out []string
	var path []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("the fragment is not well-formed: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			switch token.Name.Local {
			case "svg", "g", "title", "desc", "path", "text":
			default:
				t.Fatalf("the fragment has a <%s>", token.Name.Local)
			}
			if token.Name.Local == element {
				out = append(out, "")
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) > 0 && path[len(path)-1] == element {
				out[len(out)-1] += string(token)
			}
		}
	}
}

func TestSVGEscapes(t *testing.T) {
	hostile := "</text><script>alert('1')</script>\x00\x1b[31m\u202egnp.exe\xff & \"quoted\""
	s := NewSVG(100, 50, `x" onload="alert(1)`, hostile, hostile)
	s.Begin(hostile, hostile)
	s.FillString(face(12, xfont.WeightNormal, "Sans"), vg.Point{X: 1, Y: 1}, hostile)
	s.FillString(face(12, xfont.WeightNormal, "Sans"), vg.Point{X: 1, Y: 1}, " \t\n")
	s.End()
	s.End() // one too many is ignored
	s.Begin("left", "open")
	svg := s.String()
	got := texts(t, svg, "text")
	want := "</text><script>alert('1')</script>\uFFFD\uFFFD[31mgnp.exe\uFFFD & \"quoted\""
	for _, element := range []string{"title", "desc"} {
		if words := texts(t, svg, element); len(words) == 0 || words[0] != want {
			t.Errorf("<%s> is %q, want %q", element, words, want)
		}
	}
	if len(got) != 1 || got[0] != want {
		t.Errorf("text is %q, want only %q", got, want)
	}
	if strings.Contains(svg, "<script") || strings.Contains(svg, `" onload`) {
		t.Errorf("markup from the input survived:\n%s", svg)
	}
}

func TestSVGThemable(t *testing.T) {
	s := NewSVG(100, 50, "f", "t", "d")
	vg.Initialize(s) // plot's own black
	s.Stroke(vg.Rectangle{Max: vg.Point{X: 5, Y: 5}}.Path())
	for i := Ink(0); int(i) < Inks; i++ {
		s.SetColor(i)
		s.Fill(vg.Rectangle{Max: vg.Point{X: 5, Y: 5}}.Path())
	}
	svg := s.String()
	for _, v := range []string{"--fg", "--muted", "--grid", "--surface", "--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"} {
		if !strings.Contains(svg, `="var(`+v+",#") {
			t.Errorf("no colour follows %s", v)
		}
		for _, dark := range []bool{false, true} {
			if !strings.Contains(Variables(dark), v+":#") {
				t.Errorf("Variables(%t) does not set %s", dark, v)
			}
		}
	}
	if strings.Contains(svg, `stroke="#`) {
		t.Error("plot's black became a fixed colour")
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want string
	}{
		{0, "0"}, {-0.001, "0"}, {1.005, "1"}, {12.3456, "12.35"}, {-7.5, "-7.5"}, {100, "100"},
		{math.NaN(), "0"}, {math.Inf(1), "1000000"}, {-1e300, "-1000000"},
	} {
		if got := number(c.in); got != c.want {
			t.Errorf("number(%g) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestPopWithoutPush(t *testing.T) {
	s := NewSVG(10, 10, "f", "t", "d")
	s.Pop()
	s.Rotate(1)
	s.Push()
	s.Pop()
	s.Pop()
	if s.now.at == newPens(matrix{a: 1, d: -1, f: 10}).now.at {
		t.Error("an unmatched Pop undid the rotation")
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", "≤ η μ – Δ ≥", "</text>]]>&<!--", "\xff\xfe\x00", "a\u202eb\u2028c", "\U0001F600 漢字", "\uFFFE\U0010FFFF"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<12 {
			return
		}
		c := NewSVG(100, 50, s, s, s)
		c.Begin(s, s)
		c.FillString(face(12, xfont.WeightNormal, "Sans"), vg.Point{X: 1, Y: 1}, s)
		svg := c.String()
		for _, got := range texts(t, svg, "text") {
			if got != Printable(s) {
				t.Errorf("text %q became %q, want %q", s, got, Printable(s))
			}
		}
		doc := newDocument(false)
		p := NewPDF(doc, 10, 10, 100, vg.Point{X: 100, Y: 50})
		p.FillString(face(12, xfont.WeightBold, "Sans"), vg.Point{X: 1, Y: 1}, s)
		p.Close()
		if doc.Error() != nil {
			t.Error(doc.Error())
		}
	})
}
