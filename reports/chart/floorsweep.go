package chart

import (
	"fmt"
	"slices"
	"strings"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

// Sweep draws the layout floors of a floor document, one line for each context
// and tp: over the batch, or where there is but one batch over the context, or
// where there is but one context over tp. The latency floor of the first line
// that has one is dashed, and on the batch axis each line is marked where the
// step as a whole turns compute-bound. It is nil where fewer than two points
// can be drawn.
func Sweep(doc *reports.FloorDocument) (*Figure, error) {
	if doc == nil {
		return nil, nil
	}
	s, all := floorsOf(doc)
	if s == nil {
		return nil, nil
	}
	p := newPlot()
	s.ranges(p)
	for i := range s.lines {
		s.lines[i].thin(p.X.Min, p.X.Max)
	}
	s.latency.thin(p.X.Min, p.X.Max)
	p.X.Scale, p.Y.Scale = logScale{}, logScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = s.xticks(p.X.Min, p.X.Max), floorTicks{s.least}
	p.Add(grid{x: true, y: true}, s)
	f := &Figure{
		ID:    "sweep",
		Title: "Floor of a decode step over " + s.axis.name,
		Alt:   s.words(doc),
		Width: designWidth,
		Plot:  p, XName: s.axis.long, YName: "ms per token at the layout floor",
		Keys: s.keys(), Note: s.note(doc, all),
	}
	f.Height = floorHeight + 80 + s.room() + keysHeight(f.Keys, designWidth-8) + noteHeight
	return f, nil
}

// sweepAxis is what a sweep runs over.
type sweepAxis struct {
	name, long string
	of         func(floorDot) int
	print      func(int) string
}

// sweepAxes are the axes in the order they are tried: the first that has two
// values is drawn, the others tell lines apart.
func sweepAxes() []sweepAxis {
	plain := func(n int) string { return fmt.Sprint(n) }
	return []sweepAxis{
		{"batch", "batch: sequences in the step, whole deployment", func(d floorDot) int { return d.batch }, plain},
		{"context", "context: tokens already cached of every sequence", func(d floorDot) int { return d.context }, contextLength},
		{"tp", "tp: tensor-parallel degree", func(d floorDot) int { return d.tp }, plain},
	}
}

// contextLength prints tokens as --context takes them: 16384 is 16k.
func contextLength(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dm", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dk", n>>10)
	}
	return fmt.Sprint(n)
}

func (s *floors) keys() []Key {
	var out []Key
	for i, l := range s.lines {
		out = append(out, Key{Ink: canvas.Series(i), Line: dashes(i), Glyph: marker(i), Text: l.name})
	}
	if len(s.latency.dots) > 0 {
		out = append(out, Key{Ink: canvas.Series(s.latency.line), Line: latencyDashes(), Text: s.latency.name})
	}
	return out
}

// note says what is left out and what all points have in common.
func (s *floors) note(doc *reports.FloorDocument, all []floorDot) string {
	var parts []string
	switch more := s.combinations - len(s.lines); {
	case more == 1:
		parts = append(parts, "not drawn: 1 more combination of context and tp")
	case more > 1:
		parts = append(parts, fmt.Sprintf("not drawn: %d more combinations of context and tp", more))
	}
	if slices.ContainsFunc(doc.Warnings, func(w reports.Warning) bool { return w.Code == "does-not-fit" }) {
		parts = append(parts, "some points do not fit the memory")
	}
	var fixed []string
	for _, a := range sweepAxes() {
		if a.name != s.axis.name && !varies(all, a.of) {
			fixed = append(fixed, a.name+" "+a.print(a.of(all[0])))
		}
	}
	for _, c := range []struct {
		name string
		of   func(*reports.FloorPoint) string
	}{
		{"engine ", func(p *reports.FloorPoint) string { return p.Engine }},
		{"KV cache ", func(p *reports.FloorPoint) string { return p.KVType }},
		{"", speculation},
		{"ceilings: ", func(p *reports.FloorPoint) string { return layoutFloor(p).Basis }},
	} {
		of := func(d floorDot) string { return c.of(d.from) }
		if text := of(all[0]); text != "" && !varies(all, of) {
			fixed = append(fixed, c.name+text)
		}
	}
	if len(fixed) > 0 {
		parts = append(parts, strings.Join(fixed, ", "))
	}
	return reports.OneLine(strings.Join(parts, "; "), 300)
}

func speculation(p *reports.FloorPoint) string {
	if p.DraftTokens == 0 {
		return ""
	}
	return fmt.Sprintf("%s tokens a step from %d drafts", general(roundTo(p.AcceptedTokens, 3)), p.DraftTokens)
}

// varies says whether not all dots agree.
func varies[T comparable](all []floorDot, of func(floorDot) T) bool {
	for _, d := range all {
		if of(d) != of(all[0]) {
			return true
		}
	}
	return false
}

// spoken bounds the figures of one line in words.
const spoken = 12

// words is the figure in sentences, with the figures of every line drawn.
func (s *floors) words(doc *reports.FloorDocument) string {
	const name = 120
	out := fmt.Sprintf("Layout floor of a decode step in ms per token over %s: %s on %s.", s.axis.name,
		reports.OneLine(doc.Model.Name, name), reports.OneLine(doc.Hardware.Name, name))
	say := func(l floorLine) {
		out += " " + l.name + ":"
		n := min(len(l.dots), spoken)
		for i := range n {
			d := l.dots[0]
			if n > 1 {
				d = l.dots[i*(len(l.dots)-1)/(n-1)]
			}
			out += fmt.Sprintf(" %s at %s %s,", millis(d.ms, d.ms), s.axis.name, s.axis.print(s.axis.of(d)))
		}
		out = out[:len(out)-1]
		if l.ridge > 0 {
			out += fmt.Sprintf("; compute-bound from batch %d", l.ridge)
		}
		out += "."
	}
	for _, l := range s.lines {
		say(l)
	}
	if len(s.latency.dots) > 0 {
		say(s.latency)
	}
	return out
}
