package chart

import (
	"math"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// textStyle is left-aligned sans text.
func textStyle(size vg.Length, ink canvas.Ink, weight xfont.Weight) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

func normal(ink canvas.Ink) text.Style { return textStyle(12, ink, xfont.WeightNormal) }
func bold(ink canvas.Ink) text.Style   { return textStyle(12, ink, xfont.WeightBold) }
func small(ink canvas.Ink) text.Style  { return textStyle(11, ink, xfont.WeightNormal) }

func right(s text.Style) text.Style  { s.XAlign = draw.XRight; return s }
func center(s text.Style) text.Style { s.XAlign = draw.XCenter; return s }

// drawText sets one line with the middle of its digits at pt; plot's own
// YCenter counts descent and line gap too and sits high.
func drawText(c draw.Canvas, sty text.Style, pt vg.Point, s string) {
	const digits = 0.71 // height of a digit, of the font size
	s = canvas.Printable(s)
	pt.X += vg.Length(sty.XAlign) * sty.Width(s)
	pt.Y -= sty.Font.Size * digits / 2
	c.SetColor(sty.Color)
	c.FillString(sty.Handler.Cache().Lookup(sty.Font, sty.Font.Size), pt, s)
}

// newPlot is an empty plot in the house style: no frame, quiet axes.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: canvas.Muted, Width: 0.8}
		a.Padding = 0
		a.Tick.LineStyle = draw.LineStyle{Color: canvas.Muted, Width: 0.8}
		a.Tick.Length = 5
		xalign, yalign := a.Tick.Label.XAlign, a.Tick.Label.YAlign
		a.Tick.Label = normal(canvas.Muted)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = xalign, yalign
	}
	return p
}

// fit shortens s to the width, keeping its start and its end: names of one
// family differ at either.
func fit(sty text.Style, s string, width vg.Length) string {
	s = canvas.Printable(s)
	r := []rune(s)
	const longest = 400
	if len(r) <= longest && sty.Width(s) <= width {
		return s
	}
	for keep := min(len(r)-1, longest); keep > 1; keep-- {
		tail := keep / 3
		short := string(r[:keep-tail]) + "…" + string(r[len(r)-tail:])
		if sty.Width(short) <= width {
			return short
		}
	}
	return "…"
}

// finite says whether v may be drawn: a number of a size that still leaves
// room for sums and ratios.
func finite(v float64) bool { return !math.IsNaN(v) && math.Abs(v) < 1e100 }

// positive says whether v may stand on a logarithmic axis.
func positive(v float64) bool { return finite(v) && v > 1e-100 }

// millis prints a time with the decimals that suit the largest of its column.
func millis(v, largest float64) string {
	places := 3
	switch largest = math.Abs(largest); {
	case largest >= 1000:
		places = 1
	case largest >= 10:
		places = 2
	case largest < 0.1 && largest > 0:
		places = min(9, 2-int(math.Floor(math.Log10(largest))))
	}
	if least := math.Pow10(-places); v != 0 && math.Abs(v) < least/2 {
		return "<" + strconv.FormatFloat(least, 'f', places, 64) + " ms"
	}
	if math.Abs(v) >= 1e7 {
		return strconv.FormatFloat(v, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(v, 'f', places, 64) + " ms"
}
