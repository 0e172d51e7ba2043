package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

// label is one upright text of a figure with its box, y down.
type label struct {
	text           string
	x0, x1, y0, y1 float64
}

// labels parses a figure strictly and measures its texts.
func labels(t *testing.T, svg string) []label {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var out []label
	in := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("the figure is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = false
			if token.Name.Local != "text" || attribute(token, "transform") != "" {
				continue
			}
			size := numeric(t, token, "font-size")
			l := label{x0: numeric(t, token, "x"), y1: numeric(t, token, "y")}
			l.y0 = l.y1 - 0.72*size
			l.x1 = size
			if attribute(token, "font-weight") != "" {
				l.x1 = -size
			}
			out, in = append(out, l), true
		case xml.CharData:
			if !in {
				continue
			}
			l := &out[len(out)-1]
			sty := normal(canvas.Fg)
			if l.x1 < 0 {
				sty, l.x1 = bold(canvas.Fg), -l.x1
			}
			sty.Font.Size = vg.Length(l.x1)
			l.text = string(token)
			l.x1 = l.x0 + float64(sty.Width(l.text))
			in = false
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func numeric(t *testing.T, e xml.StartElement, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(attribute(e, name), 64)
	if err != nil {
		t.Fatalf("<%s> has no number %s: %v", e.Name.Local, name, err)
	}
	return v
}

// crowded is a run with more and longer of everything than a figure can show.
func crowded() *reports.Run {
	run := founding()
	long := strings.Repeat("<very>&long\x1b[31m\u202e", 30)
	p := &run.Points[0]
	for i := range 30 {
		name := strconv.Itoa(i) + long
		p.Components = append(p.Components, component(name, 1, 1e8+float64(i)*1e7, 0, 1+float64(i)/3, 0.5))
		p.Ledger.Rungs = append(p.Ledger.Rungs, reports.Rung{Cause: "kernel", Component: name, Ms: 0.4 + float64(i)/10, Text: long})
		s := series(name, 20+float64(i), 60, 200+float64(i)*9, 500)
		run.Series = append(run.Series, s)
		run.Comparison.Crossovers = append(run.Comparison.Crossovers, reports.Crossover{At: 10 + float64(i), Text: long})
		run.Records = append(run.Records, reports.Best{Model: long, Hardware: long, Engine: long, Concurrency: 1 + i, OutputTokPerS: 50})
	}
	run.Comparison.Reasons = []string{long}
	run.Hardware.Name = long
	p.Ledger.Floor.Kind = long
	return run
}

// tiny is a run of very small and equal figures.
func tiny() *reports.Run {
	run := founding()
	p := &run.Points[0]
	p.Components = p.Components[:1]
	p.Measured.ValueMs = 0.0004
	p.Ledger.FloorMs, p.Ledger.MeasuredMs = 0.0003, 0.0004
	p.Ledger.Rungs = []reports.Rung{{Cause: "unattributed", Ms: 0.0001}}
	run.Series = run.Series[:1]
	run.Series[0].Points = run.Series[0].Points[:1]
	run.Comparison, run.Records = nil, nil
	run.Hardware.Ceilings = run.Hardware.Ceilings[:1]
	return run
}

func samples() map[string]*reports.Run {
	return map[string]*reports.Run{"founding": founding(), "traced": traced(), "balanced": balanced(), "crowded": crowded(), "tiny": tiny()}
}

// TestLabels checks that no text leaves its figure and that no two cover each
// other.
func TestLabels(t *testing.T) {
	for name, run := range samples() {
		figures := For(run)
		want := 4
		if name == "tiny" { // one concurrency is no sweep
			want = 3
		}
		if len(figures) != want {
			t.Errorf("%s: %d figures, want %d", name, len(figures), want)
		}
		for _, f := range figures {
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			all := labels(t, svg)
			if len(all) < 5 {
				t.Errorf("%s %s: only %d texts", name, f.ID, len(all))
			}
			for i, l := range all {
				if l.x0 < 0 || l.x1 > float64(f.Width) || l.y0 < 0 || l.y1 > float64(f.Height) {
					t.Errorf("%s %s: %q leaves the figure: %+v", name, f.ID, l.text, l)
				}
				for _, other := range all[:i] {
					if l.x0 < other.x1 && other.x0 < l.x1 && l.y0 < other.y1 && other.y0 < l.y1 {
						t.Errorf("%s %s: %q and %q cover each other", name, f.ID, l.text, other.text)
					}
				}
			}
		}
	}
}
