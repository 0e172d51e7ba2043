package canvas

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// svgPath collects path data in SVG's notation.
type svgPath struct{ strings.Builder }

func (p *svgPath) coords(command byte, v ...float64) {
	p.WriteByte(command)
	for i, f := range v {
		if i > 0 {
			p.WriteByte(' ')
		}
		p.WriteString(number(f))
	}
}

func (p *svgPath) moveTo(x, y float64)              { p.coords('M', x, y) }
func (p *svgPath) lineTo(x, y float64)              { p.coords('L', x, y) }
func (p *svgPath) curveTo(a, b, c, d, x, y float64) { p.coords('C', a, b, c, d, x, y) }
func (p *svgPath) closePath()                       { p.WriteByte('Z') }

func pathData(p vg.Path, m matrix) string {
	var b svgPath
	trace(p, m, &b)
	return b.String()
}

// number prints a coordinate with at most two decimals. What is no number, or
// too large to be on any page, is clamped: a plot of hostile values must stay
// a valid document.
func number(v float64) string { return decimals(v, 2) }

// ratio prints a matrix coefficient.
func ratio(v float64) string { return decimals(v, 5) }

func decimals(v float64, n int) string {
	const far = 1e6
	if math.IsNaN(v) {
		v = 0
	}
	v = min(far, max(-far, v))
	s := strconv.FormatFloat(v, 'f', n, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" || s == "" {
		return "0"
	}
	return s
}
