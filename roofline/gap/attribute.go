package gap

import (
	"cmp"
	"fmt"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Evidence is what is known about one operating point.
type Evidence struct {
	Ideal, Layout roofline.Floor  // at the sheet, or at the bandwidth given
	Latency       *roofline.Floor // nil where a latency is not known
	Workload      roofline.Workload
	Measured      unit.Seconds // per emitted token
	Engine        string

	// Probed is the layout floor at probed ceilings, nil without probes or
	// where Layout is at them itself; Latency then is at them too. ProbedBy
	// says what probed the bandwidth.
	Probed   *roofline.Floor
	ProbedBy string

	// Boundaries is what a launch is between; "" for kernels of a CUDA graph.
	Boundaries string

	// Traced is one traced step of the same point, nil without a trace.
	Traced *Traced

	// Repeated says in words what the layout repeats in a component.
	Repeated map[roofline.Component]string

	// AllReduceLo and AllReduceHi are the range of one all-reduce over the
	// topologies known for this machine, zero where none is; TopologyNote
	// qualifies the one taken ("assumption: topology not probed").
	AllReduceLo, AllReduceHi unit.Seconds
	TopologyNote             string
}

// small is the replication below which components are told together.
const small = Nanoseconds(20_000)

// Attribute builds the ledger of a point from its evidence.
func Attribute(e Evidence) Ledger {
	l := Ledger{
		Measured: nanos(e.Measured),
		Floor:    e.perToken(e.Ideal.Total),
		Basis:    e.Ideal.Basis,
	}
	l.Rungs = append(l.Rungs, e.replication()...)
	l.Rungs = append(l.Rungs, e.ceiling()...)
	latency := e.latency()
	l.Rungs = append(l.Rungs, latency...)
	if e.Traced != nil {
		l.Rungs = append(l.Rungs, e.traced(latency)...)
		l.Rungs = append(l.Rungs, e.profiler()...)
	}
	rest := l.Measured - l.Floor
	for _, r := range l.Rungs {
		rest -= r.Time
	}
	text := "no trace, no probe: nothing here says where this goes"
	if e.Probed != nil || e.Layout.Basis == roofline.Probed {
		text = "no trace: beyond what this machine was probed to allow, nothing here says where this goes"
	}
	if e.Traced != nil {
		text = "what the trace leaves over"
		if rest > small {
			text = fmt.Sprintf("the traced step took %.3f ms: what the trace did not see of the measured one", e.traceToken(e.Traced.Step).Millis())
		}
	}
	if rest < -small {
		text = "measured below what the floor and the rungs above allow: an assumption above is too high, or the measurement is of something else"
	}
	l.Rungs = append(l.Rungs, Rung{
		Cause: Unattributed, Component: roofline.Other, Text: text,
		Time: rest, Lo: rest, Hi: rest, Evidence: "measured − floor − rungs",
	})
	return l
}

func nanos(s unit.Seconds) Nanoseconds { return Nanoseconds(s.Nanos()) }

// perToken turns a step's time into time per emitted token.
func (e Evidence) perToken(step unit.Seconds) Nanoseconds {
	return nanos(step / unit.Seconds(max(e.Workload.AcceptedTokens, 1)))
}

// replication is what the layout adds to the ideal, component by component.
func (e Evidence) replication() []Rung {
	more := byComponent(e.Layout)
	for c, t := range byComponent(e.Ideal) {
		more[c] -= t
	}
	total := e.perToken(e.Layout.Total) - e.perToken(e.Ideal.Total)
	evidence := fmt.Sprintf("layout − ideal of the %s layout, %s bandwidth", e.Engine, e.Layout.Basis)
	var rungs []Rung
	left := total
	for _, c := range roofline.Components {
		t := e.perToken(more[c.Name])
		if t < small {
			continue
		}
		left -= t
		rungs = append(rungs, Rung{
			Cause: Replication, Component: c.Name, Text: e.repeated(c.Name),
			Time: t, Lo: t, Hi: t, Evidence: evidence,
		})
	}
	if left != 0 {
		rungs = append(rungs, Rung{
			Cause: Replication, Component: roofline.Other, Text: "other weights and caches repeated on every rank",
			Time: left, Lo: left, Hi: left, Evidence: evidence,
		})
	}
	return rungs
}

// ceiling is what the probed ceilings add to the layout floor.
func (e Evidence) ceiling() []Rung {
	if e.Probed == nil {
		return nil
	}
	t := e.perToken(e.Probed.Total) - e.perToken(e.Layout.Total)
	if t == 0 {
		return nil
	}
	text := fmt.Sprintf("memory reached %.1f %% of its %s bandwidth when it was probed", 100*float64(e.Layout.Memory/e.Probed.Memory), e.Layout.Basis)
	return []Rung{{Cause: CeilingLoss, Component: roofline.Other, Text: text, Time: t, Lo: t, Hi: t,
		Evidence: join("layout floor, probed − "+string(e.Layout.Basis), e.ProbedBy)}}
}

// attainable is the layout floor at the ceilings that were shown to be
// reached, where they were probed.
func (e Evidence) attainable() roofline.Floor {
	if e.Probed != nil {
		return *e.Probed
	}
	return e.Layout
}

func (e Evidence) repeated(c roofline.Component) string {
	if what := e.Repeated[c]; what != "" {
		return what
	}
	return "more on the busiest rank than an even split"
}

func byComponent(f roofline.Floor) map[roofline.Component]unit.Seconds {
	m := map[roofline.Component]unit.Seconds{}
	for _, t := range f.Terms {
		m[t.Op.Component] += t.Time
	}
	return m
}

// latency is the latency of the exchanges and the kernel boundaries, as the
// latency floor counts them.
func (e Evidence) latency() []Rung {
	if e.Latency == nil {
		return nil
	}
	var rungs []Rung
	left := e.perToken(e.Latency.Comm)
	for _, term := range e.Latency.Terms {
		c := term.Op.Comm
		if t := e.perToken(term.Exchange); t != 0 {
			left -= t
			rungs = append(rungs, Rung{
				Cause: Latency, Component: roofline.P2P, Text: "exchanges in the other pipeline stages",
				Time: t, Lo: t, Hi: t, Evidence: "as those of the busiest stage",
			})
			continue
		}
		if c == nil || term.Network == nil || left == 0 {
			continue
		}
		t := min(e.perToken(unit.Seconds(c.Count)*unit.Seconds(term.Network.Value)), left)
		left -= t
		rungs = append(rungs, e.exchange(term, t))
	}
	if left != 0 && len(rungs) > 0 { // rounding
		last := &rungs[len(rungs)-1]
		last.Time, last.Lo, last.Hi = last.Time+left, last.Lo+left, last.Hi+left
	}
	if t := e.perToken(e.Latency.Launch); t != 0 {
		n := 0
		for _, term := range e.Latency.Terms {
			n += term.Op.Launches
		}
		rungs = append(rungs, Rung{
			Cause: Latency, Component: roofline.Other, Text: fmt.Sprintf("%d %s", n, cmp.Or(e.Boundaries, "kernel boundaries in a CUDA graph")),
			Time: t, Lo: t, Hi: t, Evidence: "one kernel a dependent stage, times the graph-node ceiling",
		})
	}
	return rungs
}

// exchange is the rung of one kind of exchange.
func (e Evidence) exchange(term roofline.Term, t Nanoseconds) Rung {
	c := term.Op.Comm
	r := Rung{Cause: Latency, Component: term.Op.Component, Time: t, Lo: t, Hi: t,
		Text:     fmt.Sprintf("%d exchanges of %.0f B over %d GPUs at %.1f µs", c.Count, float64(c.Bytes), c.GPUs, term.Network.Value*1e6),
		Evidence: join(string(term.Network.Basis)+": "+term.Network.Source, e.TopologyNote)}
	if term.Op.Component == roofline.AllReduce {
		r.Text = strings.Replace(r.Text, "exchanges", "all-reduces", 1)
		if e.AllReduceHi > 0 {
			r.Lo = e.perToken(unit.Seconds(c.Count) * e.AllReduceLo)
			r.Hi = e.perToken(unit.Seconds(c.Count) * e.AllReduceHi)
		}
	}
	return r
}

func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "; ")
}
