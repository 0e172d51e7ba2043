package chart

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

// timeline draws rows of a step over time.
type timeline struct {
	length  float64 // ms
	bins    int
	several bool // devices
	rows    []lane
	inks    map[string]canvas.Ink
}

// lane is one row.
type lane struct {
	kind, name   string
	rank, device int
	parts        []lanePart
	gaps         []reports.TimelineGap
}

// lanePart is one component, kind of gap or kind of call of a row.
type lanePart struct {
	name, title string
	ms          float64
	permille    []int
	look        look
}

// look is how a part is filled.
type look struct {
	ink     canvas.Ink
	alpha   float64 // 0 for the ink itself
	hatched bool
}

var restLook = look{ink: canvas.Muted}

const (
	laneHeight vg.Length = 34
	laneBar    vg.Length = 24
	laneLabel  vg.Length = 112
)

// row reads a row.
func (l *timeline) row(r reports.TimelineRow) (lane, error) {
	out := lane{kind: r.Kind, name: reports.OneLine(r.Name, 60), rank: r.Rank, device: r.Device}
	if l.several {
		out.name = fmt.Sprintf("rank %d %s", r.Rank, out.name)
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		shares, err := p.Permille(l.bins)
		if err != nil {
			return lane{}, fmt.Errorf("draw %s: %w", out.name, err)
		}
		if !finite(p.Ms) || p.Ms < 0 {
			return lane{}, fmt.Errorf("draw %s: a part of %g ms", out.name, p.Ms)
		}
		part := lanePart{name: reports.OneLine(p.Of, 60), ms: p.Ms, permille: shares}
		noun := "operation"
		switch r.Kind {
		case reports.RowIdle:
			part.look, noun = idleLook(p.Of), "gap"
			for _, k := range reports.IdleKinds {
				if k.Kind == p.Of {
					part.name = k.Name
				}
			}
		case reports.RowHost:
			part.look, noun = look{ink: canvas.Fg, alpha: 0.6}, "call"
			if p.Of == reports.CallWaits {
				part.look = look{ink: canvas.Fg, alpha: 0.2}
			}
		default:
			part.look = restLook
			if ink, ok := l.inks[p.Of]; ok {
				part.look = look{ink: ink}
			}
		}
		if p.Count != 1 {
			noun += "s"
		}
		part.title = fmt.Sprintf("%s · %s: %s in %d %s", out.name, part.name, millis(p.Ms, l.length), p.Count, noun)
		out.parts = append(out.parts, part)
	}
	return out, nil
}

// idleLook tells kinds of idle time apart without a colour of their own.
func idleLook(kind string) look {
	switch kind {
	case "launch_bound":
		return look{ink: canvas.Fg, alpha: 0.9}
	case "sync_bound":
		return look{ink: canvas.Fg, alpha: 0.55}
	case "graph_gap":
		return look{ink: canvas.Fg, alpha: 0.3}
	case "between_steps":
		return look{ink: canvas.Fg, alpha: 0.15}
	}
	return look{ink: canvas.Muted, hatched: true}
}

// addGaps gives each device's idle row its longest gaps.
func (l *timeline) addGaps(t *reports.Timeline) {
	for _, g := range t.Gaps {
		for i := range l.rows {
			r := &l.rows[i]
			if r.kind == reports.RowIdle && r.rank == g.Rank && r.device == g.Device && finite(g.StartMs) && finite(g.Ms) && g.StartMs >= 0 && g.Ms >= 0 {
				r.gaps = append(r.gaps, g)
			}
		}
	}
}

// Plot draws the rows from the top.
func (l *timeline) Plot(c draw.Canvas, _ *plot.Plot) {
	sty := normal(canvas.Muted)
	for i, r := range l.rows {
		bottom := c.Max.Y - vg.Length(i)*laneHeight - laneHeight/2 - laneBar/2
		drawText(c, right(sty), vg.Point{X: c.Min.X - 8, Y: bottom + laneBar/2}, fit(sty, r.name, laneLabel-12))
		c.StrokeLine2(draw.LineStyle{Color: canvas.Grid, Width: 0.8}, c.Min.X, bottom, c.Max.X, bottom)
		l.drawLane(c, r, i, bottom)
	}
}

