package canvas

import (
	"bytes"
	"compress/zlib"
	"flag"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/google/go-cmp/cmp"
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// face is a font of the cache that plots are laid out with.
func face(size vg.Length, weight xfont.Weight, variant font.Variant) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: variant, Weight: weight, Size: size}
	return plot.DefaultTextHandler.Cache().Lookup(f, size)
}

// sketch uses everything a vg.Canvas has.
func sketch(c vg.Canvas) {
	vg.Initialize(c)
	end := Annotate(draw.Canvas{Canvas: draw.Canvas{Canvas: c}}, "a<b", `50 % & "more"`)
	c.SetColor(C0)
	c.Fill(vg.Rectangle{Min: vg.Point{X: 10, Y: 10}, Max: vg.Point{X: 60, Y: 40}}.Path())
	c.SetColor(Tint{Ink: C1, Alpha: 0.25})
	c.Fill(vg.Rectangle{Min: vg.Point{X: 30, Y: 20}, Max: vg.Point{X: 90, Y: 60}}.Path())
	end()
	c.SetColor(color.NRGBA{R: 10, G: 20, B: 30, A: 128})
	c.SetLineWidth(2)
	c.SetLineDash([]vg.Length{6, 3}, 1.5)
	var p vg.Path
	p.Move(vg.Point{X: 10, Y: 80})
	p.Line(vg.Point{X: 110.123, Y: 80.456})
	p.QuadTo(vg.Point{X: 130, Y: 80}, vg.Point{X: 130, Y: 60})
	p.CubeTo(vg.Point{X: 130, Y: 40}, vg.Point{X: 150, Y: 40}, vg.Point{X: 150, Y: 60})
	c.Stroke(p)
	c.SetLineDash(nil, 0)
	c.SetColor(nil)
	var ring vg.Path
	ring.Arc(vg.Point{X: 170, Y: 30}, 15, 0, 2*math.Pi)
	ring.Close()
	c.Stroke(ring)
	c.Push()
	c.Translate(vg.Point{X: 200, Y: 20})
	c.Rotate(math.Pi / 2)
	c.FillString(face(12, xfont.WeightNormal, "Sans"), vg.Point{}, "turned ≤ η μ – Δ ≥")
	c.Scale(2, 1)
	c.FillString(face(12, xfont.WeightNormal, "Mono"), vg.Point{Y: -14}, "wide")
	c.Pop()
	c.Push()
	c.Scale(1.5, 1.5)
	c.FillString(face(8, xfont.WeightBold, "Sans"), vg.Point{X: 10, Y: 60}, `<script>&"'</script>`)
	c.Pop()
	c.SetLineWidth(0)
	c.Stroke(ring) // not drawn: no width
	c.FillString(face(0, xfont.WeightNormal, "Sans"), vg.Point{}, "not drawn: no size")
	c.DrawImage(vg.Rectangle{}, nil)
}

func sketchSVG() string {
	s := NewSVG(220, 110, "fig-sketch", "A <sketch>", "Every kind of mark & text")
	sketch(s)
	return s.String()
}

func newDocument(compress bool) *fpdf.Fpdf {
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCatalogSort(true)
	doc.SetCompression(compress)
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	doc.SetCreationDate(day)
	doc.SetModificationDate(day)
	Fonts(doc)
	doc.AddPage()
	return doc
}

func output(t *testing.T, doc *fpdf.Fpdf) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// content is the first page's drawing operators.
func content(t *testing.T, pdf []byte) string {
	t.Helper()
	_, rest, ok := bytes.Cut(pdf, []byte("stream\n"))
	body, _, ended := bytes.Cut(rest, []byte("\nendstream"))
	if !ok || !ended {
		t.Fatal("the document has no content stream")
	}
	if z, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
		if plain, err := io.ReadAll(z); err == nil {
			return string(plain)
		}
	}
	return string(body)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}
