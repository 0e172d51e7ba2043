package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports"
	"decodegap/reports/canvas"
	"decodegap/roofline/unit"
)

// roof is the Plotter of Roofline. Names stand in a column right of the
// points, in the empty corner below the memory roof, each with a line to its
// point: at batch 1 most components share one intensity.
type roof struct {
	spots     []spot
	flats     []flat
	bandwidth reports.Ceiling
}

// Plot draws roofs, points and names.
func (r *roof) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	r.memoryRoof(c, p)
	for _, f := range r.flats {
		r.computeRoof(c, p, f)
	}
	at := func(s spot) vg.Point { return vg.Point{X: x(s.intensity), Y: y(s.rate)} }
	for i := len(r.spots) - 1; i >= 0; i-- { // the largest lies undermost
		s := r.spots[len(r.spots)-1-i]
		end := canvas.Annotate(c, s.id, s.name+" "+unit.FromMillis(s.ms).String()+", "+s.detail)
		r.mark(c, s, at(s), x, y)
		end()
	}
	r.flatNames(c, y)
	r.names(c, at)
}

// memoryRoof draws bandwidth × intensity up to the highest compute roof, its
// name along it.
func (r *roof) memoryRoof(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	bw := r.bandwidth.Value
	top := p.Y.Max
	if n := len(r.flats); n > 0 {
		top = r.flats[n-1].rate
	}
	lo, hi := max(p.X.Min, p.Y.Min/bw), min(p.X.Max, top/bw)
	if hi <= lo {
		return
	}
	a, b := vg.Point{X: x(lo), Y: y(lo * bw)}, vg.Point{X: x(hi), Y: y(hi * bw)}
	end := canvas.Annotate(c, "roof-memory", "memory roof "+unit.BytesPerSecond(bw).String()+", "+r.bandwidth.Source)
	c.StrokeLines(draw.LineStyle{Color: canvas.Fg, Width: 1.6}, []vg.Point{a, b})
	sty := normal(canvas.Fg)
	name := "memory " + unit.BytesPerSecond(bw).String()
	angle := math.Atan2(float64(b.Y-a.Y), float64(b.X-a.X))
	mid := a.Add(b.Sub(a).Scale(vg.Length(r.clear(lo, hi))))
	c.Push()
	c.Translate(mid)
	c.Rotate(angle)
	drawText(c, center(sty), vg.Point{Y: 12}, name)
	c.Pop()
	end()
}

// clear is the place along the memory roof, as a share of its length on the
// logarithmic axis, that is farthest from any point.
func (r *roof) clear(lo, hi float64) float64 {
	best, farthest := 0.5, 0.0
	for _, share := range []float64{0.72, 0.64, 0.56, 0.48, 0.4, 0.32, 0.24} {
		nearest := math.Inf(1)
		for _, s := range r.spots {
			nearest = min(nearest, math.Abs((logScale{}).Normalize(lo, hi, s.intensity)-share))
		}
		if nearest > farthest+1e-9 {
			best, farthest = share, nearest
		}
	}
	return best
}

// computeRoof draws one flat roof from where the memory roof meets it.
func (r *roof) computeRoof(c draw.Canvas, p *plot.Plot, f flat) {
	x, y := p.Transforms(&c)
	from := max(p.X.Min, f.rate/r.bandwidth.Value)
	if from >= p.X.Max {
		return
	}
	end := canvas.Annotate(c, "roof-"+f.name, "dense roof "+f.label())
	c.StrokeLine2(draw.LineStyle{Color: canvas.Fg, Width: 1.6}, x(from), y(f.rate), c.Max.X, y(f.rate))
	end()
}

// GlyphBoxes reserves the room of the compute roofs' names, right of the axes.
func (r *roof) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	var w vg.Length
	for _, f := range r.flats {
		w = max(w, normal(canvas.Fg).Width(f.label()))
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: w + 12}}}}
}

