package chart

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// diamond is a filled square on its corner.
type diamond struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	r := sty.Radius
	var p vg.Path
	p.Move(vg.Point{X: at.X, Y: at.Y + r})
	p.Line(vg.Point{X: at.X + r, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y - r})
	p.Line(vg.Point{X: at.X - r, Y: at.Y})
	p.Close()
	c.Fill(p)
}

// openPyramid is the outline of a triangle, bolder than plot's own.
type openPyramid struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (openPyramid) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: 1.5})
	r := sty.Radius * 1.1
	var p vg.Path
	p.Move(vg.Point{X: at.X, Y: at.Y + r})
	p.Line(vg.Point{X: at.X + r, Y: at.Y - r*0.8})
	p.Line(vg.Point{X: at.X - r, Y: at.Y - r*0.8})
	p.Close()
	c.Stroke(p)
}

// marker tells series apart without colour.
func marker(n int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}}
	return shapes[n%len(shapes)]
}

// dashes gives every second four series another line.
func dashes(n int) []vg.Length {
	if n/4%2 == 1 {
		return []vg.Length{6, 3}
	}
	return []vg.Length{}
}

// sortBy sorts indices by a key, keeping equal ones in order.
func sortBy(order []int, key func(int) float64) {
	slices.SortStableFunc(order, func(a, b int) int { return compare(key(a), key(b)) })
}
