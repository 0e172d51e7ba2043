package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"decodegap/reports"
)

// floors is the data of Sweep, and its Plotter.
type floors struct {
	axis         sweepAxis
	lines        []floorLine // at most maxSeries
	latency      floorLine   // of one line; no dots where none is known
	combinations int         // lines there would be without a limit
	named        []floorDot  // one for each value of the axis, for its ticks
	least        float64     // where the axis of times begins; names may stand below
	origin       bool        // the axis has a place for 0, which no logarithm has
}

// floorLine is the floors of one context and tp, by rising x.
type floorLine struct {
	name  string
	key   [2]int // context and tp; 0 where it is the axis
	dots  []floorDot
	line  int // its number among those drawn
	ridge int // batch from which the step is compute-bound; 0 not known
}

// floorDot is one point of the document that can be drawn.
type floorDot struct {
	batch, context, tp int
	ms                 float64 // per token
	x                  float64 // the place on the axis
	from               *reports.FloorPoint
	apart              bool // something between it and the one before is not known
}

// layoutFloor is the point's layout floor; zero where it has none.
func layoutFloor(p *reports.FloorPoint) reports.Floor { return floorOf(p, "layout") }

func floorOf(p *reports.FloorPoint, kind string) reports.Floor {
	for _, f := range p.Floors {
		if f.Kind == kind {
			return f
		}
	}
	return reports.Floor{}
}

// floorsOf takes what can be drawn, and chooses the lines. It is nil where the
// points differ in nothing that could be an axis.
func floorsOf(doc *reports.FloorDocument) (*floors, []floorDot) {
	var all []floorDot
	for i := range doc.Points {
		p := &doc.Points[i]
		if ms := layoutFloor(p).MsPerToken; positive(ms) && p.Batch > 0 && p.Context >= 0 && p.TP > 0 {
			all = append(all, floorDot{batch: p.Batch, context: p.Context, tp: p.TP, ms: ms, from: p})
		}
	}
	i := slices.IndexFunc(sweepAxes(), func(a sweepAxis) bool { return varies(all, a.of) })
	if i < 0 {
		return nil, nil
	}
	s := &floors{axis: sweepAxes()[i]}
	s.place(all)
	lines := s.group(all)
	s.combinations = len(lines)
	s.lines = spreadOut(lines, maxSeries)
	for i := range s.lines {
		s.lines[i].line, s.lines[i].name = i, s.lineName(s.lines[i].key, all)
	}
	s.latency = latencyOf(s.lines)
	if s.axis.name == "batch" {
		s.ridges(doc.Ridges)
	}
	return s, all
}

// latencyOf is the latency floor of the first line that has one which can be
// told from its layout floor: without an exchange or a gap they are the same.
func latencyOf(lines []floorLine) floorLine {
	const apart = 1.01
	for _, l := range lines {
		out, told, unknown := floorLine{name: "latency floor"}, false, false
		if len(lines) > 1 {
			out.name += ", " + l.name
		}
		for _, d := range l.dots {
			layout := d.ms
			d.ms, d.apart = floorOf(d.from, "latency").MsPerToken, unknown
			if unknown = !positive(d.ms); !unknown {
				out.dots = append(out.dots, d)
				told = told || d.ms > layout*apart
			}
		}
		if told {
			out.line = l.line
			return out
		}
	}
	return floorLine{}
}

// place puts every dot on the axis. A context of 0 stands left of the others,
// beyond a break of the axis.
func (s *floors) place(all []floorDot) {
	least, most := math.Inf(1), 0.0
	for i := range all {
		v := float64(s.axis.of(all[i]))
		all[i].x = v
		s.origin = s.origin || v == 0
		if v > 0 {
			least, most = min(least, v), max(most, v)
		}
	}
	if !s.origin {
		return
	}
	zero := least / max(2, math.Pow(most/least, 0.15))
	for i := range all {
		if all[i].x == 0 {
			all[i].x = zero
		}
	}
}