// drawLane stacks the parts in each column and draws what is alike in
// neighbouring columns as one.
func (l *timeline) drawLane(c draw.Canvas, r lane, row int, bottom vg.Length) {
	total := make([]int, l.bins)
	for _, p := range r.parts {
		for i, v := range p.permille {
			total[i] += v
		}
	}
	column := (c.Max.X - c.Min.X) / vg.Length(l.bins)
	// Operations of one stream may overlap: then they share the column.
	share := func(v, i int) vg.Length { return laneBar * vg.Length(v) / vg.Length(max(1000, total[i])) }
	base := make([]vg.Length, l.bins)
	for k, p := range r.parts {
		var path vg.Path
		for i := 0; i < l.bins; {
			n, h := 1, share(p.permille[i], i)
			for i+n < l.bins && base[i+n] == base[i] && share(p.permille[i+n], i+n) == h {
				n++
			}
			if h > 0 {
				x0, x1 := c.Min.X+vg.Length(i)*column, c.Min.X+vg.Length(i+n)*column
				y := bottom + base[i]
				path.Move(vg.Point{X: x0, Y: y})
				path.Line(vg.Point{X: x1, Y: y})
				path.Line(vg.Point{X: x1, Y: y + h})
				path.Line(vg.Point{X: x0, Y: y + h})
				path.Close()
			}
			for j := range n {
				base[i+j] += h
			}
			i += n
		}
		if len(path) == 0 {
			continue
		}
		end := canvas.Annotate(c, fmt.Sprintf("row-%d-%d", row, k), p.title)
		c.SetColor(p.look.colour())
		c.Fill(path)
		end()
	}
	l.drawGaps(c, r, row, bottom)
}

// drawGaps lays what there is to say of the longest gaps over them.
func (l *timeline) drawGaps(c draw.Canvas, r lane, row int, bottom vg.Length) {
	width := c.Max.X - c.Min.X
	for k, g := range r.gaps {
		from, to := g.StartMs/l.length, (g.StartMs+g.Ms)/l.length
		if to > 1+1e-6 || (to-from)*float64(l.bins) < 1 {
			continue
		}
		name := g.Of
		for _, kind := range reports.IdleKinds {
			if kind.Kind == g.Of {
				name = kind.Name
			}
		}
		title := fmt.Sprintf("idle for %s from %s: %s", millis(g.Ms, l.length), millis(g.StartMs, l.length), name)
		if g.Before != "" {
			title += "; before " + g.Before
		}
		end := canvas.Annotate(c, fmt.Sprintf("gap-%d-%d", row, k), reports.OneLine(title, 300))
		area := vg.Rectangle{Min: vg.Point{X: c.Min.X + vg.Length(from)*width, Y: bottom}, Max: vg.Point{X: c.Min.X + vg.Length(to)*width, Y: bottom + laneBar}}
		if s := idleLook(g.Of); s.hatched {
			fillBar(c, area, s.ink, true)
		} else {
			c.SetColor(canvas.Surface) // or the tint would lie on itself
			c.Fill(area.Path())
			c.SetColor(s.colour())
			c.Fill(area.Path())
		}
		end()
	}
}

func (s look) colour() color.Color {
	switch {
	case s.hatched:
		return canvas.Tint{Ink: s.ink, Alpha: 0.12}
	case s.alpha > 0:
		return canvas.Tint{Ink: s.ink, Alpha: s.alpha}
	}
	return s.ink
}

// GlyphBoxes asks for room left of the plot for the rows' names.
func (l *timeline) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{Rectangle: vg.Rectangle{Min: vg.Point{X: -laneLabel}, Max: vg.Point{X: 2}}}}
}

var _ plot.GlyphBoxer = (*timeline)(nil)
