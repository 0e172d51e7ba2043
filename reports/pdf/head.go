package pdf

import (
	"decodegap/reports"
	"decodegap/reports/canvas"
)

// head is the top of the first page: what was looked at, the one number, and
// the times it compares.
func (p *printer) head() {
	t, h := p.page.Title, p.page.Headline
	p.column(t.Model, margin, width, face{19, 23}, strong)
	p.y += 2
	for _, line := range []string{t.Machine, (reports.Title{Engine: t.Engine, Point: t.Point}).Line()} {
		if line != "" {
			p.column(line, margin, width, body, muted)
		}
	}
	p.y += 22
	p.number(h)
	p.y += 16
	p.times(h.Rows)
}

// number is the ratio, large, with the sentence beside it.
func (p *printer) number(h reports.Headline) {
	tone := strong
	if h.Warn {
		tone = warn
		tone.bold = true
	}
	big := face{58, 58}
	const left = 190.0
	p.style(big, tone)
	for p.measure(h.Number) > left-14 && big.size > 12 {
		big.size--
		p.style(big, tone)
	}
	start := p.y
	p.put(margin-2, p.y+big.size*0.76, h.Number)
	p.y += big.size*0.76 + 8
	p.column(h.Of, margin, left-20, body, muted)
	end := p.y
	p.y = start - 3
	p.column(h.Sentence, margin+left, width-left, face{12, 17}, plain)
	p.y = max(p.y, end)
}

// times are the headline's rows, with bars to scale.
func (p *printer) times(rows []reports.HeadRow) {
	if len(rows) == 0 {
		return
	}
	const (
		name, ms, bar, tok, ratio = 70.0, 48.0, 92.0, 62.0, 48.0
		text                      = margin + name + ms + bar + tok + ratio + 14
	)
	longest := 0.0
	for _, r := range rows {
		longest = max(longest, r.Value)
	}
	p.style(small, muted)
	y := p.y + small.size
	p.putRight(margin+name+ms, y, "ms/token")
	p.putRight(margin+name+ms+bar+tok-6, y, "tok/s")
	p.putRight(margin+name+ms+bar+tok+ratio, y, "efficiency")
	p.y += small.lead + 4
	p.rule(margin, p.y, width, canvas.Muted, 0.6)
	for _, r := range rows {
		t := plain
		if r.Kind == reports.RowTotal || r.Kind == reports.RowStrong {
			t = strong
		}
		said := r.Text
		if r.Claim != "" {
			said = r.Claim + " · " + said
		}
		p.style(small, muted)
		lines := p.wrap(said, margin+width-text)
		p.need(float64(len(lines))*small.lead + 8)
		p.y += 5
		y := p.y + small.size + 0.5
		p.style(face{8.5, 11}, t)
		p.put(margin, y, r.Name)
		p.putRight(margin+name+ms, y, r.Ms)
		p.putRight(margin+name+ms+bar+tok-6, y, r.TokS)
		p.putRight(margin+name+ms+bar+tok+ratio, y, r.Ratio)
		if r.Value > 0 && longest > 0 {
			var c = canvas.C0
			switch r.Kind {
			case reports.RowTotal:
				c = canvas.Fg
			case "":
				c = canvas.Muted
			}
			red, green, blue, _ := c.RGBA()
			p.doc.SetFillColor(int(red>>8), int(green>>8), int(blue>>8))
			p.doc.Rect(margin+name+ms+12, y-6, max(1, r.Value/longest*(bar-12)), 6, "F")
		}
		for i, line := range lines {
			if t := muted; i == 0 && r.Claim != "" {
				p.claim(text, y, line, r.Claim, t)
			} else {
				p.style(small, t)
				p.put(text, y+float64(i)*small.lead, line)
			}
		}
		p.y += float64(len(lines)) * small.lead
		p.y += 3
		p.rule(margin, p.y+1, width, canvas.Grid, 0.5)
	}
}

// claim prints a line whose start is set apart, if the line holds it whole.
func (p *printer) claim(x, y float64, line, claim string, rest tone) {
	claim = p.safe(claim)
	if len(line) < len(claim) || line[:len(claim)] != claim {
		p.style(small, rest)
		p.put(x, y, line)
		return
	}
	dark := plain
	p.style(small, dark)
	p.put(x, y, claim)
	x += p.measure(claim)
	p.style(small, rest)
	p.put(x, y, line[len(claim):])
}
