package chart

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// Document is the figure as an SVG file of its own, under a one-line heading.
// It has its ground and both themes in it, and follows the reader's; programs
// that know neither theme nor CSS variables show the light one.
func (f *Figure) Document(heading string) (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	const margin, head = 16, 26
	s := canvas.NewSVG(f.Width+2*margin, f.Height+head+2*margin, "fig-"+f.ID, heading, f.Title+". "+f.Alt)
	c := draw.New(s)
	c.SetColor(canvas.Surface)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	sty := bold(canvas.Fg)
	sty.Font.Size = 15
	drawText(c, sty, vg.Point{X: c.Min.X + 4, Y: c.Max.Y - 8}, fit(sty, heading, f.Width-8))
	f.Draw(draw.Crop(c, 0, 0, 0, -head))
	before, after, _ := strings.Cut(literalInks(s.String()), "</desc>\n")
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + before + "</desc>\n<style>\n" + themes() + "</style>\n" + after, nil
}

// literalInks writes each ink's light value in place of its variable. No text
// of the figure can match: quotes are escaped there.
func literalInks(svg string) string {
	var pairs []string
	for i := canvas.Ink(0); int(i) < canvas.Inks; i++ {
		light := i.Hex(false)
		pairs = append(pairs, `"var(`+i.Var()+`,`+light+`)"`, `"`+light+`"`)
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

// themes gives the variables their values and the marks, known by their light
// value, their variables.
func themes() string {
	var b strings.Builder
	b.WriteString(":root{" + canvas.Variables(false) + "background:var(" + canvas.Surface.Var() + ")}\n")
	b.WriteString("@media (prefers-color-scheme: dark){:root{" + canvas.Variables(true) + "}}\n")
	for i := canvas.Ink(0); int(i) < canvas.Inks; i++ {
		b.WriteString(`[fill="` + i.Hex(false) + `"]{fill:var(` + i.Var() + `)}[stroke="` + i.Hex(false) + `"]{stroke:var(` + i.Var() + ")}\n")
	}
	return b.String()
}
