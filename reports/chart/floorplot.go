package chart

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// ridgeLine is the height of a line of ridge names.
const ridgeLine vg.Length = 16

func latencyDashes() []vg.Length { return []vg.Length{2, 3} }

// Plot draws ridges undermost, then the latency floor and the lines, the first
// one uppermost.
func (s *floors) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	s.names(c, x, y)
	if s.origin {
		s.breakMark(c, x)
	}
	if l := &s.latency; len(l.dots) > 0 {
		end := canvas.Annotate(c, "latency", l.name)
		s.stroke(c, l, x, y, draw.LineStyle{Color: canvas.Series(l.line), Width: 1.2, Dashes: latencyDashes()})
		s.dots(c, l, x, y, "latency", draw.GlyphStyle{Color: canvas.Series(l.line), Radius: 1.8, Shape: draw.CircleGlyph{}})
		end()
	}
	for i := len(s.lines) - 1; i >= 0; i-- {
		l, ink := &s.lines[i], canvas.Series(i)
		end := canvas.Annotate(c, seriesID(i), l.name)
		s.stroke(c, l, x, y, draw.LineStyle{Color: ink, Width: 2, Dashes: dashes(i)})
		s.dots(c, l, x, y, seriesID(i), draw.GlyphStyle{Color: ink, Radius: 4, Shape: marker(i)})
		end()
	}
	for _, m := range s.marks() {
		for _, i := range m.lines {
			ms, _ := s.lines[i].at(float64(m.batch))
			end := canvas.Annotate(c, seriesID(i), s.lines[i].name+": "+m.text())
			c.StrokeLine2(draw.LineStyle{Color: canvas.Series(i), Width: 2}, x(float64(m.batch)), y(ms)-9, x(float64(m.batch)), y(ms)+9)
			end()
		}
	}
}

// stroke draws the line, thin across a break of the axis, where its slope says
// nothing, and not across what is not known.
func (s *floors) stroke(c draw.Canvas, l *floorLine, x, y func(float64) vg.Length, sty draw.LineStyle) {
	var pts []vg.Point
	end := func() {
		if len(pts) > 1 {
			c.StrokeLines(sty, pts)
		}
	}
	for i, d := range l.dots {
		at := vg.Point{X: x(d.x), Y: y(d.ms)}
		switch {
		case d.apart:
			end()
			pts = nil
		case i == 1 && s.axis.of(l.dots[0]) == 0:
			thin := sty
			thin.Width = 0.7
			c.StrokeLines(thin, []vg.Point{pts[0], at})
			pts = nil
		}
		pts = append(pts, at)
	}
	end()
}

// dots marks the line's points, as many as stay apart, and the last.
func (s *floors) dots(c draw.Canvas, l *floorLine, x, y func(float64) vg.Length, id string, sty draw.GlyphStyle) {
	last := c.Min.X - 100
	for i, d := range l.dots {
		at := vg.Point{X: x(d.x), Y: y(d.ms)}
		if at.X-last < 12 && i < len(l.dots)-1 {
			continue
		}
		last = at.X
		end := canvas.Annotate(c, id, s.title(l, d))
		c.DrawGlyphNoClip(sty, at)
		end()
	}
}

// breakMark marks that the axis is interrupted between 0 and the rest.
func (s *floors) breakMark(c draw.Canvas, x func(float64) vg.Length) {
	mid := (x(s.named[0].x) + x(s.named[1].x)) / 2
	sty := draw.LineStyle{Color: canvas.Muted, Width: 0.8}
	for _, at := range []vg.Length{mid - 3, mid + 3} {
		c.StrokeLine2(sty, at-2.5, c.Min.Y-5, at+2.5, c.Min.Y+5)
	}
}

// ridgeMark is a batch from which steps are compute-bound, and whose.
type ridgeMark struct {
	batch int
	lines []int
}

func (m ridgeMark) text() string { return fmt.Sprintf("compute-bound from batch %d", m.batch) }

// marks are the ridges that lie on their line, by rising batch.
func (s *floors) marks() []ridgeMark {
	var out []ridgeMark
	for i := range s.lines {
		batch := s.lines[i].ridge
		if _, ok := s.lines[i].at(float64(batch)); batch <= 0 || !ok {
			continue
		}
		at := slices.IndexFunc(out, func(m ridgeMark) bool { return m.batch == batch })
		if at < 0 {
			at, out = len(out), append(out, ridgeMark{batch: batch})
		}
		out[at].lines = append(out[at].lines, i)
	}
	slices.SortFunc(out, func(a, b ridgeMark) int { return a.batch - b.batch })
	return out
}

// ridgeName is a placed name: its box in a row, and the line that rises from
// there to the marks.
type ridgeName struct {
	mark     ridgeMark
	from, to vg.Length // of the text
	at       vg.Length // of the line
	row      int
}

// clashes says whether the texts or a text and the other's line meet.
func (n ridgeName) clashes(o ridgeName) bool {
	const gap = 10
	if n.row == o.row && n.from < o.to+gap && o.from < n.to+gap {
		return true
	}
	return o.row > n.row && o.from < n.at && n.at < o.to || n.row > o.row && n.from < o.at && o.at < n.to
}

// placeNames gives each name a side of its line and the lowest row where it
// clashes with none. Names on the right go by rising batch, those on the left
// by falling, so that later lines start above the earlier names.
func placeNames(marks []ridgeMark, c draw.Canvas, x func(float64) vg.Length) []ridgeName {
	var right, left []ridgeName
	for _, m := range marks {
		at, width := x(float64(m.batch)), normal(canvas.Muted).Width(m.text())
		if n := (ridgeName{mark: m, at: at, from: at + 6, to: at + 6 + width}); n.to <= c.Max.X {
			right = append(right, n)
			continue
		}
		left = append([]ridgeName{{mark: m, at: at, from: at - 6 - width, to: at - 6}}, left...)
	}
	var out []ridgeName
	for _, n := range append(right, left...) {
		for slices.ContainsFunc(out, n.clashes) && n.row < len(marks) {
			n.row++
		}
		out = append(out, n)
	}
	return out
}

// names sets the names of the ridges above the lower edge, each with a line up
// to its marks.
func (s *floors) names(c draw.Canvas, x, y func(float64) vg.Length) {
	for _, n := range placeNames(s.marks(), c, x) {
		top := c.Min.Y
		for _, i := range n.mark.lines {
			ms, _ := s.lines[i].at(float64(n.mark.batch))
			top = max(top, y(ms))
		}
		base := c.Min.Y + vg.Length(n.row)*ridgeLine
		c.StrokeLine2(draw.LineStyle{Color: canvas.Muted, Width: 0.8, Dashes: []vg.Length{4, 3}}, n.at, base+3, n.at, top)
		drawText(c, normal(canvas.Muted), vg.Point{X: n.from, Y: base + 10}, n.mark.text())
	}
}
