package roofline

import (
	"fmt"

	"decodegap/roofline/unit"
)

// Kind says which floor: what it leaves out makes it lower.
type Kind string

// The three floors, lowest first.
const (
	// Ideal: every byte read once across the group, evenly split, no latency.
	Ideal Kind = "ideal"
	// Layout: what this engine's sharding reads on the busiest rank.
	Layout Kind = "layout"
	// Latency: Layout plus the latency of every exchange and kernel boundary.
	Latency Kind = "latency"
)

// Bound is what limits a term.
type Bound string

// What limits a term of a floor.
const (
	BoundMemory  Bound = "memory"
	BoundCompute Bound = "compute"
	BoundNetwork Bound = "network"
	BoundLatency Bound = "latency"
)

// Term is one op's share of a floor.
type Term struct {
	Op      Op
	Time    unit.Seconds
	Memory  unit.Seconds
	Compute unit.Seconds // 0 where no compute ceiling is known
	Bound   Bound
	Network *Ceiling     // the latency of one exchange, nil for other terms
	Launch  unit.Seconds // the part of Time that is kernel boundaries

	// Exchange is the part of Time that is exchanges in other pipeline stages.
	Exchange unit.Seconds
}

// Floor is a bound on the time of one decode step.
type Floor struct {
	Kind    Kind
	Basis   Basis // of the memory bandwidth
	Total   unit.Seconds
	Memory  unit.Seconds // all bytes / bandwidth
	Compute unit.Seconds // all FLOPs / peak
	Comm    unit.Seconds
	Launch  unit.Seconds // Comm and Launch are of the other pipeline stages too
	Terms   []Term

	// Pipeline is the time a token spends in the other pipeline stages, but
	// for the exchanges and launches there; with those it is the term of
	// component P2P.
	Pipeline unit.Seconds

	// ComputeKnown is false if an op's arithmetic has no ceiling on this
	// machine; the floor then leaves its compute out, and still holds.
	ComputeKnown bool
}

// PerToken is the time per emitted token and sequence.
func (f Floor) PerToken(w Workload) unit.Seconds {
	return f.Total / unit.Seconds(max(w.AcceptedTokens, 1))
}

// MissingError says which ceiling a floor needs and the machine lacks.
type MissingError struct {
	Resource Resource
	Machine  string
	Hint     string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no %s is known for %s: %s", e.Resource, e.Machine, e.Hint)
}

// Compute bounds a step: the sum over its dependent stages of
// max(bytes/bandwidth, FLOPs/peak), and for the Latency kind the exchanges
// between GPUs and kernel boundaries as well. A missing ceiling is an error, never 0; only
// a missing compute ceiling is left out, which keeps the bound a bound.
func Compute(s Step, m Machine, kind Kind) (Floor, error) {
	bw, ok := m.Bandwidth()
	if !ok {
		return Floor{}, &MissingError{DRAMRead, m.Name, "give --bandwidth GB/s"}
	}
	f := Floor{Kind: kind, Basis: m.Ceilings[DRAMRead].Basis, ComputeKnown: true, Terms: make([]Term, 0, len(s.Ops))}
	if err := f.add(s.Ops, m, bw); err != nil {
		return Floor{}, err
	}
	if len(s.Elsewhere) == 0 {
		return f, nil
	}
	wait := Term{Op: Op{Component: P2P, Repeat: len(s.Elsewhere), From: FromConfig}, Bound: BoundLatency}
	for _, ops := range s.Elsewhere {
		stage := Floor{Kind: kind, ComputeKnown: true}
		if err := stage.add(ops, m, bw); err != nil {
			return Floor{}, err
		}
		wait.Time += stage.Total
		wait.Op.Launches += launches(ops)
		f.Pipeline += stage.Total - stage.Launch - stage.Comm
		f.Comm += stage.Comm
		wait.Exchange += stage.Comm
		f.Launch += stage.Launch
		wait.Launch += stage.Launch
		f.ComputeKnown = f.ComputeKnown && stage.ComputeKnown
	}
	f.Total += wait.Time
	f.Terms = append(f.Terms, wait)
	return f, nil
}

// add adds the ops of one GPU.
func (f *Floor) add(ops []Op, m Machine, bw unit.BytesPerSecond) error {
	for _, op := range ops {
		t := Term{Op: op, Memory: op.Memory().At(bw), Bound: BoundMemory}
		for _, w := range op.Work {
			if w.FLOPs == 0 {
				continue
			}
			peak, _, known := m.Compute(w.Type)
			if !known {
				f.ComputeKnown = false
				continue
			}
			t.Compute += w.FLOPs.At(peak)
		}
		t.Time = t.Memory
		if t.Compute > t.Memory {
			t.Time, t.Bound = t.Compute, BoundCompute
		}
		if f.Kind == Latency {
			if err := latency(f, &t, m); err != nil {
				return err
			}
		}
		f.Memory += t.Memory
		f.Compute += t.Compute
		f.Total += t.Time
		f.Terms = append(f.Terms, t)
	}
	return nil
}

// latency adds what the Latency floor counts beyond bytes and arithmetic.
func latency(f *Floor, t *Term, m Machine) error {
	if n := t.Op.Launches; n > 0 {
		gap, ok := m.Ceilings[GraphNode]
		if !ok {
			return &MissingError{GraphNode, m.Name, "give --launch-gap, the time between two dependent kernels of a graph"}
		}
		d := unit.Seconds(float64(n) * gap.Value)
		f.Launch += d
		t.Launch = d
		t.Time += d
	}
	if c := t.Op.Comm; c != nil && c.Count > 0 {
		one, ok := m.Latency(*c)
		if !ok {
			return &MissingError{LatencyOf(c.Kind), m.Name, hint(*c)}
		}
		d := unit.Seconds(float64(c.Count) * one.Value)
		f.Comm += d
		t.Time += d
		t.Bound, t.Network = BoundLatency, &one
	}
	return nil
}

// hint says what to do about an exchange of unknown latency.
func hint(c Collective) string {
	size := fmt.Sprintf("%.0f bytes over %d GPUs", float64(c.Bytes), c.GPUs)
	if c.Kind == AllReduce {
		return "give --allreduce-latency for " + size + ", or --topology"
	}
	return fmt.Sprintf("data-parallel ranks share the experts with %d exchanges of %s: give --link-latency, or --topology", c.Count, size)
}
