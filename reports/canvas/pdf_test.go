package canvas

import (
	"bytes"
	"strings"
	"testing"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
)

func sketchPDF(t *testing.T, compress bool) []byte {
	t.Helper()
	doc := newDocument(compress)
	p := NewPDF(doc, 20, 30, 150, vg.Point{X: 220, Y: 110})
	sketch(p)
	p.Close()
	return output(t, doc)
}

// printableOps shows the two-byte characters of text operators as text.
func printableOps(ops string) string {
	var b strings.Builder
	for i := 0; i < len(ops); i++ {
		switch c := ops[i]; {
		case c == '\n' || c >= ' ' && c < 0x7F:
			b.WriteByte(c)
		default:
			b.WriteString("\\x" + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
		}
	}
	return b.String()
}

func TestPDFGolden(t *testing.T) {
	golden(t, "sketch.pdfops", printableOps(content(t, sketchPDF(t, false))))
}

func TestPDFSameBytes(t *testing.T) {
	if !bytes.Equal(sketchPDF(t, true), sketchPDF(t, true)) {
		t.Error("two documents of the same sketch differ")
	}
}

func TestPDFHoldsNoRaster(t *testing.T) {
	pdf := sketchPDF(t, false)
	if bytes.Contains(pdf, []byte("/Subtype /Image")) {
		t.Error("the document has an image")
	}
	if n := bytes.Count(pdf, []byte("/FontFile2")); n != 3 {
		t.Errorf("%d fonts are embedded, want 3", n)
	}
}

// TestPDFText checks that what cp1252 lacks reaches the page as itself, and
// that what the fonts lack becomes a question mark.
func TestPDFText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"≤ η μ – Δ ≥", "\x22\x64\x00 \x03\xB7\x00 \x03\xBC\x00 \x20\x13\x00 \x03\x94\x00 \x22\x65"},
		{"漢\U0001F600x", "\x00?\x00?\x00x"},
		{"a\x00b", "\x00a\x00?\x00b"},
	} {
		doc := newDocument(false)
		p := NewPDF(doc, 0, 0, 100, vg.Point{X: 100, Y: 50})
		p.FillString(face(12, xfont.WeightNormal, "Sans"), vg.Point{X: 1, Y: 1}, c.in)
		p.Close()
		ops := content(t, output(t, doc))
		if !strings.Contains(ops, "("+c.want+") Tj") && !strings.Contains(ops, "("+strings.ReplaceAll(c.want, "\uFFFD", "?")+") Tj") {
			t.Errorf("%q is not on the page as %q:\n%s", c.in, c.want, printableOps(ops))
		}
	}
}

// TestPDFKeepsState draws with the document around a figure: colours, widths,
// font and position must be those of before.
func TestPDFKeepsState(t *testing.T) {
	doc := newDocument(false)
	doc.SetFont(SansFamily, "B", 14)
	doc.SetDrawColor(1, 2, 3)
	doc.SetFillColor(4, 5, 6)
	doc.SetTextColor(7, 8, 9)
	doc.SetLineWidth(0.7)
	doc.SetXY(33, 44)
	want := saveState(doc)
	p := NewPDF(doc, 20, 30, 150, vg.Point{X: 220, Y: 110})
	sketch(p)
	p.Close()
	if got := saveState(doc); got != want {
		t.Errorf("state after the figure is %+v, want %+v", got, want)
	}
	// The page's own state went back with the clip, so the font must be set
	// again after the last Q.
	ops := content(t, output(t, doc))
	tail := ops[strings.LastIndex(ops, "\nQ\n"):]
	for _, op := range []string{" 14.00 Tf", "0.004 0.008 0.012 RG", "0.016 0.020 0.024 rg", "[] 0.00 d"} {
		if !strings.Contains(tail, op) {
			t.Errorf("after the figure, %q is not set again:\n%s", op, tail)
		}
	}
}

// TestPDFClips checks that a figure cannot draw over the page around it.
func TestPDFClips(t *testing.T) {
	doc := newDocument(false)
	p := NewPDF(doc, 20, 30, 100, vg.Point{X: 100, Y: 50})
	p.Fill(vg.Rectangle{Min: vg.Point{X: -500, Y: -500}, Max: vg.Point{X: 500, Y: 500}}.Path())
	p.Close()
	ops := content(t, output(t, doc))
	clip := "q 56.69 756.85 283.46 -141.73 re W n"
	fill, end := strings.Index(ops, "\nf\n"), strings.LastIndex(ops, "\nQ\n")
	if at := strings.Index(ops, clip); at < 0 || fill < at || end < fill {
		t.Errorf("the fill is not inside the clip %q … Q:\n%s", clip, ops)
	}
}
