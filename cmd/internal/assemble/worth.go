package assemble

import (
	"fmt"
	"sort"
	"strings"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/gap"
	"decodegap/roofline/hardware"
	"decodegap/roofline/unit"
)

// Worth is what each known change takes off: off the layout floor, or off a
// step that does now what the change replaces.
func (p *Point) Worth(m *Machine) ([]reports.Worth, error) {
	savings, err := gap.Worth(p.Scenario)
	if err != nil {
		return nil, err
	}
	out := []reports.Worth{}
	for _, s := range savings {
		out = append(out, reports.Worth{Change: s.Change, Ms: s.Time.Millis(), Of: "layout floor"})
	}
	if !m.Device.Host() {
		out = append(out, p.graphs()...)
	}
	out = append(out, p.oneShot(m)...)
	batch, err := p.batch()
	if err != nil {
		return nil, err
	}
	out = append(out, batch...)
	sort.SliceStable(out, func(i, j int) bool { return out[i].Ms > out[j].Ms })
	return out, nil
}

// perToken is a step's time per emitted token, in ms.
func (p *Point) perToken(t unit.Seconds) float64 {
	return t.Millis() / max(p.Scenario.Workload.AcceptedTokens, 1)
}

// graphs is what CUDA graphs save a step that launches each kernel from the
// CPU: at least the driver's part of each call.
func (p *Point) graphs() []reports.Worth {
	gap, ok := p.Scenario.Machine.Ceilings[roofline.GraphNode]
	n := p.layoutStep.Launches()
	call := unit.FromMillis(eagerCall[0])
	if !ok || n == 0 || float64(call) <= gap.Value {
		return nil
	}
	return []reports.Worth{{Change: fmt.Sprintf("CUDA graphs: %d launches at %.0f µs a call or more", n, call.Micros()),
		Ms: p.perToken(unit.Seconds(n) * (call - unit.Seconds(gap.Value))), Of: "a step that launches eagerly"}}
}

// oneShot is what the fastest all-reduce known for the topology saves a step
// that uses NCCL's.
func (p *Point) oneShot(m *Machine) []reports.Worth {
	count, each := p.layoutStep.AllReduces()
	if count == 0 || p.Latency == nil {
		return nil
	}
	n := p.Scenario.Workload.TP
	best, ok := p.Scenario.Machine.AllReduce(each, n)
	if !ok || best.Basis != roofline.Sheet {
		return nil
	}
	for _, k := range hardware.KnownAllReduces(m.Device, n, each) {
		saved := unit.Seconds(float64(count) * (k.Ceiling.Value - best.Value))
		if k.Topology == m.Topology && strings.Contains(k.Algorithm, "NCCL") && saved > 0 {
			return []reports.Worth{{Change: fmt.Sprintf("one-shot all-reduce: %.1f in place of NCCL's %.1f µs", best.Value*1e6, k.Ceiling.Value*1e6),
				Ms: p.perToken(saved), Of: "a step that uses NCCL"}}
		}
	}
	return nil
}

// batch is what eight times the sequences save of the GPUs' time per token:
// each sequence waits longer, the machine does more.
func (p *Point) batch() ([]reports.Worth, error) {
	s := p.Scenario
	if s.Workload.DistinctExperts > 0 {
		return nil, nil // measured at this batch only
	}
	s.Workload.Batch *= 8
	f, err := s.Floor(roofline.Layout)
	if err != nil {
		return nil, err
	}
	own, more := p.perToken(p.Layout.Total), p.perToken(f.Total)
	saved := own/float64(p.Scenario.Workload.Batch) - more/float64(s.Workload.Batch)
	if saved <= 0 {
		return nil, nil
	}
	return []reports.Worth{{Change: fmt.Sprintf("batch %d: a sequence's token takes %.3g ms, not %.3g", s.Workload.Batch, more, own),
		Ms: saved, Of: "machine time per token"}}, nil
}

// Target says which changes bring the point's floor to a time per token.
func (p *Point) Target(want unit.Seconds) (*reports.Target, error) {
	kind := roofline.Layout
	if p.Latency != nil {
		kind = roofline.Latency
	}
	now, ways, reached, err := gap.Ways(p.Scenario, kind, gap.Nanoseconds(want.Nanos()))
	if err != nil {
		return nil, err
	}
	t := &reports.Target{TargetMs: want.Millis(), Floor: reports.FloorName{Kind: string(kind), Basis: string(p.Layout.Basis)},
		NowMs: now.Millis(), Reached: reached, Ways: []reports.Way{}}
	for _, w := range ways {
		t.Ways = append(t.Ways, reports.Way{Changes: w.Changes, Ms: w.Floor.Millis()})
	}
	return t, nil
}

// Ridges are the batches at which components turn compute-bound.
func (p *Point) Ridges() ([]reports.Ridge, error) {
	found, err := gap.Ridges(p.Scenario)
	if err != nil {
		return nil, err
	}
	out := []reports.Ridge{}
	for _, r := range found {
		out = append(out, reports.Ridge{Context: p.Scenario.Workload.Context, TP: p.Scenario.Workload.TP, Component: string(r.Component), Batch: r.Batch})
	}
	return out, nil
}