// flatNames sets the names of the compute roofs at their right ends.
func (r *roof) flatNames(c draw.Canvas, y func(float64) vg.Length) {
	want := make([]vg.Length, len(r.flats))
	for i, f := range r.flats {
		want[i] = y(f.rate)
	}
	for i, at := range spread(want, 15, c.Min.Y, c.Max.Y+8) {
		c.StrokeLine2(draw.LineStyle{Color: canvas.Muted, Width: 0.7}, c.Max.X, want[i], c.Max.X+7, at)
		drawText(c, normal(canvas.Fg), vg.Point{X: c.Max.X + 10, Y: at}, r.flats[i].label())
	}
}

func (f flat) label() string { return f.name + " " + unit.FLOPsPerSecond(f.rate).String() }

// mark draws the point; the measured step also shows its distance to the roof.
func (r *roof) mark(c draw.Canvas, s spot, at vg.Point, x, y func(float64) vg.Length) {
	if !s.measured {
		radius := vg.Length(3 + 11*math.Sqrt(min(1, max(0, s.share))))
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: canvas.Tint{Ink: s.ink, Alpha: 0.25}, Radius: radius, Shape: draw.CircleGlyph{}}, at)
		c.SetLineStyle(draw.LineStyle{Color: s.ink, Width: 1.4})
		var p vg.Path
		p.Move(vg.Point{X: at.X + radius, Y: at.Y})
		p.Arc(at, radius, 0, 2*math.Pi)
		p.Close()
		c.Stroke(p)
		return
	}
	above := y(s.intensity * r.bandwidth.Value)
	if n := len(r.flats); n > 0 {
		above = min(above, y(r.flats[n-1].rate))
	}
	if above > at.Y {
		c.StrokeLine2(draw.LineStyle{Color: s.ink, Width: 1, Dashes: []vg.Length{2, 3}}, at.X, at.Y, at.X, above)
	}
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: s.ink, Radius: 6, Shape: diamond{}}, at)
}

// names sets the column of names, in the order of the points' heights.
func (r *roof) names(c draw.Canvas, at func(spot) vg.Point) {
	sty := normal(canvas.Fg)
	const gap, line = 34, 16
	var column, width vg.Length
	want := make([]vg.Length, len(r.spots))
	texts := make([]string, len(r.spots))
	for i, s := range r.spots {
		pt := at(s)
		want[i] = vg.Length(math.Round(float64(pt.Y))) // equal heights stay in order of size
		texts[i] = fit(sty, s.name, 190)
		column = max(column, pt.X)
		width = max(width, sty.Width(texts[i]+"  "+unit.FromMillis(s.ms).String()))
	}
	column = min(column+gap, c.Max.X-width)
	for i, y := range spread(want, line, c.Min.Y+line/2, c.Max.Y-line/2) {
		s, pt := r.spots[i], at(r.spots[i])
		sty := sty
		c.StrokeLines(draw.LineStyle{Color: canvas.Muted, Width: 0.7},
			[]vg.Point{{X: pt.X, Y: pt.Y}, {X: column - 12, Y: y}, {X: column - 4, Y: y}})
		if s.measured {
			sty = bold(canvas.Fg)
		}
		drawText(c, sty, vg.Point{X: column, Y: y}, texts[i])
		drawText(c, normal(canvas.Muted), vg.Point{X: column + sty.Width(texts[i]+"  "), Y: y}, unit.FromMillis(s.ms).String())
	}
}

// spread moves labels apart to the given spacing, downwards from the highest
// and back up where the lower edge stops them; it keeps their order.
func spread(want []vg.Length, spacing, lo, hi vg.Length) []vg.Length {
	order := make([]int, len(want))
	for i := range order {
		order[i] = i
	}
	sortBy(order, func(i int) float64 { return -float64(want[i]) })
	out := make([]vg.Length, len(want))
	next := hi
	for _, i := range order {
		out[i] = min(want[i], next)
		next = out[i] - spacing
	}
	floor := lo
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		out[i] = max(out[i], floor)
		floor = out[i] + spacing
	}
	return out
}
