package fleet

import (
	"cmp"
	"maps"
	"slices"

	"decodegap/reports"
)

// unitKey tells devices, links and hosts apart.
type unitKey struct{ kind, name, hardware string }

// found gathers the cases in which a unit is slow.
type found struct {
	reports.SlowUnit
	slow map[*group]bool
}

// slow are the units beyond chance and margin: GPUs and links by their cases,
// hosts by the medians of theirs. A host takes its GPUs' places where most of
// them are slow with it.
func slow(all []*group) []reports.SlowUnit {
	devices := judge(all)
	hosts := judge(byHost(all))
	for k, h := range hosts {
		var members, with []unitKey
		for g := range h.slow {
			origin := g.values[0].at // of all
			for _, v := range all[origin].values {
				if v.host != k.name {
					continue
				}
				u := unitKey{v.kind, v.unit, all[origin].hardware}
				if slices.Contains(members, u) {
					continue
				}
				members = append(members, u)
				if _, ok := devices[u]; ok {
					with = append(with, u)
				}
			}
		}
		if 2*len(with) <= len(members) {
			delete(hosts, k) // some of its GPUs are slow, not the host
			continue
		}
		for _, u := range with {
			delete(devices, u)
		}
	}
	out := []reports.SlowUnit{}
	for _, f := range []map[unitKey]*found{devices, hosts} {
		for _, k := range slices.SortedFunc(maps.Keys(f), func(a, b unitKey) int {
			return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.hardware, b.hardware))
		}) {
			out = append(out, f[k].SlowUnit)
		}
	}
	slices.SortStableFunc(out, func(a, b reports.SlowUnit) int { return cmp.Compare(b.Slower, a.Slower) })
	return out
}

// judge finds the units that are slow in some case: above the margin with the
// whole interval of their own sample, and further from the rest than chance.
func judge(all []*group) map[unitKey]*found {
	tests := 0
	measured := map[unitKey]int{}
	for _, g := range all {
		if len(g.values) < Least {
			continue
		}
		tests += len(g.values)
		for _, v := range g.values {
			measured[unitKey{v.kind, v.unit, g.hardware}]++
		}
	}
	units := map[unitKey]*found{}
	for _, g := range all {
		if len(g.values) < Least {
			continue
		}
		limit := limitOf(tests, len(g.values))
		for _, v := range g.values {
			slower := v.time / g.median
			if v.low <= g.median*(1+v.margin) {
				continue
			}
			score := (slower - 1) / max(g.spread, v.margin/limit)
			if score < limit {
				continue
			}
			k := unitKey{v.kind, v.unit, g.hardware}
			f := units[k]
			if f == nil {
				f = &found{SlowUnit: reports.SlowUnit{Kind: v.kind, Name: v.unit, Hardware: g.hardware, Of: measured[k]}, slow: map[*group]bool{}}
				units[k] = f
			}
			f.Cases++
			f.slow[g] = true
			if slower > f.Slower {
				f.Slower, f.Score, f.Limit, f.Probe, f.Case = slower, score, limit, g.probe, g.name
			}
		}
	}
	return units
}

// byHost makes a group of hosts of each group of their GPUs: the median of
// each. Hosts of one GPU say nothing that their GPU does not.
func byHost(all []*group) []*group {
	var out []*group
	for at, g := range all {
		if g.kind != "gpu" {
			continue
		}
		of := map[string][]value{}
		for _, v := range g.values {
			of[v.host] = append(of[v.host], v)
		}
		h := &group{hardware: g.hardware, probe: g.probe, name: g.name, kind: "host"}
		var times []float64
		for _, host := range slices.Sorted(maps.Keys(of)) {
			v := of[host]
			if len(v) < 2 {
				continue
			}
			slices.SortFunc(v, func(a, b value) int { return cmp.Compare(a.time, b.time) })
			m := v[(len(v)-1)/2]
			m.unit, m.kind, m.at = host, "host", at
			h.values = append(h.values, m)
			times = append(times, m.time)
		}
		if len(times) == 0 {
			continue
		}
		h.median, h.spread = center(times)
		out = append(out, h)
	}
	return out
}
