package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

// What one figure can hold apart.
const (
	maxSeries = 8
	maxBest   = 96
)

// Throughput draws output tokens a second over concurrency, one line a series,
// with their crossovers, the layout floor of the run's points and the best
// publicly known results. It is nil where no series states a throughput at two
// concurrencies or more.
func Throughput(run *reports.Run) (*Figure, error) {
	s := sweepOf(run)
	if !slices.ContainsFunc(s.lines, func(l line) bool { return len(l.points) > 1 }) {
		return nil, nil
	}
	p := newPlot()
	s.ranges(p)
	p.X.Scale, p.Y.Scale = logScale{}, logScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = s.xticks(p.X.Min, p.X.Max), logTicks{general}
	p.Add(grid{x: true, y: true}, s)
	f := &Figure{
		ID:    "throughput",
		Title: "Throughput over concurrency",
		Alt:   s.words(run.Comparison),
		Width: designWidth,
		Plot:  p, XName: "concurrency", YName: "output tokens per second, all requests together", Keys: s.keys(),
	}
	f.Height = 380 + keysHeight(f.Keys, designWidth-8)
	if more := len(run.Series) - len(s.lines); more > 0 {
		f.Note = fmt.Sprintf("%d more series are not drawn. ", more)
	}
	if c := run.Comparison; c != nil && !c.Comparable {
		f.Note += "The series are not comparable"
		if len(c.Reasons) > 0 {
			f.Note += ": " + c.Reasons[0]
		}
		if more := len(c.Reasons) - 1; more > 0 {
			f.Note += fmt.Sprintf(" (and %d more reasons)", more)
		}
	}
	if f.Note != "" {
		f.Height += noteHeight
	}
	return f, nil
}

// line is one series, by rising concurrency.
type line struct {
	name   string
	points []dot
}

// dot is a concurrency and the output tokens a second there.
type dot struct {
	x, y  float64
	title string
	draft bool // a record with speculation
}

// sweepOf takes what can stand on logarithmic axes.
func sweepOf(run *reports.Run) *sweep {
	s := &sweep{}
	for _, series := range run.Series {
		l := line{name: series.Name}
		for _, p := range series.Points {
			if p.OutputTokPerS != nil && positive(*p.OutputTokPerS) && positive(p.Concurrency) {
				l.points = append(l.points, dot{x: p.Concurrency, y: *p.OutputTokPerS,
					title: fmt.Sprintf("%s at concurrency %s: %s tok/s", series.Name, general(p.Concurrency), tokens(*p.OutputTokPerS))})
			}
		}
		byX(l.points)
		if len(l.points) > 0 && len(s.lines) < maxSeries {
			s.lines = append(s.lines, l)
		}
	}
	for _, p := range run.Points {
		for _, f := range p.Floors {
			if f.Kind == "layout" && positive(f.TokPerS) && p.Batch > 0 && !has(s.floor, float64(p.Batch)) {
				s.floorBasis = f.Basis
				s.floor = append(s.floor, dot{x: float64(p.Batch), y: f.TokPerS,
					title: fmt.Sprintf("layout floor (%s) at batch %d: %s tok/s", f.Basis, p.Batch, tokens(f.TokPerS))})
			}
		}
	}
	byX(s.floor)
	for _, r := range run.Records {
		if r.Concurrency > 0 && positive(r.OutputTokPerS) && len(s.best) < maxBest {
			s.best = append(s.best, dot{x: float64(r.Concurrency), y: r.OutputTokPerS,
				draft: r.Speculation != "" && r.Speculation != "none",
				title: fmt.Sprintf("public: %s on %d × %s, %s: %s tok/s at concurrency %d, %s", r.Model, r.GPUs, r.Hardware, r.Engine, tokens(r.OutputTokPerS), r.Concurrency, r.Source)})
		}
	}
	if c := run.Comparison; c != nil {
		for _, x := range c.Crossovers {
			if positive(x.At) && len(s.crossings) < 4 {
				s.crossings = append(s.crossings, dot{x: x.At, title: x.Text})
			}
		}
		byX(s.crossings)
	}
	return s
}

func byX(d []dot) { slices.SortStableFunc(d, func(a, b dot) int { return compare(a.x, b.x) }) }

func has(d []dot, x float64) bool {
	return slices.ContainsFunc(d, func(e dot) bool { return e.x == x })
}

// tokens prints a rate with the digits a benchmark states.
func tokens(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	if v >= 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// ranges fits the axes to all that is drawn.
func (s *sweep) ranges(p *plot.Plot) {
	p.X.Min, p.Y.Min = math.Inf(1), math.Inf(1)
	p.X.Max, p.Y.Max = 0, 0
	for _, d := range s.all() {
		p.X.Min, p.X.Max = min(p.X.Min, d.x), max(p.X.Max, d.x)
		p.Y.Min, p.Y.Max = min(p.Y.Min, d.y), max(p.Y.Max, d.y)
	}
	p.X.Min, p.X.Max = p.X.Min/1.25, p.X.Max*1.35
	p.Y.Min, p.Y.Max = p.Y.Min/1.8, p.Y.Max*1.6
}

func (s *sweep) all() []dot {
	var out []dot
	for _, l := range s.lines {
		out = append(out, l.points...)
	}
	return append(append(out, s.floor...), s.best...)
}

// xticks names the measured concurrencies, leaving out those too close to the
// one before; with many it falls back to powers of ten.
func (s *sweep) xticks(lo, hi float64) plot.Ticker {
	var xs []float64
	for _, l := range s.lines {
		for _, d := range l.points {
			xs = append(xs, d.x)
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	if len(xs) > 16 {
		return logTicks{general}
	}
	var out plot.ConstantTicks
	last := math.Inf(-1)
	for _, x := range xs {
		t := plot.Tick{Value: x}
		if at := (logScale{}).Normalize(lo, hi, x); at-last > 0.055 {
			t.Label, last = general(x), at
		}
		out = append(out, t)
	}
	return out
}

func (s *sweep) keys() []Key {
	var out []Key
	for i, l := range s.lines {
		out = append(out, Key{Ink: canvas.Series(i), Line: dashes(i), Glyph: marker(i), Text: l.name})
	}
	if len(s.floor) > 0 {
		k := Key{Ink: canvas.Fg, Glyph: draw.CircleGlyph{}, Text: "floor: layout, " + s.floorBasis}
		if len(s.floor) > 1 {
			k.Line = floorDashes()
		}
		out = append(out, k)
	}
	for _, spec := range []bool{false, true} {
		if slices.ContainsFunc(s.best, func(d dot) bool { return d.draft == spec }) {
			out = append(out, Key{Ink: canvas.Fg, Glyph: bestMarker(spec), Text: bestName(spec)})
		}
	}
	return out
}

func floorDashes() []vg.Length { return []vg.Length{2, 3} }

func bestName(speculation bool) string {
	if speculation {
		return "best public, speculating"
	}
	return "best public result"
}

func bestMarker(speculation bool) draw.GlyphDrawer {
	if speculation {
		return openPyramid{}
	}
	return draw.PyramidGlyph{}
}

func (s *sweep) words(c *reports.Comparison) string {
	out := "Output tokens per second over concurrency."
	for _, l := range s.lines {
		out += " " + l.name + ":"
		for _, d := range l.points {
			out += fmt.Sprintf(" %s at %s,", tokens(d.y), general(d.x))
		}
		out = out[:len(out)-1] + "."
	}
	for _, x := range s.crossings {
		out += fmt.Sprintf(" %s", x.title)
	}
	if c != nil && !c.Comparable {
		out += " The series are not comparable."
	}
	return out
}
