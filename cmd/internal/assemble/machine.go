// Package assemble joins what the libraries compute into the documents of
// package reports. It adds no number of its own: every figure comes from
// roofline, traces or the user, with its source.
package assemble

import (
	"fmt"
	"sort"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/hardware"
	"decodegap/roofline/unit"
)

// MachineOptions are what the user said about the hardware.
type MachineOptions struct {
	Topology         string        // "" for the part's usual one
	Bandwidth        float64       // GB/s, 0 for the sheet's
	AllReduceLatency *unit.Seconds // of one all-reduce, nil for the catalogue's
	LinkLatency      *unit.Seconds // of one hop: all-reduces by formula in place of the catalogue's
	LaunchGap        *unit.Seconds // between dependent kernels, nil for the catalogue's

	// Ceilings are those that probes reached on this machine, nil without.
	Ceilings *reports.CeilingsDocument

	// TopologyEvidence says what showed the topology ("driver reports ...");
	// "" where nothing did.
	TopologyEvidence string
}

// Machine is a device with its ceilings, and what must be said about them.
type Machine struct {
	Device   hardware.Device
	Roofline roofline.Machine
	Topology string
	Note     string // "assumption: topology not probed", or what showed it
	Warnings []reports.Warning

	// Probed has the probed ceilings in place of the sheet's; nil without
	// probes, and where they are all that is known: then Roofline has them.
	Probed *roofline.Machine
	facts  []reports.Fact // beside the device's
}

