package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// ladder is the Plotter of Waterfall: names, times and shares in columns on
// the left, where no bar can reach them and a narrow screen shows them first;
// bars on the axis.
type ladder struct {
	rows   []rung
	lo, hi float64
	scale  brokenScale
}

const (
	rowHeight   vg.Length = 26
	barHeight   vg.Length = 16
	stripHeight vg.Length = 58
	nameWidth   vg.Length = 212
	valueWidth  vg.Length = 70
	shareWidth  vg.Length = 56
	columnGap   vg.Length = 14
)

// names is the width of the widest name, up to a limit.
func (l *ladder) names() vg.Length {
	sty := normal(canvas.Fg)
	w := vg.Length(60)
	for _, r := range l.rows {
		w = max(w, sty.Width(canvas.Printable(r.name)))
	}
	return min(w, nameWidth) + columnGap
}

// columns is the width of all that stands left of the axis.
func (l *ladder) columns() vg.Length { return l.names() + valueWidth + shareWidth + columnGap }

// GlyphBoxes reserves the room of the columns beside the axis.
func (l *ladder) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{
		{X: 0, Y: 0.5, Rectangle: vg.Rectangle{Min: vg.Point{X: -l.columns()}}},
		{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: 8}}},
	}
}

// Plot draws the ladder.
func (l *ladder) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	top := c.Max.Y
	if l.scale.cut() {
		l.strip(c, x)
		top -= stripHeight
	}
	l.axis(c, x, top)
	for i, r := range l.rows {
		mid := top - rowHeight*(vg.Length(i)+0.5)
		end := canvas.Annotate(c, r.id, r.title)
		if i+1 < len(l.rows) { // where this bar ends, the next begins
			joint := x(r.to)
			c.StrokeLine2(draw.LineStyle{Color: canvas.Muted, Width: 0.8, Dashes: []vg.Length{2, 2}},
				joint, mid-barHeight/2, joint, mid-rowHeight+barHeight/2)
		}
		l.bar(c, x, r, mid)
		l.labels(c, r, mid)
		end()
	}
}

func (l *ladder) labels(c draw.Canvas, r rung, mid vg.Length) {
	sty := normal(canvas.Fg)
	if r.total {
		sty = bold(canvas.Fg)
	}
	x := c.Min.X - l.columns()
	drawText(c, sty, vg.Point{X: x, Y: mid}, fit(sty, r.name, l.names()-columnGap))
	x += l.names() + valueWidth
	drawText(c, right(sty), vg.Point{X: x, Y: mid}, r.value)
	drawText(c, right(normal(canvas.Muted)), vg.Point{X: x + shareWidth, Y: mid}, r.share)
}

// bar draws one row's bar, in two torn halves where it crosses the cut.
func (l *ladder) bar(c draw.Canvas, x func(float64) vg.Length, r rung, mid vg.Length) {
	a, b := min(r.from, r.to), max(r.from, r.to)
	y0, y1 := mid-barHeight/2, mid+barHeight/2
	rect := func(from, to vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: from, Y: y0}, Max: vg.Point{X: max(to, from+0.75), Y: y1}}
	}
	if !l.scale.cut() || b <= l.scale.from || a >= l.scale.to {
		fillBar(c, rect(x(a), x(b)), r.ink, r.hatched)
		l.whisker(c, x, r, mid)
		return
	}
	left, rightEdge := torn(x(l.scale.from), y0, y1), torn(x(l.scale.to), y0, y1)
	l.half(c, r, x(a), left, y0, y1)
	l.half(c, r, x(b), rightEdge, y0, y1)
}

