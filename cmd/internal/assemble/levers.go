package assemble

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"decodegap/reports"
	"decodegap/roofline/gap"
	"decodegap/roofline/hardware"
)

// eagerCall is the least and most one launch costs the CPU without a graph, in
// milliseconds: 4 to 6 µs a call through the driver, measured on an RTX 5070 Ti
// (susun-blog, CUDA submission path).
var eagerCall = [2]float64{0.004, 0.006}

// Levers says what could be changed at a point and the most it can win back,
// bounded by the ledger. What only settles where time goes comes first.
func Levers(p reports.RunPoint, m *Machine, findings []reports.Finding) []reports.Lever {
	levers := []reports.Lever{}
	if p.Ledger == nil {
		return append(levers, worthLevers(p)...)
	}
	unknown := 0.0
	for _, r := range p.Ledger.Rungs {
		if r.Cause == "unattributed" {
			unknown = r.Ms
		}
	}
	traced := slices.ContainsFunc(p.Components, func(c reports.ComponentRow) bool { return c.ActualMs != nil })
	if unknown > 0.1*p.Ledger.MeasuredMs && !traced {
		levers = append(levers, reports.Lever{
			Change:   "take a profiler trace of 20 decode steps",
			Evidence: fmt.Sprintf("settles where the unattributed %.1f ms go; wins nothing by itself", unknown),
		})
	}
	levers = append(levers, tracedLevers(p)...)
	levers = append(levers, graphLever(p, findings, unknown)...)
	levers = append(levers, linkLever(p, m)...)
	return append(levers, worthLevers(p)...)
}

// graphLever bounds what CUDA graphs can win where they are off: at least the
// launch calls themselves, at most what nothing else explains.
func graphLever(p reports.RunPoint, findings []reports.Finding, unknown float64) []reports.Lever {
	launches := 0
	for _, c := range p.Components {
		launches += c.Launches
	}
	for _, f := range findings {
		if f.Check != "graphs-off" || unknown <= 0 || launches == 0 {
			continue
		}
		lo := math.Min(float64(launches)*eagerCall[0], unknown)
		most := unknown
		return []reports.Lever{{
			Change: "turn CUDA graphs on", Ms: &most, LoMs: &lo,
			Evidence: fmt.Sprintf("%s; %d or more launches a step, each 4–6 µs of CPU at least (RTX 5070 Ti, susun-blog); at most what is unattributed", f.Where, launches),
		}}
	}
	return nil
}

// tracedLevers are what a traced ledger bounds: launch gaps less the profiler's
// own cost, and kernels that take longer than their floor.
func tracedLevers(p reports.RunPoint) []reports.Lever {
	var launch, profiler float64
	replays := false
	var kernels []reports.Rung
	for _, r := range p.Ledger.Rungs {
		switch {
		case r.Cause == "host" && r.Text == gap.LaunchBound:
			launch = r.Ms
		case r.Cause == "profiler":
			profiler = r.Ms
		case gap.ReplaysGraphs(r.Text):
			replays = true
		case r.Cause == "kernel" && r.Ms > 0.02*p.Ledger.MeasuredMs:
			kernels = append(kernels, r)
		}
	}
	var out []reports.Lever
	if most := launch + math.Min(profiler, 0); most > 0.02*p.Ledger.MeasuredMs {
		text := fmt.Sprintf("%.1f of %.1f ms are launch gaps in the trace", launch, p.Ledger.MeasuredMs)
		if profiler < 0 {
			text = fmt.Sprintf("%.1f ms of launch gaps in the trace, less the profiler's %.1f ms: at most %.1f of %.1f", launch, -profiler, most, p.Ledger.MeasuredMs)
		}
		change := "CUDA graphs, or compilation with graphs"
		if replays {
			change = "launch each replay earlier: the graphs wait for the host's work between steps"
		}
		out = append(out, reports.Lever{Change: change, Ms: &most, Evidence: text})
	}
	sort.SliceStable(kernels, func(i, j int) bool { return kernels[i].Ms > kernels[j].Ms })
	for _, r := range kernels[:min(len(kernels), 3)] {
		ms := r.Ms
		out = append(out, reports.Lever{Change: "faster kernels for " + r.Component, Ms: &ms, Evidence: r.Text})
	}
	return out
}

// linkLever says what the collectives can cost on the topologies known for
// this machine, where the topology was only assumed.
func linkLever(p reports.RunPoint, m *Machine) []reports.Lever {
	if m.Note != hardware.AssumedTopology {
		return nil
	}
	for _, r := range p.Ledger.Rungs {
		if r.Component == "comm.allreduce" && r.HiMs > r.Ms {
			most, lo := r.HiMs-r.Ms, 0.0
			return []reports.Lever{{
				Change: "measure the all-reduce at this message size and use the fastest path", Ms: &most, LoMs: &lo,
				Evidence: fmt.Sprintf("%s; public measurements of such machines reach from %.1f to %.1f ms a token by topology and algorithm", m.Note, r.LoMs, r.HiMs),
			}}
		}
	}
	return nil
}

// worthLevers are the changes that lower the floor itself, largest first; of
// several formats for the same matrices only the smallest.
func worthLevers(p reports.RunPoint) []reports.Lever {
	worth := slices.Clone(p.Worth)
	sort.SliceStable(worth, func(i, j int) bool { return worth[i].Ms > worth[j].Ms })
	var out []reports.Lever
	seen := map[string]bool{}
	for _, w := range worth {
		what, _, _ := strings.Cut(w.Change, " in ")
		if w.Of != "layout floor" || w.Ms < 0.01 || seen[what] || len(out) == 4 {
			continue
		}
		seen[what] = true
		ms := w.Ms
		out = append(out, reports.Lever{Change: w.Change, Ms: &ms, Evidence: "lowers the layout floor by this much"})
	}
	return out
}