// group sorts the dots into lines; of two for the same point the first stands.
func (s *floors) group(all []floorDot) []floorLine {
	var lines []floorLine
	at := map[[2]int]int{}
	for _, d := range all {
		key := [2]int{d.context, d.tp}
		switch s.axis.name {
		case "context":
			key[0] = 0
		case "tp":
			key = [2]int{}
		}
		i, ok := at[key]
		if !ok {
			i = len(lines)
			at[key] = i
			lines = append(lines, floorLine{key: key})
		}
		lines[i].dots = append(lines[i].dots, d)
	}
	for i := range lines {
		l := &lines[i]
		slices.SortStableFunc(l.dots, func(a, b floorDot) int { return compare(a.x, b.x) })
		l.dots = slices.CompactFunc(l.dots, func(a, b floorDot) bool { return a.x == b.x })
	}
	slices.SortFunc(lines, func(a, b floorLine) int {
		return cmp.Or(cmp.Compare(a.key[0], b.key[0]), cmp.Compare(a.key[1], b.key[1]))
	})
	return lines
}

// lineName names the line by what tells it from others.
func (s *floors) lineName(key [2]int, all []floorDot) string {
	var parts []string
	for i, a := range sweepAxes()[1:] {
		if a.name != s.axis.name && varies(all, a.of) {
			parts = append(parts, a.name+" "+a.print(key[i]))
		}
	}
	if len(parts) == 0 {
		return "layout floor"
	}
	return strings.Join(parts, ", ")
}

// spreadOut takes at most n lines: the first, then again and again the one
// that lies farthest from all those taken, by its floors at either end.
func spreadOut(lines []floorLine, n int) []floorLine {
	if len(lines) <= n {
		return lines
	}
	ends := func(l floorLine) (a, b float64) { return math.Log(l.dots[0].ms), math.Log(l.dots[len(l.dots)-1].ms) }
	away := make([]float64, len(lines))
	for i := range away {
		away[i] = math.Inf(1)
	}
	var taken []int
	for next := 0; len(taken) < n; {
		taken = append(taken, next)
		a, b := ends(lines[next])
		farthest := -1.0
		for i, l := range lines {
			c, d := ends(l)
			away[i] = min(away[i], math.Hypot(a-c, b-d))
			if i != taken[len(taken)-1] && away[i] > farthest && !slices.Contains(taken, i) {
				next, farthest = i, away[i]
			}
		}
	}
	slices.Sort(taken)
	var out []floorLine
	for _, i := range taken {
		out = append(out, lines[i])
	}
	return out
}

// ridges notes where each line's step turns compute-bound.
func (s *floors) ridges(all []reports.Ridge) {
	for _, r := range all {
		for i := range s.lines {
			if l := &s.lines[i]; r.Component == "" && r.Batch > 0 && l.ridge == 0 && l.key == [2]int{r.Context, r.TP} {
				l.ridge = r.Batch
			}
		}
	}
}

// at is the line's floor at x, between its dots as the line is drawn.
func (l *floorLine) at(x float64) (ms float64, ok bool) {
	for i, d := range l.dots {
		if d.x < x {
			continue
		}
		if d.x == x {
			return d.ms, true
		}
		if i == 0 {
			return 0, false
		}
		a := l.dots[i-1]
		share := math.Log(x/a.x) / math.Log(d.x/a.x)
		return a.ms * math.Pow(d.ms/a.ms, share), true
	}
	return 0, false
}

// title is what a pointer on the dot reads.
func (s *floors) title(l *floorLine, d floorDot) string {
	out := fmt.Sprintf("%s at %s %s: %s per token", l.name, s.axis.name, s.axis.print(s.axis.of(d)), millis(d.ms, d.ms))
	if rate := layoutFloor(d.from).TokPerS; l != &s.latency && positive(rate) {
		out += ", " + tokens(rate) + " tok/s"
	}
	return out
}

var _ plot.Plotter = (*floors)(nil)
