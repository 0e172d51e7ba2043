package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"

	"decodegap/reports"
	"decodegap/reports/canvas"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Components sets the step's time by component, split evenly over the GPUs,
// beside the same under the engine's layout. It shows memory and compute only;
// collectives are on the ladder. It is nil where no component has a time.
func Components(run *reports.Run, point int) (*Figure, error) {
	pt, err := pointOf(run, point)
	if err != nil {
		return nil, err
	}
	parts := partsOf(pt.Components)
	if len(parts) == 0 {
		return nil, nil
	}
	pair := &pair{parts: parts}
	for _, p := range parts {
		pair.total[0] += p.ms[0]
		pair.total[1] += p.ms[1]
	}
	p := newPlot()
	p.HideY()
	p.X.Min, p.X.Max = 0, max(pair.total[0], pair.total[1])*1.02
	p.X.Tick.Marker = brokenScale{}
	p.Y.Min, p.Y.Max = 0, 1
	p.Add(grid{x: true}, pair)
	f := &Figure{
		ID:    idOf("components", run, point),
		Title: "What the layout adds, by component",
		Alt:   pair.words(),
		Width: designWidth,
		Plot:  p, XName: "ms per step, at the floor", Keys: pair.keys(),
		Note: "In the key: ideal → layout, and the bytes that the busiest GPU reads and writes a step under the layout.",
	}
	f.Height = 210 + noteHeight + keysHeight(f.Keys, designWidth-8)
	return f, nil
}

// part is one component's time in the two bars.
type part struct {
	name  string
	ms    [2]float64 // ideal, layout
	bytes float64    // under the layout
	ink   canvas.Ink
	rest  bool
}

// maxParts is the number of components with a colour of their own.
const maxParts = 7

// partsOf takes the components with a time, the largest with their own colour
// and the rest as one.
func partsOf(rows []reports.ComponentRow) []part {
	var all []part
	for _, r := range rows {
		if roofline.Component(r.Component).IsComm() || !finite(r.Ms) || !finite(r.IdealMs) || r.Ms < 0 || r.IdealMs < 0 || r.Ms+r.IdealMs == 0 {
			continue
		}
		p := part{name: r.Component, ms: [2]float64{r.IdealMs, r.Ms}}
		if b := r.WeightBytes + r.KVBytes; finite(b) {
			p.bytes = b
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b part) int { return -compare(a.ms[1], b.ms[1]) })
	if len(all) > maxParts+1 {
		rest := part{name: fmt.Sprintf("%d smaller", len(all)-maxParts), rest: true}
		for _, p := range all[maxParts:] {
			rest.ms[0] += p.ms[0]
			rest.ms[1] += p.ms[1]
			rest.bytes += p.bytes
		}
		all = append(all[:maxParts], rest)
	}
	for i := range all {
		all[i].ink = canvas.Series(i)
		if all[i].rest {
			all[i].ink = canvas.Muted
		}
	}
	return all
}

func (p *pair) keys() []Key {
	var out []Key
	largest := max(p.total[0], p.total[1])
	for _, c := range p.parts {
		text := fmt.Sprintf("%s: %s → %s", c.name, plainMillis(c.ms[0], largest), millis(c.ms[1], largest))
		if c.bytes > 0 {
			text += ", " + unit.Bytes(c.bytes).String()
		}
		out = append(out, Key{Ink: c.ink, Block: true, Text: text})
	}
	return out
}

func (p *pair) words() string {
	largest := max(p.total[0], p.total[1])
	s := fmt.Sprintf("Time per step at the floor by component: %s ideal, %s under the engine's layout.",
		millis(p.total[0], largest), millis(p.total[1], largest))
	for _, c := range p.parts {
		s += fmt.Sprintf(" %s %s ideal, %s layout;", c.name, millis(c.ms[0], largest), millis(c.ms[1], largest))
	}
	return s[:len(s)-1] + "."
}

// plainMillis is millis without the unit.
func plainMillis(v, largest float64) string {
	s := millis(v, largest)
	return s[:len(s)-len(" ms")]
}

func roundTo(v float64, digits int) float64 {
	if !positive(v) {
		return v
	}
	p := math.Pow10(digits - 1 - int(math.Floor(math.Log10(v))))
	return math.Round(v*p) / p
}

var _ plot.GlyphBoxer = (*pair)(nil)
