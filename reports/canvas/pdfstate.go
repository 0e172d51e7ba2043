package canvas

import "codeberg.org/go-pdf/fpdf"

// pdfState is the part of an fpdf document's drawing state that a figure
// changes. fpdf keeps it beside the page and does not notice that ending a
// clip takes the page's own state back, so it is set again explicitly.
type pdfState struct {
	x, y, width   float64
	draw          [3]int
	fill          [3]int
	text          [3]int
	join          string
	family, style string
	points        float64
}

func saveState(doc *fpdf.Fpdf) pdfState {
	s := pdfState{width: doc.GetLineWidth(), join: doc.GetLineJoinStyle(),
		family: doc.GetFontFamily(), style: doc.GetFontStyle()}
	s.x, s.y = doc.GetXY()
	s.points, _ = doc.GetFontSize()
	s.draw[0], s.draw[1], s.draw[2] = doc.GetDrawColor()
	s.fill[0], s.fill[1], s.fill[2] = doc.GetFillColor()
	s.text[0], s.text[1], s.text[2] = doc.GetTextColor()
	return s
}

func (s pdfState) restore(doc *fpdf.Fpdf) {
	doc.SetDashPattern(nil, 0)
	doc.SetLineWidth(s.width)
	doc.SetLineJoinStyle(s.join)
	doc.SetDrawColor(s.draw[0], s.draw[1], s.draw[2])
	doc.SetFillColor(s.fill[0], s.fill[1], s.fill[2])
	doc.SetTextColor(s.text[0], s.text[1], s.text[2])
	if s.family != "" {
		doc.SetFont(s.family, s.style, s.points)
	}
	doc.SetXY(s.x, s.y)
}

// pdfPath writes path operators to the page.
type pdfPath struct{ doc *fpdf.Fpdf }

func (p pdfPath) moveTo(x, y float64) { p.doc.MoveTo(bounded(x), bounded(y)) }
func (p pdfPath) lineTo(x, y float64) { p.doc.LineTo(bounded(x), bounded(y)) }
func (p pdfPath) curveTo(a, b, c, d, x, y float64) {
	p.doc.CurveBezierCubicTo(bounded(a), bounded(b), bounded(c), bounded(d), bounded(x), bounded(y))
}
func (p pdfPath) closePath() { p.doc.ClosePath() }

// bounded keeps a coordinate a number near the page, as number does for SVG.
func bounded(v float64) float64 {
	const far = 1e4
	if v != v {
		return 0
	}
	return min(far, max(-far, v))
}
