package chart

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

// Timeline draws the traced step of a point: a row a stream, kernels coloured
// by component, with the host's calls above and the idle time below. It is nil
// where the point has no traced step.
func Timeline(run *reports.Run, point int) (*Figure, error) {
	pt, err := pointOf(run, point)
	if err != nil || pt.Traced == nil {
		return nil, err
	}
	f, err := timelineFigure(pt.Traced.Timeline, partsOf(pt.Components))
	if f != nil {
		f.ID = idOf("timeline", run, point)
	}
	return f, err
}

// TimelineOf draws a step that is not of a run record. It is nil without rows.
func TimelineOf(t *reports.Timeline) (*Figure, error) { return timelineFigure(t, nil) }

// timelineFigure draws a step. The components that another figure of the page
// shows keep their colours.
func timelineFigure(t *reports.Timeline, shown []part) (*Figure, error) {
	if t == nil || len(t.Rows) == 0 {
		return nil, nil
	}
	if !positive(t.LengthMs) || len(t.Rows) > reports.MaxTimelineRows {
		return nil, fmt.Errorf("draw a step of %g ms in %d rows: expected a time above 0 and at most %d rows", t.LengthMs, len(t.Rows), reports.MaxTimelineRows)
	}
	l := &timeline{length: t.LengthMs, bins: t.Bins, several: len(devicesOf(t)) > 1, inks: componentInks(t, shown)}
	for _, r := range t.Rows {
		row, err := l.row(r)
		if err != nil {
			return nil, err
		}
		l.rows = append(l.rows, row)
	}
	l.addGaps(t)
	p := newPlot()
	p.HideY()
	scale, unit := 1.0, "ms"
	if t.LengthMs < 1 {
		scale, unit = 1000, "µs"
	}
	p.X.Min, p.X.Max = 0, t.LengthMs*scale
	p.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return linearTicks(lo, hi, 8) })
	p.Y.Min, p.Y.Max = 0, 1
	p.Add(grid{x: true}, l)
	f := &Figure{
		ID: "timeline", Title: "The median step, as it ran",
		Alt:   l.words(t),
		Width: designWidth, Plot: p, XName: unit + " after the step's start", Keys: l.keys(),
		Note: "Height within a row: the share of that moment that is busy. Idle: no operation runs on the device.",
	}
	f.Height = vg.Length(len(l.rows))*laneHeight + 48 + noteHeight + keysHeight(f.Keys, designWidth-8)
	return f, nil
}

// componentInks gives the components that take most of the step a colour of
// their own, those of shown the one they have there.
func componentInks(t *reports.Timeline, shown []part) map[string]canvas.Ink {
	inks := map[string]canvas.Ink{}
	used := map[canvas.Ink]bool{}
	total := map[string]float64{}
	for _, r := range t.Rows {
		for _, p := range r.Parts {
			if r.Kind == reports.RowStream && finite(p.Ms) {
				total[p.Of] += p.Ms
			}
		}
	}
	for _, p := range shown {
		if !p.rest && total[p.name] > 0 {
			inks[p.name], used[p.ink] = p.ink, true
		}
	}
	for _, name := range byTime(total) {
		if _, has := inks[name]; has || len(inks) >= 8 {
			continue
		}
		for i := range 8 {
			if ink := canvas.Series(i); !used[ink] {
				inks[name], used[ink] = ink, true
				break
			}
		}
	}
	return inks
}

// byTime is the names, the longest time first.
func byTime(total map[string]float64) []string {
	var names []string
	for n := range total {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if c := compare(total[b], total[a]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	return names
}

// devicesOf names each device that has a row.
func devicesOf(t *reports.Timeline) map[[2]int]bool {
	out := map[[2]int]bool{}
	for _, r := range t.Rows {
		out[[2]int{r.Rank, r.Device}] = true
	}
	return out
}

// words is the figure in sentences.
func (l *timeline) words(t *reports.Timeline) string {
	s := fmt.Sprintf("The median step of %s, over time.", millis(t.LengthMs, t.LengthMs))
	for _, r := range l.rows {
		s += " " + r.name + ":"
		for _, p := range r.parts {
			s += fmt.Sprintf(" %s %s,", p.name, millis(p.ms, t.LengthMs))
		}
		s = s[:len(s)-1] + "."
	}
	return s
}

// keys are the components and kinds of idle time and calls that are drawn.
func (l *timeline) keys() []Key {
	total, looks := map[string]float64{}, map[string]look{}
	for _, r := range l.rows {
		for _, p := range r.parts {
			name := p.name
			if p.look == restLook {
				name = "other components"
			}
			if !(p.look == restLook) && r.kind == reports.RowIdle {
				name = "idle: " + name
			}
			if r.kind == reports.RowHost {
				name = "host: " + name
			}
			total[name] += p.ms
			looks[name] = p.look
		}
	}
	names := byTime(total)
	group := func(n string) int {
		switch {
		case strings.HasPrefix(n, "idle: "):
			return 2
		case strings.HasPrefix(n, "host: "):
			return 3
		case looks[n] == restLook:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(names, func(a, b string) int { return group(a) - group(b) })
	var out []Key
	for _, n := range names {
		if total[n] < l.length/2000 {
			continue // nothing of it can be seen
		}
		key := Key{Ink: looks[n].ink, Block: true, Hatch: looks[n].hatched, Alpha: looks[n].alpha, Text: n}
		if !l.several { // a sum over devices is no part of a step
			key.Text += ": " + millis(total[n], l.length)
		}
		out = append(out, key)
	}
	return out
}
