package canvas

import (
	"image"
	"image/color"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// PDF is a vg.Canvas that draws into a rectangle of an fpdf page and leaves
// the rest of the page, and the document's drawing state, as they were.
type PDF struct {
	pens
	doc    *fpdf.Fpdf
	size   vg.Point
	k      float64 // points per unit of the document
	pageH  float64 // in units of the document
	before pdfState
}

var _ vg.CanvasSizer = (*PDF)(nil)

// NewPDF starts drawing on the document's current page. The rectangle's upper
// left corner is (x, y) and its width w, in units of the document; its height
// follows from the design size. Fonts must have been called. End with Close.
func NewPDF(doc *fpdf.Fpdf, x, y, w float64, size vg.Point) *PDF {
	s := w / float64(size.X)
	h := s * float64(size.Y)
	p := &PDF{doc: doc, size: size, k: doc.GetConversionRatio(), before: saveState(doc)}
	_, p.pageH = doc.GetPageSize()
	p.pens = newPens(matrix{a: s, d: -s, e: x, f: y + h})
	doc.ClipRect(x, y, w, h, false)
	doc.SetLineJoinStyle("round")
	return p
}

// Size is the design size.
func (p *PDF) Size() (w, h vg.Length) { return p.size.X, p.size.Y }

// Close ends the rectangle and restores the document's drawing state.
func (p *PDF) Close() {
	p.doc.ClipEnd()
	p.before.restore(p.doc)
}

// Stroke draws along the path.
func (p *PDF) Stroke(path vg.Path) {
	if p.now.width <= 0 || len(path) == 0 {
		return
	}
	scale := p.now.at.scale()
	dashes := make([]float64, len(p.now.dashes))
	for i, d := range p.now.dashes {
		dashes[i] = float64(d) * scale
	}
	p.doc.SetDashPattern(dashes, float64(p.now.offset)*scale)
	p.doc.SetLineWidth(float64(p.now.width) * scale)
	p.doc.SetDrawColor(rgb(p.now.color))
	trace(path, p.now.at, pdfPath{p.doc})
	p.doc.DrawPath("D")
}

// Fill fills the path.
func (p *PDF) Fill(path vg.Path) {
	if len(path) == 0 {
		return
	}
	p.doc.SetFillColor(rgb(p.now.color))
	trace(path, p.now.at, pdfPath{p.doc})
	p.doc.DrawPath("F")
}

// FillString writes text with its baseline's left end at pt.
func (p *PDF) FillString(f font.Face, pt vg.Point, text string) {
	if f.Font.Size <= 0 || f.Face == nil {
		return
	}
	text = inFont(f.Face, text)
	if strings.TrimSpace(text) == "" {
		return
	}
	family, style := SansFamily, ""
	if f.Font.Weight >= xfont.WeightSemiBold {
		style = "B"
	}
	if f.Font.Variant == "Mono" {
		family, style = MonoFamily, ""
	}
	p.doc.SetTextColor(rgb(p.now.color))
	m, size := p.now.at, float64(f.Font.Size)
	x, y := m.apply(pt)
	if m.upright() {
		p.doc.SetFont(family, style, size*m.a*p.k)
		p.doc.Text(bounded(x), bounded(y), text)
		return
	}
	p.doc.SetFont(family, style, size)
	p.doc.TransformBegin()
	p.doc.Transform(fpdf.TransformMatrix{
		A: m.a * p.k, B: -m.b * p.k, C: m.c * p.k, D: -m.d * p.k,
		E: bounded(x) * p.k, F: (p.pageH - bounded(y)) * p.k,
	})
	p.doc.Text(0, p.pageH, text)
	p.doc.TransformEnd()
}

// DrawImage draws nothing: a report holds no raster.
func (p *PDF) DrawImage(vg.Rectangle, image.Image) {}

// rgb is a colour as print sees it: on white, without transparency.
func rgb(c color.Color) (r, g, b int) {
	cr, cg, cb, a := c.RGBA()
	over := func(v uint32) int { return int((v + 0xFFFF - a) >> 8) }
	return over(cr), over(cg), over(cb)
}
