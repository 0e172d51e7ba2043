package chart

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

// Waterfall is the ladder from the floor to the measured time: one bar per
// rung, each starting where the last ended. It is nil where the point has no
// ledger. Where one rung dwarfs the others the axis is cut inside it, at the
// same scale on both sides, and a strip above shows the whole step to scale.
func Waterfall(run *reports.Run, point int) (*Figure, error) {
	pt, err := pointOf(run, point)
	if err != nil {
		return nil, err
	}
	if pt.Ledger == nil {
		return nil, nil
	}
	l, err := newLadder(pt.Ledger)
	if err != nil {
		return nil, fmt.Errorf("draw the ledger of point %d: %w", point, err)
	}
	p := newPlot()
	p.HideY()
	p.X.Min, p.X.Max = l.lo, l.hi
	p.X.LineStyle.Width = 0 // the ladder draws it, with the cut
	p.X.Scale, p.X.Tick.Marker = l.scale, l.scale
	p.Y.Min, p.Y.Max = 0, 1
	p.Add(l)
	f := &Figure{
		ID:    idOf("waterfall", run, point),
		Title: "From floor to measured",
		Alt:   l.words(pt.Ledger),
		Width: designWidth, Height: l.height() + 52,
		Plot: p, XName: "ms per output token",
	}
	if !pt.Ledger.Closes {
		f.Note = "The rungs do not add up to the measured time. "
	}
	if l.scale.cut() {
		f.Note += fmt.Sprintf("The axis leaves out %s to %s; both sides have the same scale. The strip above has no cut.",
			millis(l.scale.from, l.hi), millis(l.scale.to, l.hi))
	}
	if f.Note != "" {
		f.Height += noteHeight
	}
	return f, nil
}

// rung is one row of the ladder.
type rung struct {
	id, name, value, share string
	from, to               float64
	lo, hi                 float64 // ends of the bar's own interval; equal: none
	ink                    canvas.Ink
	hatched, total         bool
	title                  string
}

// maxRungs bounds the rows; the smallest rungs beyond it share one row.
const maxRungs = 16

// newLadder lays the ledger's rungs end to end.
func newLadder(l *reports.Ledger) (*ladder, error) {
	for _, v := range []float64{l.FloorMs, l.MeasuredMs} {
		if !finite(v) || v < 0 {
			return nil, fmt.Errorf("floor %g ms and measured %g ms must be finite and not negative", l.FloorMs, l.MeasuredMs)
		}
	}
	rungs := fewer(l.Rungs)
	largest := max(l.FloorMs, l.MeasuredMs)
	share := func(ms float64) string {
		if l.MeasuredMs <= 0 {
			return ""
		}
		return percent(ms / l.MeasuredMs)
	}
	floorName := "floor: " + l.Floor.Kind + ", " + l.Floor.Basis
	out := &ladder{rows: []rung{{id: "floor", name: floorName, value: millis(l.FloorMs, largest), share: share(l.FloorMs),
		to: l.FloorMs, ink: canvas.C0, title: floorName + " " + millis(l.FloorMs, largest)}}}
	at := l.FloorMs
	out.lo, out.hi = 0, largest
	for i, r := range rungs {
		if !finite(r.Ms) {
			return nil, fmt.Errorf("rung %d (%s) is %g ms", i, r.Cause, r.Ms)
		}
		ink, hatched := causeInk(r.Cause)
		row := rung{
			id: fmt.Sprintf("rung-%d", i), name: rungName(r), value: signed(r.Ms, largest), share: share(r.Ms),
			from: at, to: at + r.Ms, ink: ink, hatched: hatched,
			title: rungName(r) + " " + signed(r.Ms, largest) + evidence(r, largest),
		}
		if finite(r.LoMs) && finite(r.HiMs) && r.LoMs < r.HiMs {
			row.lo, row.hi = at+r.LoMs, at+r.HiMs
		}
		at += r.Ms
		out.lo, out.hi = min(out.lo, at), max(out.hi, at)
		out.rows = append(out.rows, row)
	}
	out.rows = append(out.rows, rung{id: "measured", name: "measured", value: millis(l.MeasuredMs, largest), share: share(l.MeasuredMs),
		to: l.MeasuredMs, ink: canvas.Fg, total: true, title: "measured " + millis(l.MeasuredMs, largest)})
	if out.hi <= out.lo {
		return nil, fmt.Errorf("floor and measured time are both zero")
	}
	out.scale = cutScale(out.rows, out.lo, out.hi)
	return out, nil
}

