package pdf

import (
	"image/color"
	"strings"

	"decodegap/reports/canvas"
)

// face is a size of type with its distance between lines, in points.
type face struct{ size, lead float64 }

var (
	heading = face{12, 16}
	body    = face{9.5, 13.2}
	small   = face{8, 11}
)

// tone is weight and colour.
type tone struct {
	bold  bool
	mono  bool
	color color.Color
}

var (
	plain  = tone{color: canvas.Fg}
	strong = tone{bold: true, color: canvas.Fg}
	muted  = tone{color: canvas.Muted}
	accent = tone{bold: true, color: canvas.C0}
	warn   = tone{color: color.RGBA{R: 0x9a, G: 0x46, B: 0x00, A: 255}}
	code   = tone{mono: true, color: canvas.Fg}
)

// style sets font and colour for what is measured and put next.
func (p *printer) style(f face, t tone) {
	family, weight := canvas.SansFamily, ""
	switch {
	case t.mono:
		family = canvas.MonoFamily
	case t.bold:
		weight = "B"
	}
	p.doc.SetFont(family, weight, f.size)
	r, g, b, _ := t.color.RGBA()
	p.doc.SetTextColor(int(r>>8), int(g>>8), int(b>>8))
}

// put prints text with its baseline's left end at (x, y).
func (p *printer) put(x, y float64, s string) {
	if s = p.safe(s); strings.TrimSpace(s) != "" {
		p.doc.Text(x, y, s)
	}
}

// putRight prints text that ends at x.
func (p *printer) putRight(x, y float64, s string) { p.put(x-p.measure(s), y, s) }

func (p *printer) measure(s string) float64 { return p.doc.GetStringWidth(p.safe(s)) }

func (p *printer) rule(x, y, w float64, c color.Color, thick float64) {
	r, g, b, _ := c.RGBA()
	p.doc.SetDrawColor(int(r>>8), int(g>>8), int(b>>8))
	p.doc.SetLineWidth(thick)
	p.doc.Line(x, y, x+w, y)
}

// fit cuts a text to a width.
func (p *printer) fit(s string, w float64) string {
	s = p.safe(s)
	if p.doc.GetStringWidth(s) <= w {
		return s
	}
	room := w - p.doc.GetStringWidth("…")
	for i, r := range s {
		if room -= p.doc.GetStringWidth(string(r)); room < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks text to a width at blanks, and inside words that are wider. The
// current style measures it. There is always one line.
func (p *printer) wrap(s string, w float64) []string {
	var lines []string
	line, used := "", 0.0
	blank := p.doc.GetStringWidth(" ")
	for _, word := range strings.Fields(p.safe(s)) {
		n := p.doc.GetStringWidth(word)
		if line != "" && used+blank+n <= w {
			line, used = line+" "+word, used+blank+n
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line, used = word, n
		for used > w {
			at := p.cut(line, w)
			lines = append(lines, line[:at])
			line = line[at:]
			used = p.doc.GetStringWidth(line)
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// cut is where a word that is wider than w breaks: after a mark between its
// parts if there is one, else anywhere, at least one character in.
func (p *printer) cut(word string, w float64) int {
	used, mark := 0.0, 0
	for i, r := range word {
		if used += p.doc.GetStringWidth(string(r)); used > w && i > 0 {
			if mark > 0 {
				return mark
			}
			return i
		}
		if strings.ContainsRune("/._-:,=", r) {
			mark = i + len(string(r))
		}
	}
	return len(word)
}

// paragraph prints running text over the page's width.
func (p *printer) paragraph(s string, f face, t tone) { p.column(s, margin, width, f, t) }

// column prints running text at x, w wide, and breaks pages between lines.
func (p *printer) column(s string, x, w float64, f face, t tone) {
	p.style(f, t)
	for _, line := range p.wrap(s, w) {
		p.need(f.lead)
		p.style(f, t)
		p.put(x, p.y+f.size, line)
		p.y += f.lead
	}
}
