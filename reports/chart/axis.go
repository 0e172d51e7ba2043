package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// logScale is plot.LogScale that never panics: what is not positive lies at
// the axis's low end.
type logScale struct{}

func (logScale) Normalize(lo, hi, x float64) float64 {
	if lo <= 0 || hi <= lo || x <= 0 {
		return 0
	}
	return math.Log(x/lo) / math.Log(hi/lo)
}

// logTicks marks powers of ten, and 2 and 5 between them on short axes.
type logTicks struct{ format func(float64) string }

func (t logTicks) Ticks(lo, hi float64) []plot.Tick {
	if lo <= 0 || hi <= lo {
		return nil
	}
	var out []plot.Tick
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	every := max(1, (last-first+9)/10)
	for e := first; e <= last; e++ {
		for m := 1; m <= 9; m++ {
			v := float64(m) * math.Pow10(e)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			tick := plot.Tick{Value: v}
			if major := m == 1 || last-first <= 2 && (m == 2 || m == 5); major && e%every == 0 {
				tick.Label = t.format(v)
			}
			out = append(out, tick)
		}
	}
	return out
}

// linearTicks marks about n multiples of 1, 2 or 5 times a power of ten.
func linearTicks(lo, hi float64, n int) []plot.Tick {
	return multiples(lo, hi, niceStep((hi-lo)/float64(n)))
}

// multiples marks the multiples of step from lo to hi.
func multiples(lo, hi, step float64) []plot.Tick {
	var out []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*step && len(out) < 50; i++ {
		v := i*step + 0 // not "-0"
		out = append(out, plot.Tick{Value: v, Label: plainNumber(v, step)})
	}
	return out
}

func niceStep(rough float64) float64 {
	if !positive(rough) {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if rough <= m*p {
			return m * p
		}
	}
	return 10 * p
}

// plainNumber prints a multiple of step without needless decimals.
func plainNumber(v, step float64) string {
	places := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if math.Abs(v) >= 1e7 || places > 6 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// general prints a number in the shortest way that people write it.
func general(v float64) string {
	if v >= 1e6 || v < 1e-4 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// grid draws a line for every labelled tick of the axes named.
type grid struct{ x, y bool }

func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	sty := draw.LineStyle{Color: canvas.Grid, Width: 0.8}
	if g.x {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if at := x(t.Value); t.Label != "" && c.ContainsX(at) {
				c.StrokeLine2(sty, at, c.Min.Y, at, c.Max.Y)
			}
		}
	}
	if g.y {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if at := y(t.Value); t.Label != "" && c.ContainsY(at) {
				c.StrokeLine2(sty, c.Min.X, at, c.Max.X, at)
			}
		}
	}
}