// fewer keeps the largest rungs in ladder order and sums the others into one
// row before the unattributed ones.
func fewer(rungs []reports.Rung) []reports.Rung {
	if len(rungs) <= maxRungs {
		return rungs
	}
	kept := make([]bool, len(rungs))
	for range maxRungs - 1 {
		best := -1
		for i, r := range rungs {
			if !kept[i] && (best < 0 || rank(r) > rank(rungs[best])) {
				best = i
			}
		}
		kept[best] = true
	}
	rest := reports.Rung{Cause: "smaller rungs", Evidence: "sum"}
	var out, last []reports.Rung
	n := 0
	for i, r := range rungs {
		switch {
		case !kept[i]:
			rest.Ms += r.Ms
			n++
		case r.Cause == "unattributed":
			last = append(last, r)
		default:
			out = append(out, r)
		}
	}
	rest.Component = fmt.Sprintf("%d together", n)
	return append(append(out, rest), last...)
}

// rank orders rungs by size; what is unattributed is always shown.
func rank(r reports.Rung) float64 {
	if r.Cause == "unattributed" {
		return math.Inf(1)
	}
	return math.Abs(r.Ms)
}

func rungName(r reports.Rung) string {
	name := r.Cause
	if name == "replication" {
		name = "replicated"
	}
	if r.Component != "" && r.Component != "other" && r.Component != r.Cause { // "other" places it nowhere
		name += ": " + r.Component
	}
	return name
}

func evidence(r reports.Rung, largest float64) string {
	s := ""
	if r.LoMs < r.HiMs {
		s += fmt.Sprintf(" (%s to %s)", millis(r.LoMs, largest), millis(r.HiMs, largest))
	}
	if r.Text != "" {
		s += ": " + r.Text
	}
	if r.Evidence != "" {
		s += " [" + r.Evidence + "]"
	}
	return s
}

// causeInk gives each cause one colour in every figure.
func causeInk(cause string) (ink canvas.Ink, hatched bool) {
	switch cause {
	case "replication":
		return canvas.C1, false
	case "ceiling":
		return canvas.C6, false
	case "latency":
		return canvas.C3, false
	case "kernel":
		return canvas.C2, false
	case "communication":
		return canvas.C5, false
	case "device-idle":
		return canvas.C7, false
	case "host", "interference", "speculation", "profiler":
		return canvas.C4, false
	case "unattributed":
		return canvas.Muted, true
	}
	return canvas.Muted, false
}

func signed(ms, largest float64) string {
	size := millis(math.Abs(ms), largest)
	least, below := strings.CutPrefix(size, "<")
	switch {
	case below && ms < 0:
		return ">−" + least
	case below:
		return size
	case ms < 0:
		return "−" + size
	}
	return "+" + size
}

func percent(share float64) string {
	if v := math.Abs(share); v > 0 && v < 0.0005 {
		return "<0.1 %"
	}
	if share < 0 {
		return fmt.Sprintf("−%.1f %%", -share*100)
	}
	return fmt.Sprintf("%.1f %%", share*100)
}

// words is the ladder in a sentence.
func (l *ladder) words(d *reports.Ledger) string {
	s := fmt.Sprintf("Ladder from the %s floor (%s ceilings) of %s to %s measured per output token:",
		d.Floor.Kind, d.Floor.Basis, l.rows[0].value, l.rows[len(l.rows)-1].value)
	for _, r := range l.rows[1 : len(l.rows)-1] {
		s += fmt.Sprintf(" %s %s (%s);", r.name, r.value, r.share)
	}
	return s[:len(s)-1] + "."
}

var _ plot.GlyphBoxer = (*ladder)(nil)

// height is what the rows need.
func (l *ladder) height() vg.Length {
	h := vg.Length(len(l.rows)) * rowHeight
	if l.scale.cut() {
		h += stripHeight
	}
	return h
}