// NewMachine joins the sheet's ceilings with what the user gave.
func NewMachine(dev hardware.Device, opt MachineOptions) (*Machine, error) {
	m := &Machine{Device: dev, Topology: opt.Topology, Note: opt.TopologyEvidence}
	if m.Topology == "" {
		name, assumed := hardware.DefaultTopology(dev)
		m.Topology = name
		if assumed {
			m.Note = hardware.AssumedTopology
		}
	} else if err := hardware.CheckTopology(dev, m.Topology); err != nil {
		return nil, fmt.Errorf("--topology: %w", err)
	}
	m.Roofline = dev.Machine()
	if m.Topology != "" {
		on, err := dev.MachineOn(m.Topology)
		if err != nil {
			return nil, err
		}
		m.Roofline = on
	}
	if opt.Bandwidth > 0 {
		m.give(roofline.DRAMRead, opt.Bandwidth*1e9, "B/s", "--bandwidth")
	}
	if opt.LaunchGap != nil {
		m.give(roofline.GraphNode, float64(*opt.LaunchGap), "s", "--launch-gap")
	}
	if opt.LinkLatency != nil {
		if err := m.byFormula(*opt.LinkLatency); err != nil {
			return nil, err
		}
	}
	if opt.AllReduceLatency != nil {
		given := roofline.Ceiling{Resource: roofline.AllReduceLatency, Value: float64(*opt.AllReduceLatency),
			Unit: "s", Basis: roofline.Given, Source: "--allreduce-latency"}
		m.Roofline.AllReduce = func(unit.Bytes, int) (roofline.Ceiling, bool) { return given, true }
		m.Note = ""
	}
	if m.Roofline.Exchange == nil && m.Roofline.AllReduce != nil {
		m.Roofline.Exchange = likeAllReduce(m.Roofline.AllReduce)
	}
	if opt.Ceilings != nil {
		if err := m.probe(opt.Ceilings); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// likeAllReduce times the other exchanges, of which no measurement is known to
// the catalogue, as the all-reduce that brings each GPU the same bytes in one
// hop: a one-shot all-reduce of m bytes over n GPUs brings (n−1)·m. A faster
// algorithm for that all-reduce makes the answer lower, never higher.
func likeAllReduce(allReduce func(unit.Bytes, int) (roofline.Ceiling, bool)) func(roofline.Component, unit.Bytes, int) (roofline.Ceiling, bool) {
	return func(kind roofline.Component, message unit.Bytes, n int) (roofline.Ceiling, bool) {
		if n < 2 {
			return roofline.Ceiling{}, false
		}
		same := message / unit.Bytes(n)
		if kind == roofline.AllToAll {
			same = message / unit.Bytes(n-1)
		}
		c, ok := allReduce(same, n)
		c.Resource = roofline.LatencyOf(kind)
		c.Source = fmt.Sprintf("no %s is in the catalogue; taken: an all-reduce of %.0f B, which brings a GPU the same bytes in one hop: %s", kind, float64(same), c.Source)
		return c, ok
	}
}

// byFormula times all-reduces by the fastest algorithm's formula, with a given
// latency of one hop and the links' line rate.
func (m *Machine) byFormula(alpha unit.Seconds) error {
	beta, ok := m.Roofline.Ceilings[roofline.LinkOneWay]
	if !ok {
		return fmt.Errorf("--link-latency: no link rate is known for %s; give --allreduce-latency", m.Device.Name)
	}
	link := roofline.Link{Alpha: alpha, Beta: unit.BytesPerSecond(beta.Value)}
	m.Roofline.AllReduce = func(message unit.Bytes, n int) (roofline.Ceiling, bool) {
		a, t := roofline.FastestAllReduce(link, n, message)
		return roofline.Ceiling{Resource: roofline.AllReduceLatency, Value: float64(t), Unit: "s", Basis: roofline.Given,
			Source: fmt.Sprintf("%s (%s), --link-latency %.2f µs and %.0f GB/s: %s", a.Name, a.Doc, alpha.Micros(), beta.Value/1e9, beta.Source)}, n > 1
	}
	m.Roofline.Exchange = func(kind roofline.Component, message unit.Bytes, n int) (roofline.Ceiling, bool) {
		t, ok := roofline.ExchangeTime(link, kind, n, message)
		return roofline.Ceiling{Resource: roofline.LatencyOf(kind), Value: float64(t), Unit: "s", Basis: roofline.Given,
			Source: fmt.Sprintf("one hop, --link-latency %.2f µs and %.0f GB/s: %s", alpha.Micros(), beta.Value/1e9, beta.Source)}, ok
	}
	return nil
}

// give overrides one ceiling.
func (m *Machine) give(r roofline.Resource, value float64, u, flag string) {
	m.Roofline.Ceilings[r] = roofline.Ceiling{Resource: r, Value: value, Unit: u, Basis: roofline.Given, Source: flag}
}

// Report is the hardware part of a document; count is the number of GPUs.
// The latencies are those of the given exchanges, where they are known.
func (m *Machine) Report(count int, collectives []roofline.Collective) reports.Hardware {
	h := reports.Hardware{Name: m.Device.Name, Count: count, Topology: m.Topology, Ceilings: []reports.Ceiling{}}
	for _, f := range m.Device.Facts() {
		h.Facts = append(h.Facts, reports.Fact{Name: f.Name, Value: f.Value, Source: f.Source})
	}
	h.Facts = append(h.Facts, m.facts...)
	for _, c := range m.Roofline.Ceilings {
		h.Ceilings = append(h.Ceilings, ceiling(c))
	}
	if m.Probed != nil {
		for r, c := range m.Probed.Ceilings {
			if c != m.Roofline.Ceilings[r] {
				h.Ceilings = append(h.Ceilings, ceiling(c))
			}
		}
	}
	sort.Slice(h.Ceilings, func(i, j int) bool {
		a, b := h.Ceilings[i], h.Ceilings[j]
		return a.Resource < b.Resource || a.Resource == b.Resource && a.Basis > b.Basis // sheet, probed, given
	})
	seen := map[string]bool{}
	for _, c := range collectives {
		one, ok := m.Roofline.Latency(c)
		name := fmt.Sprintf("%s/%.0fB/%d", roofline.LatencyOf(c.Kind), float64(c.Bytes), c.GPUs)
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		out := ceiling(one)
		out.Resource = name
		if m.Note != "" {
			out.Source += "; " + m.Note
		}
		h.Ceilings = append(h.Ceilings, out)
	}
	return h
}

func ceiling(c roofline.Ceiling) reports.Ceiling {
	return reports.Ceiling{Resource: string(c.Resource), Value: c.Value, Unit: c.Unit, Basis: string(c.Basis), Source: c.Source}
}
