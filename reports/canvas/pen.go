package canvas

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// matrix is an affine map from plot lengths (y up) to the target (y down):
// x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

func (m matrix) apply(p vg.Point) (x, y float64) {
	px, py := float64(p.X), float64(p.Y)
	return m.a*px + m.c*py + m.e, m.b*px + m.d*py + m.f
}

// then is the map that first does n, then m.
func (m matrix) then(n matrix) matrix {
	return matrix{
		a: m.a*n.a + m.c*n.b, c: m.a*n.c + m.c*n.d, e: m.a*n.e + m.c*n.f + m.e,
		b: m.b*n.a + m.d*n.b, d: m.b*n.c + m.d*n.d, f: m.b*n.e + m.d*n.f + m.f,
	}
}

// scale is how much the map enlarges lengths, on average over directions.
func (m matrix) scale() float64 {
	return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c))
}

// upright says whether text stays horizontal, unmirrored and undistorted.
func (m matrix) upright() bool {
	const slop = 1e-9
	return math.Abs(m.b) < slop && math.Abs(m.c) < slop && m.a > 0 && math.Abs(m.a+m.d) < slop
}

type pen struct {
	at     matrix
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
	color  color.Color
}

// pens is the stack of drawing states. It carries the part of vg.Canvas that
// both canvases share; transforms are applied here and never written out, so
// the drawings hold final coordinates.
type pens struct {
	now   pen
	saved []pen
}

func newPens(at matrix) pens {
	return pens{now: pen{at: at, width: vg.Points(1), color: Fg}}
}

// SetLineWidth sets the width of strokes.
func (p *pens) SetLineWidth(w vg.Length) { p.now.width = w }

// SetLineDash sets the dash pattern of strokes.
func (p *pens) SetLineDash(pattern []vg.Length, offset vg.Length) {
	p.now.dashes, p.now.offset = append([]vg.Length(nil), pattern...), offset
}

// SetColor sets the colour of strokes, fills and text; nil is Fg.
func (p *pens) SetColor(c color.Color) {
	if c == nil || c == color.Black {
		c = Fg
	}
	p.now.color = c
}

// Rotate turns what is drawn from here on, in radians.
func (p *pens) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	p.now.at = p.now.at.then(matrix{a: cos, b: sin, c: -sin, d: cos})
}

// Translate moves what is drawn from here on.
func (p *pens) Translate(pt vg.Point) {
	p.now.at = p.now.at.then(matrix{a: 1, d: 1, e: float64(pt.X), f: float64(pt.Y)})
}

// Scale enlarges what is drawn from here on.
func (p *pens) Scale(x, y float64) { p.now.at = p.now.at.then(matrix{a: x, d: y}) }

// Push saves the drawing state.
func (p *pens) Push() { p.saved = append(p.saved, p.now) }

// Pop restores the state of the matching Push; without one it does nothing.
func (p *pens) Pop() {
	if n := len(p.saved); n > 0 {
		p.now, p.saved = p.saved[n-1], p.saved[:n-1]
	}
}
