package canvas

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// tracer receives a path in target coordinates.
type tracer interface {
	moveTo(x, y float64)
	lineTo(x, y float64)
	curveTo(x1, y1, x2, y2, x, y float64)
	closePath()
}

// trace walks a path through m. Arcs and quadratic curves become cubic ones,
// which every target draws alike under any map.
func trace(p vg.Path, m matrix, t tracer) {
	var at, start vg.Point
	open := false
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			at, start, open = c.Pos, c.Pos, true
			x, y := m.apply(at)
			t.moveTo(x, y)
		case vg.LineComp:
			at = c.Pos
			x, y := m.apply(at)
			t.lineTo(x, y)
		case vg.CurveComp:
			c1, c2 := controls(at, c)
			at = c.Pos
			cubic(t, m, c1, c2, at)
		case vg.ArcComp:
			first := onArc(c, c.Start)
			x, y := m.apply(first)
			switch {
			case !open:
				t.moveTo(x, y)
				start, open = first, true
			case first != at:
				t.lineTo(x, y)
			}
			at = arc(t, m, c)
		case vg.CloseComp:
			t.closePath()
			at = start
		}
	}
}

// controls gives the two cubic control points of a curve that starts at from.
func controls(from vg.Point, c vg.PathComp) (c1, c2 vg.Point) {
	switch len(c.Control) {
	case 0: // malformed: a straight line is the only thing it can mean
		return from, c.Pos
	case 1:
		q := c.Control[0]
		return from.Add(q.Sub(from).Scale(2. / 3)), c.Pos.Add(q.Sub(c.Pos).Scale(2. / 3))
	}
	return c.Control[0], c.Control[1]
}

func onArc(c vg.PathComp, angle float64) vg.Point {
	sin, cos := math.Sincos(angle)
	return vg.Point{X: c.Pos.X + c.Radius*vg.Length(cos), Y: c.Pos.Y + c.Radius*vg.Length(sin)}
}

// arc traces a circular arc by cubics of at most a quarter turn and returns
// its end.
func arc(t tracer, m matrix, c vg.PathComp) vg.Point {
	sweep := c.Angle
	if math.Abs(sweep) > 2*math.Pi {
		sweep = math.Copysign(2*math.Pi, sweep)
	}
	n := max(1, int(math.Ceil(math.Abs(sweep)/(math.Pi/2)-1e-9)))
	step := sweep / float64(n)
	k := vg.Length(4. / 3 * math.Tan(step/4))
	at := onArc(c, c.Start)
	for i := range n {
		a0 := c.Start + float64(i)*step
		next := onArc(c, a0+step)
		r0, r1 := at.Sub(c.Pos), next.Sub(c.Pos)
		cubic(t, m,
			vg.Point{X: at.X - k*r0.Y, Y: at.Y + k*r0.X},
			vg.Point{X: next.X + k*r1.Y, Y: next.Y - k*r1.X}, next)
		at = next
	}
	return at
}

func cubic(t tracer, m matrix, c1, c2, end vg.Point) {
	x1, y1 := m.apply(c1)
	x2, y2 := m.apply(c2)
	x, y := m.apply(end)
	t.curveTo(x1, y1, x2, y2, x, y)
}
