package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// fillBar fills a rectangle; hatched ones are what nothing explains, and stay
// distinct without colour.
func fillBar(c draw.Canvas, r vg.Rectangle, ink canvas.Ink, hatched bool) {
	if !hatched {
		c.SetColor(ink)
		c.Fill(r.Path())
		return
	}
	c.SetColor(canvas.Tint{Ink: ink, Alpha: 0.12})
	c.Fill(r.Path())
	hatch(c, r, ink)
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: 1})
	c.Stroke(r.Path())
}

// hatch strokes lines at 45° that end exactly at the rectangle's edges, so
// that neither canvas needs a clip or a pattern.
func hatch(c draw.Canvas, r vg.Rectangle, ink canvas.Ink) {
	const spacing vg.Length = 6
	w, h := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y
	if w <= 0 || h <= 0 || w/spacing > 500 {
		return
	}
	var p vg.Path
	for d := spacing - h; d < w; d += spacing {
		// The line y = x - d, in coordinates of the rectangle's corner.
		x0, x1 := max(0, d), min(w, d+h)
		if x1 <= x0 {
			continue
		}
		p.Move(r.Min.Add(vg.Point{X: x0, Y: x0 - d}))
		p.Line(r.Min.Add(vg.Point{X: x1, Y: x1 - d}))
	}
	if len(p) == 0 {
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: 1})
	c.Stroke(p)
}

// torn is a vertical zigzag edge from top to bottom of a bar that goes on
// beyond a cut in the axis.
func torn(x, bottom, top vg.Length) []vg.Point {
	const teeth = 4
	pts := make([]vg.Point, 0, teeth+1)
	for i := range teeth + 1 {
		dx := vg.Length(2.5)
		if i%2 == 1 {
			dx = -dx
		}
		pts = append(pts, vg.Point{X: x + dx, Y: top + (bottom-top)*vg.Length(i)/teeth})
	}
	return pts
}
