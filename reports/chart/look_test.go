package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"decodegap/reports/canvas"
)

// TestLook draws every sample run for human eyes: run with -artifacts and
// -outputdir to keep the pages.
func TestLook(t *testing.T) {
	dir := t.ArtifactDir()
	for name, run := range samples() {
		figures := For(run)
		if len(figures) == 0 {
			t.Fatalf("%s: no figure", name)
		}
		for _, dark := range []bool{false, true} {
			page := filepath.Join(dir, fmt.Sprintf("%s-%s.html", name, theme(dark)))
			if err := os.WriteFile(page, []byte(htmlPage(t, figures, dark)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		doc := newDocument()
		doc.AddPage()
		y := 15.0
		for _, f := range figures {
			h := 180 * float64(f.Height/f.Width)
			if y+h > 285 {
				doc.AddPage()
				y = 15
			}
			if _, err := f.DrawPDF(doc, 15, y, 180); err != nil {
				t.Fatal(err)
			}
			y += h + 6
		}
		if err := doc.OutputFileAndClose(filepath.Join(dir, name+".pdf")); err != nil {
			t.Fatal(err)
		}
	}
}

func theme(dark bool) string {
	if dark {
		return "dark"
	}
	return "light"
}

func htmlPage(t *testing.T, figures []Figure, dark bool) string {
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'><style>:root{" + canvas.Variables(dark) +
		"}body{margin:12px;background:var(--surface);color:var(--fg);font:15px sans-serif}.box{overflow-x:auto;max-width:760px}" +
		"svg.figure{width:100%;min-width:560px;height:auto;display:block}</style>")
	for _, f := range figures {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("<h3>" + f.Title + "</h3><div class=box>" + svg + "</div>")
	}
	return b.String()
}

func newDocument() *fpdf.Fpdf {
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCatalogSort(true)
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	doc.SetCreationDate(day)
	doc.SetModificationDate(day)
	canvas.Fonts(doc)
	return doc
}
