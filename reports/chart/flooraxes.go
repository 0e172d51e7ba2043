package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// thin leaves out dots closer to their neighbour than the eye can tell; the
// first and the last stay.
func (l *floorLine) thin(lo, hi float64) {
	const apart = 1.0 / 300
	var out []floorDot
	last, open := math.Inf(-1), false
	for i, d := range l.dots {
		open = open || d.apart
		if at := (logScale{}).Normalize(lo, hi, d.x); at-last >= apart || i == len(l.dots)-1 {
			d.apart = open
			out, last, open = append(out, d), at, false
		}
	}
	l.dots = out
}

// ranges fits the axes to all that is drawn, with room below for the names of
// the ridges.
func (s *floors) ranges(p *plot.Plot) {
	p.X.Min, p.Y.Min = math.Inf(1), math.Inf(1)
	p.X.Max, p.Y.Max = 0, 0
	seen := map[float64]bool{}
	for _, l := range append(slices.Clip(s.lines), s.latency) {
		for _, d := range l.dots {
			p.X.Min, p.X.Max = min(p.X.Min, d.x), max(p.X.Max, d.x)
			p.Y.Min, p.Y.Max = min(p.Y.Min, d.ms), max(p.Y.Max, d.ms)
			if !seen[d.x] {
				seen[d.x] = true
				s.named = append(s.named, d)
			}
		}
	}
	slices.SortFunc(s.named, func(a, b floorDot) int { return compare(a.x, b.x) })
	pad := max(1.08, math.Pow(p.X.Max/p.X.Min, 0.04))
	p.X.Min, p.X.Max = p.X.Min/pad, p.X.Max*pad
	// at least a factor of two, lest a change of a percent look like a cliff
	pad = max(1.15, math.Sqrt(2*p.Y.Min/p.Y.Max), math.Pow(p.Y.Max/p.Y.Min, 0.08))
	p.Y.Min, p.Y.Max = p.Y.Min/pad, p.Y.Max*pad
	s.least = p.Y.Min
	if room := float64(s.room()); room > 0 {
		p.Y.Min = p.Y.Max / math.Pow(p.Y.Max/p.Y.Min, 1+room/float64(floorHeight))
	}
}

// floorHeight is about the height of the axis without the room for names.
const floorHeight vg.Length = 300

// room is the height that the names of the ridges take below the lines.
func (s *floors) room() vg.Length { return vg.Length(len(s.marks())) * ridgeLine }

// xticks names the values of the axis, leaving out those too close to the one
// before; with many it falls back to powers of ten.
func (s *floors) xticks(lo, hi float64) plot.Ticker {
	var out plot.ConstantTicks
	last := math.Inf(-1)
	if len(s.named) > 16 {
		out = logTicks{general}.Ticks(lo, hi)
		if !s.origin {
			return out
		}
		first := s.named[1].x // ticks left of it, beyond the break, say nothing
		out = slices.DeleteFunc(out, func(t plot.Tick) bool { return t.Value < first })
		return append(plot.ConstantTicks{{Value: s.named[0].x, Label: "0"}}, out...)
	}
	for _, d := range s.named {
		t := plot.Tick{Value: d.x}
		if at := (logScale{}).Normalize(lo, hi, d.x); at-last > 0.055 {
			t.Label, last = s.axis.print(s.axis.of(d)), at
		}
		out = append(out, t)
	}
	return out
}

// floorTicks labels enough of an axis of any length: multiples of a step on a
// short one, 1, 2, 3 and 5 times powers of ten on a longer one.
type floorTicks struct {
	least float64 // below it stand names: nothing is marked
}

func (t floorTicks) Ticks(lo, hi float64) []plot.Tick {
	lo = max(lo, t.least)
	if lo <= 0 || hi <= lo {
		return nil
	}
	if hi/lo < 4 {
		return linearTicks(lo, hi, 6)
	}
	out := logTicks{general}.Ticks(lo, hi)
	if hi/lo > 3000 {
		return out
	}
	for i := range out {
		v := out[i].Value
		switch math.Round(v / math.Pow10(int(math.Floor(math.Log10(v)+1e-9)))) {
		case 1, 2, 5:
			out[i].Label = general(v)
		case 3:
			if hi/lo < 100 {
				out[i].Label = general(v)
			}
		}
	}
	return out
}
