package assemble

import (
	"fmt"
	"slices"
	"strings"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/gap"
	"decodegap/roofline/hardware"
	"decodegap/roofline/layout"
	"decodegap/roofline/unit"
)

// RunPoint is the run record's form of a point, with the ledger between its
// floors and what was measured (nil: nothing was), explained by a traced step
// where there is one.
func (p *Point) RunPoint(m *Machine, label string, measured *reports.Measured, traced *gap.Traced) (reports.RunPoint, error) {
	worth, err := p.Worth(m)
	if err != nil {
		return reports.RunPoint{}, err
	}
	out := reports.RunPoint{Label: label, Operating: p.Operating(), Components: p.Components(), Measured: measured, Worth: worth}
	p.attainable(out.Components)
	if traced != nil {
		out.Components = p.joinTrace(out.Components, traced)
	}
	if measured == nil {
		return out, nil
	}
	for _, f := range out.Floors {
		e := reports.Efficiency{Floor: reports.FloorName{Kind: f.Kind, Basis: f.Basis}, Ratio: f.MsPerToken / measured.ValueMs}
		if measured.LoMs != nil && measured.HiMs != nil {
			lo, hi := f.MsPerToken / *measured.HiMs, f.MsPerToken / *measured.LoMs
			e.Lo, e.Hi = &lo, &hi
		}
		out.Efficiency = append(out.Efficiency, e)
	}
	out.Ledger = p.ledger(m, measured, traced)
	return out, nil
}

// attainable adds what each component takes at probed ceilings, where there are
// any: with latencies where the row has them.
func (p *Point) attainable(rows []reports.ComponentRow) {
	f := p.probed(roofline.Layout)
	if l := p.probed(roofline.Latency); l != nil && p.Latency != nil {
		f = l
	}
	if f == nil {
		return
	}
	ms := map[roofline.Component]float64{}
	for _, t := range f.Terms {
		ms[t.Op.Component] += (t.Time - t.Launch).Millis()
	}
	for i := range rows {
		if v, ok := ms[roofline.Component(rows[i].Component)]; ok {
			rows[i].AttainableMs = &v
		}
	}
}

func (p *Point) ledger(m *Machine, measured *reports.Measured, traced *gap.Traced) *reports.Ledger {
	e := gap.Evidence{
		Ideal: p.Ideal, Layout: p.Layout, Latency: p.Latency, Workload: p.Scenario.Workload,
		Measured: unit.FromMillis(measured.ValueMs), Engine: p.Scenario.Engine.Name, TopologyNote: m.Note,
		Repeated: p.repeated(), Traced: traced,
	}
	if f := p.probed(roofline.Layout); f != nil {
		e.Probed, e.ProbedBy = f, m.Probed.Ceilings[roofline.DRAMRead].Source
		if e.Latency = p.probed(roofline.Latency); e.Latency == nil {
			e.Latency = p.Latency
		}
	}
	if m.Device.Host() {
		e.Boundaries = "boundaries between dependent stages"
	}
	if _, each := p.layoutStep.AllReduces(); each > 0 && m.Note == hardware.AssumedTopology {
		if lo, hi, ok := hardware.AllReduceRange(m.Device, p.Scenario.Workload.TP, each); ok {
			e.AllReduceLo, e.AllReduceHi = unit.Seconds(lo.Ceiling.Value), unit.Seconds(hi.Ceiling.Value)
		}
	}
	l := gap.Attribute(e)
	out := &reports.Ledger{
		MeasuredMs: l.Measured.Millis(), Floor: reports.FloorName{Kind: string(roofline.Ideal), Basis: string(l.Basis)},
		FloorMs: l.Floor.Millis(), Closes: l.Closes(),
	}
	for _, r := range l.Rungs {
		out.Rungs = append(out.Rungs, reports.Rung{
			Cause: string(r.Cause), Component: string(r.Component), Text: r.Text,
			Ms: r.Time.Millis(), LoMs: r.Lo.Millis(), HiMs: r.Hi.Millis(), Evidence: r.Evidence,
		})
	}
	return out
}

// repeated says in words what the layout repeats in each component.
func (p *Point) repeated() map[roofline.Component]string {
	engine, d, w := p.Scenario.Engine, p.Scenario.Decoder, p.Scenario.Workload
	names := map[roofline.Component][]string{}
	add := func(c roofline.Component, name string) {
		if !slices.Contains(names[c], name) {
			names[c] = append(names[c], name)
		}
	}
	for _, t := range d.Tensors {
		switch engine.Rule(t.Role, d, w).Shard {
		case layout.Replicated:
			add(t.Component, t.Name[strings.LastIndexByte(t.Name, '.')+1:])
		case layout.ByKVHead:
			if w.TP > d.KVHeads {
				add(t.Component, "whole KV heads")
			}
		}
	}
	for _, c := range d.Caches {
		switch {
		case c.Kind == roofline.CacheLatent:
			add(c.Component, "the latent cache")
		case c.Kind == roofline.CacheIndex:
			add(c.Component, "the index cache")
		case c.Kind == roofline.CacheKV && w.TP > c.KVHeads:
			add(c.Component, "whole KV heads")
		}
	}
	out := map[roofline.Component]string{}
	for c, list := range names {
		out[c] = strings.Join(list, ", ") + " on every rank"
	}
	if n := len(p.layoutStep.Elsewhere); n > 0 {
		out[roofline.P2P] = fmt.Sprintf("waits while the token is in the %d other pipeline stages", n)
	}
	if w.EP > 1 {
		out[roofline.MoEExperts] = fmt.Sprintf("expert parallel: the busiest rank reads %.2f of %.2f distinct experts", p.layoutStep.Busiest, p.layoutStep.Distinct)
	}
	return out
}
