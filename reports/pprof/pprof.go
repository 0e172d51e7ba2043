// Package pprof writes traced decode steps as a profile for go tool pprof:
// rank, phase of the step, component and kernel as the stack; time, floor, gap
// and count as the values.
//
// It refuses to write a floor that is not known as 0: without floors a profile
// has time and count only. It refuses records without a traced step.
package pprof

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"decodegap/reports"
	"decodegap/roofline"
)

// Renderer is the pprof format.
var Renderer = reports.Renderer{
	Name: "pprof", Ext: ".pb.gz",
	Doc:    "a traced step for go tool pprof: time, floor and gap by component and kernel",
	Render: Render,
}

// ErrNoTrace says that a record was made without a trace.
var ErrNoTrace = errors.New("the record holds no traced step to make a profile of: make it with diagnose --trace FILE")

// Render writes the steps of the first point that was traced. The error is
// ErrNoTrace or w's.
func Render(w io.Writer, run *reports.Run) error {
	for i := range run.Points {
		pt := &run.Points[i]
		if pt.Traced == nil || len(pt.Traced.Steps) == 0 {
			continue
		}
		p := Profile{Steps: pt.Traced.Steps, Floors: map[roofline.Component]float64{}}
		for _, c := range pt.Components {
			p.Floors[roofline.Component(c.Component)] += c.Ms
		}
		p.Comments = append(p.Comments, fmt.Sprintf("%s on %d × %s, batch %d, context %d", run.Model.Name, run.Hardware.Count, run.Hardware.Name, pt.Batch, pt.Context),
			"floor: of one step of the busiest GPU under the engine's layout; a component's floor is shared over its kernels by their time")
		for _, warning := range run.Warnings {
			p.Comments = append(p.Comments, warning.Code+": "+warning.Text)
		}
		return p.Write(w)
	}
	return ErrNoTrace
}

// Profile is what a profile is made of.
type Profile struct {
	Steps    []reports.TracedStep
	Floors   map[roofline.Component]float64 // ms a step, of each component that has one; nil where no floor is known
	Comments []string
	// TimeNanos is when, ns since the Unix epoch, 0 if unknown; Length how
	// long, 0 for the first step's.
	TimeNanos, Length int64
}

// Write writes the profile, compressed. For each step and in nanoseconds, the
// times add up to the step, and time − floor = gap.
func (p Profile) Write(w io.Writer) error {
	b := newBuilder(p.Floors != nil)
	b.TimeNanos, b.DurationNanos = p.TimeNanos, p.Length
	if b.DurationNanos == 0 && len(p.Steps) > 0 {
		b.DurationNanos = nanoseconds(p.Steps[0].MedianMs)
	}
	for _, c := range p.Comments {
		b.Comments = append(b.Comments, reports.OneLine(c, 0))
	}
	devices := map[int]int{}
	for _, s := range p.Steps {
		devices[s.Rank]++
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		root := fmt.Sprintf("rank %d", s.Rank)
		if s.Rank < 0 {
			root = "rank not known"
		} else if devices[s.Rank] > 1 {
			root += fmt.Sprintf(", device %d", s.Device)
		}
		p.step(b, s, root)
	}
	if err := b.CheckValid(); err != nil {
		return err
	}
	return b.Profile.Write(w)
}

// step adds one device's step.
func (p Profile) step(b *builder, s *reports.TracedStep, root string) {
	byComponent := map[roofline.Component][]reports.TracedOperation{}
	var order []roofline.Component
	for _, o := range s.Operations {
		c := roofline.Component(o.Component)
		if byComponent[c] == nil {
			order = append(order, c)
		}
		byComponent[c] = append(byComponent[c], o)
	}
	for _, c := range order {
		floor := nanoseconds(p.Floors[c])
		var total, seen, given int64
		for _, o := range byComponent[c] {
			total += nanoseconds(o.Ms)
		}
		stack := []string{componentName(c), phaseOf(c), root}
		for _, o := range byComponent[c] {
			t := nanoseconds(o.Ms)
			seen += t
			var part int64
			if total > 0 { // what is left to the last is left to none
				part = int64(math.Round(float64(floor)*(float64(seen)/float64(total)))) - given
				given += part
			}
			b.sample(s, o.Name, stack, t, part, o.Count)
		}
		if floor > given {
			b.sample(s, notSeen, stack, 0, floor-given, 0)
		}
	}
	for _, c := range roofline.Components { // what has a floor but did not run by itself
		if floor := nanoseconds(p.Floors[c.Name]); floor > 0 && byComponent[c.Name] == nil {
			b.sample(s, notSeen, []string{componentName(c.Name), phaseOf(c.Name), root}, 0, floor, 0)
		}
	}
	for _, kind := range reports.IdleKinds {
		if ms := s.IdleMs[kind.Kind]; ms > 0 {
			b.sample(s, "idle: "+kind.Name, []string{"idle", root}, nanoseconds(ms), 0, int64(s.IdleGaps[kind.Kind]))
		}
	}
}

// notSeen stands for the kernels of a component that the step has none of:
// its work runs inside other components' kernels, or is not in the trace.
const notSeen = "(no kernel of its own in the trace)"

func componentName(c roofline.Component) string {
	if c == "" {
		return "component not known"
	}
	return string(c)
}

// phases are the parts of a step by the beginning of a component. A trace
// says what a kernel does, not which layer it is of: norms and the like, which
// stand between all of them, are a phase of their own.
var phases = []struct{ prefix, phase string }{
	{"embedding", "embedding"},
	{"attention.", "attention"}, {"kv.", "attention"}, {"rope", "attention"},
	{"ssm", "recurrent layers"},
	{"mlp.", "feed-forward"}, {"moe.", "feed-forward"}, {"activation", "feed-forward"},
	{"lm_head", "head and sampling"}, {"sampling", "head and sampling"},
	{"comm.", "communication"},
	{"draft", "speculation"},
	{"norm", "norms, conversions and copies"}, {"quantize", "norms, conversions and copies"}, {"elementwise", "norms, conversions and copies"},
	{"mem", "norms, conversions and copies"},
}

func phaseOf(c roofline.Component) string {
	i := slices.IndexFunc(phases, func(p struct{ prefix, phase string }) bool { return strings.HasPrefix(string(c), p.prefix) })
	if i < 0 {
		return "not classified"
	}
	return phases[i].phase
}

func nanoseconds(ms float64) int64 { return int64(math.Round(ms * 1e6)) }
