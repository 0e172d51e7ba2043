// Package fleet joins the records that probes wrote on many GPUs and hosts, and
// names those that are slower than their like.
//
// It refuses to compare devices of different names, to judge one by fewer than
// eight of its kind, to call a device slow for what chance, the noise of its own
// sample or the margin of a comparison explains, and to run anything anywhere:
// records come from whatever launched the probes.
package fleet

import (
	"cmp"
	"fmt"
	"slices"

	"decodegap/probes"
	"decodegap/reports"
)

// Record is one ceilings document and where it came from.
type Record struct {
	Path string
	Doc  *reports.CeilingsDocument
}

// value is one measured case of one device.
type value struct {
	unit, host string
	kind       string
	time, low  float64 // s: median, and the lower end of its interval
	margin     float64
	at         int // of its group's values
}

// group is one case over all devices of one kind.
type group struct {
	hardware, probe, name string
	kind                  string
	values                []value
	of                    map[string]int // each unit's place among them
	median, spread        float64
}

// add keeps the fastest value of each unit.
func (g *group) add(v value) {
	at, again := g.of[v.unit]
	switch {
	case !again:
		g.of[v.unit] = len(g.values)
		g.values = append(g.values, v)
	case v.time < g.values[at].time:
		g.values[at] = v
	}
}

// What a time of one run lies between, in seconds; none that was measured is
// beyond.
const leastTime, mostTime = 1e-12, 1e6

// Merge joins records. Where a device has several of one case the fastest
// counts, with a warning: what it reached once it can reach.
func Merge(records []Record) *reports.MergeDocument {
	doc := &reports.MergeDocument{Schema: reports.MergeSchema, Records: len(records), Cases: []reports.FleetCase{}, Slow: []reports.SlowUnit{}, Warnings: []reports.Warning{}}
	hosts, devices := map[string]bool{}, map[string]int{}
	groups := map[[4]string]*group{}
	odd := 0
	for _, r := range records {
		unit, host := names(r)
		hosts[host] = true
		devices[unit]++
		margin := probes.DefaultMargin
		if n := r.Doc.NoiseFloor; n != nil {
			margin = max(margin, *n)
		}
		for _, p := range r.Doc.Results {
			if p.Outcome != string(probes.Measured) || p.Verdict == string(probes.Unreliable) || p.TimeS == nil {
				continue
			}
			if t := p.TimeS.Median; !(t > leastTime && t < mostTime) {
				odd++
				continue
			}
			v := value{unit: unit, host: host, kind: "gpu", time: p.TimeS.Median, low: p.TimeS.Median, margin: margin}
			if lo := p.TimeS.Lo; lo != nil {
				v.low = *lo
			}
			if from, to, ok := link(p); ok {
				v.kind, v.unit = "link", fmt.Sprintf("%s GPU %d → GPU %d", host, from, to)
			}
			key := [4]string{r.Doc.Hardware, p.Probe, p.Case, v.kind}
			if groups[key] == nil {
				groups[key] = &group{hardware: r.Doc.Hardware, probe: p.Probe, name: p.Case, kind: v.kind, of: map[string]int{}}
			}
			groups[key].add(v)
		}
	}
	doc.GPUs, doc.Hosts = len(devices), len(hosts)
	all := make([]*group, 0, len(groups))
	for _, g := range groups {
		times := make([]float64, len(g.values))
		for i := range g.values {
			times[i] = g.values[i].time
		}
		g.median, g.spread = center(times)
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.hardware, b.hardware), cmp.Compare(a.probe, b.probe), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
	for _, g := range all {
		doc.Cases = append(doc.Cases, g.summary())
	}
	doc.Slow = slow(all)
	doc.Missing = missing(records)
	warn(doc, records, devices, all, odd)
	return doc
}

// names are the device and the host of a record. Without a rank's host a record
// stands for itself: its file's name.
func names(r Record) (unit, host string) {
	host = reports.OneLine(r.Path, 200)
	if rank := r.Doc.Rank; usable(rank) && rank.Host != "" {
		host = reports.OneLine(rank.Host, 200)
	}
	unit = host + " " + reports.OneLine(r.Doc.Device, 40)
	// One process may see its GPU as number 0 whichever it is.
	if g := r.Doc.GPU; g != nil && g.Reported != nil && g.Reported.BusID != "" {
		unit = host + " GPU at " + reports.OneLine(g.Reported.BusID, 40)
	}
	return unit, host
}

// link says whether a case is of a path between two GPUs, and of which.
func link(p reports.ProbeResult) (from, to int, ok bool) {
	from, a := p.Shape["from"]
	to, b := p.Shape["to"]
	return from, to, a && b && from >= 0 && to >= 0 && from != to
}

// usable says whether a rank is one that a job can have.
func usable(r *reports.Rank) bool {
	return r != nil && r.Index >= 0 && r.Index < r.Of && r.Of <= mostRanks
}

func (g *group) summary() reports.FleetCase {
	by := func(a, b value) int { return cmp.Compare(a.time, b.time) }
	slowest := slices.MaxFunc(g.values, by)
	return reports.FleetCase{Hardware: g.hardware, Probe: g.probe, Case: g.name, Count: len(g.values), MedianS: g.median,
		FastestS: slices.MinFunc(g.values, by).time, SlowestS: slowest.time, SlowestIs: slowest.unit, Spread: g.spread}
}

// missing are the ranks of a job that have no record.
func missing(records []Record) []int {
	of, seen := 0, map[int]bool{}
	for _, r := range records {
		if rank := r.Doc.Rank; usable(rank) {
			of = max(of, rank.Of)
			seen[rank.Index] = true
		}
	}
	var out []int
	for i := range of {
		if !seen[i] {
			out = append(out, i)
		}
	}
	return out
}

// mostRanks bounds what a record may claim of its job.
const mostRanks = 1 << 20

func warn(doc *reports.MergeDocument, records []Record, devices map[string]int, all []*group, odd int) {
	say := func(code, format string, args ...any) {
		doc.Warnings = append(doc.Warnings, reports.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	twice, first := 0, ""
	for unit, n := range devices {
		if n > 1 {
			twice++
			if first == "" || unit < first {
				first = unit
			}
		}
	}
	if twice > 0 {
		say("twice", "devices with more than one record: %d, the first of them %s; of each case the fastest counts", twice, first)
	}
	if odd > 0 {
		say("no-time", "results left out because their time can be none: %d", odd)
	}
	if bad := len(slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Doc.Rank == nil || usable(r.Doc.Rank) })); bad > 0 {
		say("no-rank", "records whose rank no job can have: %d; each counts as a host of its own", bad)
	}
	alone := 0
	for _, r := range records {
		if r.Doc.Rank == nil {
			alone++
		}
	}
	if alone > 0 && len(records) > 1 {
		say("no-rank", "%d records do not say what host they are from: each counts as a host of its own", alone)
	}
	few := 0
	for _, g := range all {
		if len(g.values) < Least {
			few++
		}
	}
	if few > 0 {
		say("few", "%d of %d cases were measured by fewer than %d devices of a kind: nothing is called slow by them", few, len(all), Least)
	}
}
