package canvas

import (
	"bytes"

	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
)

// The font families that Fonts registers, for fpdf's SetFont. SansFamily has
// the styles "" and "B", MonoFamily only "".
const (
	SansFamily = "liberationsans"
	MonoFamily = "liberationmono"
)

// Fonts registers the embedded fonts with a document; call it once, before
// drawing. fpdf keeps only the glyphs that the document uses.
func Fonts(doc *fpdf.Fpdf) {
	for _, f := range []struct {
		family, style string
		ttf           []byte
	}{
		{SansFamily, "", liberationsansregular.TTF},
		{SansFamily, "B", liberationsansbold.TTF},
		{MonoFamily, "", liberationmonoregular.TTF},
	} {
		// fpdf pads tables in place; the font's bytes are shared by the process.
		doc.AddUTF8FontFromBytes(f.family, f.style, bytes.Clone(f.ttf))
	}
}