// half draws the part of a bar between its own end and a torn edge, which
// runs from top to bottom.
func (l *ladder) half(c draw.Canvas, r rung, end vg.Length, edge []vg.Point, y0, y1 vg.Length) {
	outline := append(append([]vg.Point{{X: end, Y: y1}}, edge...), vg.Point{X: end, Y: y0})
	var p vg.Path
	for i, pt := range outline {
		if i == 0 {
			p.Move(pt)
			continue
		}
		p.Line(pt)
	}
	p.Close()
	if !r.hatched {
		c.SetColor(r.ink)
		c.Fill(p)
		return
	}
	c.SetColor(canvas.Tint{Ink: r.ink, Alpha: 0.12})
	c.Fill(p)
	lo, hi := end, edge[1].X // the teeth stay free of hatching
	if end > edge[0].X {
		lo, hi = edge[0].X, end
	}
	hatch(c, vg.Rectangle{Min: vg.Point{X: lo, Y: y0}, Max: vg.Point{X: hi, Y: y1}}, r.ink)
	c.SetLineStyle(draw.LineStyle{Color: r.ink, Width: 1})
	c.Stroke(p)
}

// whisker marks the interval of a rung's end.
func (l *ladder) whisker(c draw.Canvas, x func(float64) vg.Length, r rung, mid vg.Length) {
	if r.lo >= r.hi || inside(r.lo, l.scale) || inside(r.hi, l.scale) || r.lo < l.lo || r.hi > l.hi ||
		l.scale.cut() && r.lo <= l.scale.from && r.hi >= l.scale.to {
		return
	}
	a, b := x(r.lo), x(r.hi)
	if b-a < 3 {
		return
	}
	sty := draw.LineStyle{Color: canvas.Fg, Width: 1}
	c.StrokeLines(sty,
		[]vg.Point{{X: a, Y: mid}, {X: b, Y: mid}},
		[]vg.Point{{X: a, Y: mid - 3}, {X: a, Y: mid + 3}},
		[]vg.Point{{X: b, Y: mid - 3}, {X: b, Y: mid + 3}})
}

// axis draws grid and base line, interrupted at the cut.
func (l *ladder) axis(c draw.Canvas, x func(float64) vg.Length, top vg.Length) {
	for _, t := range l.scale.Ticks(l.lo, l.hi) {
		c.StrokeLine2(draw.LineStyle{Color: canvas.Grid, Width: 0.8}, x(t.Value), c.Min.Y, x(t.Value), top)
	}
	sty := draw.LineStyle{Color: canvas.Muted, Width: 0.8}
	if !l.scale.cut() {
		c.StrokeLine2(sty, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
		return
	}
	a, b := x(l.scale.from), x(l.scale.to)
	c.StrokeLine2(sty, c.Min.X, c.Min.Y, a, c.Min.Y)
	c.StrokeLine2(sty, b, c.Min.Y, c.Max.X, c.Min.Y)
	for _, at := range []vg.Length{a, b} {
		c.StrokeLine2(sty, at-2.5, c.Min.Y-5, at+2.5, c.Min.Y+5)
	}
}

// strip draws the whole step to scale, and how the ladder's two sides are
// taken from it.
func (l *ladder) strip(c draw.Canvas, x func(float64) vg.Length) {
	whole := func(v float64) vg.Length { return c.X((v - l.lo) / (l.hi - l.lo)) }
	mid := c.Max.Y - 10
	drawText(c, normal(canvas.Muted), vg.Point{X: c.Min.X - l.columns(), Y: mid}, "whole step, to scale")
	for _, r := range l.rows[:len(l.rows)-1] {
		a, b := whole(min(r.from, r.to)), whole(max(r.from, r.to))
		fillBar(c, vg.Rectangle{Min: vg.Point{X: a, Y: mid - 8}, Max: vg.Point{X: max(b, a+0.5), Y: mid + 8}}, r.ink, r.hatched)
	}
	sty := draw.LineStyle{Color: canvas.Muted, Width: 0.7, Dashes: []vg.Length{3, 3}}
	for _, v := range []float64{l.scale.from, l.scale.to} {
		c.StrokeLine2(sty, whole(v), mid-10, x(v), c.Max.Y-stripHeight+2)
	}
}
