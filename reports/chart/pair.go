package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// pair is the Plotter of Components: two stacked bars, and between them a band
// per component that shows what grew.
type pair struct {
	parts []part
	total [2]float64
}

const (
	pairNames  vg.Length = 52
	pairValues vg.Length = 76
	pairBar    vg.Length = 34
)

// GlyphBoxes reserves the room of names and totals beside the bars.
func (p *pair) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{
		{X: 0, Y: 0.5, Rectangle: vg.Rectangle{Min: vg.Point{X: -pairNames}}},
		{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: pairValues}}},
	}
}

// Plot draws the two bars.
func (p *pair) Plot(c draw.Canvas, pl *plot.Plot) {
	x, _ := pl.Transforms(&c)
	h := c.Max.Y - c.Min.Y
	mids := [2]vg.Length{c.Min.Y + h*0.76, c.Min.Y + h*0.24}
	names := [2]string{"ideal", "layout"}
	largest := max(p.total[0], p.total[1])
	for i := range mids {
		drawText(c, bold(canvas.Fg), vg.Point{X: c.Min.X - pairNames, Y: mids[i]}, names[i])
		drawText(c, right(bold(canvas.Fg)), vg.Point{X: c.Max.X + pairValues, Y: mids[i]}, millis(p.total[i], largest))
	}
	var at [2]float64
	for _, part := range p.parts {
		end := canvas.Annotate(c, "component-"+part.name,
			part.name+" "+millis(part.ms[0], largest)+" ideal, "+millis(part.ms[1], largest)+" layout")
		from := [2]vg.Length{x(at[0]), x(at[1])}
		at[0] += part.ms[0]
		at[1] += part.ms[1]
		to := [2]vg.Length{x(at[0]), x(at[1])}
		p.band(c, part.ink, from, to, mids)
		for i := range mids {
			p.segment(c, part, from[i], to[i], mids[i])
		}
		end()
	}
}

func (p *pair) band(c draw.Canvas, ink canvas.Ink, from, to, mids [2]vg.Length) {
	var path vg.Path
	path.Move(vg.Point{X: from[0], Y: mids[0] - pairBar/2})
	path.Line(vg.Point{X: to[0], Y: mids[0] - pairBar/2})
	path.Line(vg.Point{X: to[1], Y: mids[1] + pairBar/2})
	path.Line(vg.Point{X: from[1], Y: mids[1] + pairBar/2})
	path.Close()
	c.SetColor(canvas.Tint{Ink: ink, Alpha: 0.14})
	c.Fill(path)
}

// segment draws one part of a bar. Neighbours are kept apart by a sliver of
// ground, so that two dark colours do not run together.
func (p *pair) segment(c draw.Canvas, part part, from, to, mid vg.Length) {
	if to-from < 0.05 {
		return
	}
	if to-from > 2 {
		to -= 0.8
	}
	r := vg.Rectangle{Min: vg.Point{X: from, Y: mid - pairBar/2}, Max: vg.Point{X: to, Y: mid + pairBar/2}}
	fillBar(c, r, part.ink, part.rest && to-from > 4)
}
