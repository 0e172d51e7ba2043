package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// sweep is the Plotter of Throughput.
type sweep struct {
	lines       []line
	floor, best []dot
	floorBasis  string
	crossings   []dot // only x
}

// Plot draws crossovers undermost, then the floor, the series and the records.
func (s *sweep) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(d dot) vg.Point { return vg.Point{X: x(d.x), Y: y(d.y)} }
	taken := c.Min.X
	lift := vg.Length(0)
	for _, d := range s.crossings {
		if x(d.x) > taken {
			lift = 0
		}
		taken = max(taken, s.crossing(c, x(d.x), lift, d))
		lift += 16
	}
	if len(s.floor) > 0 {
		end := canvas.Annotate(c, "floor", "layout floor")
		s.stroke(c, s.floor, at, draw.LineStyle{Color: canvas.Fg, Width: 1.6, Dashes: floorDashes()})
		end()
		radius := vg.Length(2.5)
		if len(s.floor) == 1 {
			radius = 4
		}
		s.dots(c, s.floor, at, "floor", draw.GlyphStyle{Color: canvas.Fg, Radius: radius, Shape: draw.CircleGlyph{}})
	}
	for i, l := range s.lines {
		end := canvas.Annotate(c, seriesID(i), l.name)
		s.stroke(c, l.points, at, draw.LineStyle{Color: canvas.Series(i), Width: 2, Dashes: dashes(i)})
		s.dots(c, l.points, at, seriesID(i), draw.GlyphStyle{Color: canvas.Series(i), Radius: 4, Shape: marker(i)})
		end()
	}
	for _, d := range s.best {
		end := canvas.Annotate(c, "best", d.title)
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: canvas.Fg, Radius: 5, Shape: bestMarker(d.draft)}, at(d))
		end()
	}
}

func seriesID(n int) string { return "series-" + string(rune('0'+n)) }

func (s *sweep) stroke(c draw.Canvas, points []dot, at func(dot) vg.Point, sty draw.LineStyle) {
	pts := make([]vg.Point, len(points))
	for i, d := range points {
		pts[i] = at(d)
	}
	if len(pts) > 1 {
		c.StrokeLines(sty, pts)
	}
}

func (s *sweep) dots(c draw.Canvas, points []dot, at func(dot) vg.Point, id string, sty draw.GlyphStyle) {
	for _, d := range points {
		end := canvas.Annotate(c, id, d.title)
		c.DrawGlyphNoClip(sty, at(d))
		end()
	}
}

// crossing draws where two series change places and returns where its name
// ends. The name stands at the lower edge, where rising lines leave room,
// lifted above the name of a close neighbour.
func (s *sweep) crossing(c draw.Canvas, x, lift vg.Length, d dot) vg.Length {
	if !c.ContainsX(x) {
		return c.Min.X
	}
	end := canvas.Annotate(c, "crossover", d.title)
	defer end()
	c.StrokeLine2(draw.LineStyle{Color: canvas.Muted, Width: 1, Dashes: []vg.Length{4, 3}}, x, c.Min.Y, x, c.Max.Y)
	sty := normal(canvas.Muted)
	text := "crossover at " + general(roundTo(d.x, 2))
	at := vg.Point{X: x + 6, Y: c.Min.Y + 12 + lift}
	if at.X+sty.Width(text) > c.Max.X {
		sty, at.X = right(sty), x-6
	}
	drawText(c, sty, at, text)
	return at.X + sty.Width(text) + 12
}
