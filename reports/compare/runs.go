package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"decodegap/reports"
)

// Runs compares two or more run records at the operating points they share:
// time per output token, efficiency against each floor, and what differs in
// the environment. Points that only one record has are listed without a
// verdict.
func Runs(names []string, runs []*reports.Run, o Options) ([]reports.Series, *reports.Comparison, error) {
	if len(runs) < 2 {
		return nil, nil, fmt.Errorf("cannot compare %d run records: at least two are needed", len(runs))
	}
	var series []reports.Series
	found := map[string][]*reports.RunPoint{} // one per run, nil where it has none
	for i, run := range runs {
		series = append(series, runSeries(names[i], run))
		for j := range run.Points {
			p := &run.Points[j]
			key := operatingKey(run, p)
			if found[key] == nil {
				found[key] = make([]*reports.RunPoint, len(runs))
			}
			if found[key][i] != nil {
				return nil, nil, fmt.Errorf("%s has two points with %s: give each a label of its own", names[i], key)
			}
			found[key][i] = p
		}
	}
	var points []point
	for key, at := range found {
		points = append(points, runPoint(key, at))
	}
	slices.SortFunc(points, func(a, b point) int {
		return cmp.Or(strings.Compare(a.group, b.group), cmp.Compare(a.concurrency, b.concurrency), strings.Compare(a.label, b.label))
	})
	c := &reports.Comparison{Rows: []reports.CompareRow{}, Crossovers: []reports.Crossover{}}
	for _, p := range points {
		c.Rows = append(c.Rows, p.row(o.threshold()))
	}
	c.Crossovers = append(c.Crossovers, crossovers(names, points, o.threshold())...)
	c.Reasons = append(environment(series, o, "run record"), o.Doubts...)
	if !slices.ContainsFunc(c.Rows, func(r reports.CompareRow) bool { return r.Verdict != NotComparable }) {
		c.Reasons = append(c.Reasons, "no operating point was measured in both records")
	}
	if c.Reasons == nil {
		c.Reasons = []string{}
	}
	c.Comparable = len(c.Reasons) == 0
	return series, c, nil
}

// runSeries is a record's measured points. tok/s stays unknown: a run records
// decode steps, not the throughput of a benchmark.
func runSeries(name string, run *reports.Run) reports.Series {
	s := reports.Series{Name: name, Source: name, Tool: "decodegap", Points: []reports.SeriesPoint{}, Facts: runFacts(run)}
	for i := range run.Points {
		p := &run.Points[i]
		if p.Measured != nil {
			s.Points = append(s.Points, reports.SeriesPoint{Concurrency: float64(p.Batch), TPOT: measured(p.Measured), Requests: p.Measured.Requests})
		}
	}
	return s
}

// runFacts is the fingerprint with what the floors were counted from, all of
// which must agree.
func runFacts(run *reports.Run) map[string]string {
	facts := maps.Clone(run.Fingerprint.Facts)
	if facts == nil {
		facts = map[string]string{}
	}
	for key, value := range map[string]string{
		"tool_version":       run.Fingerprint.ToolVersion,
		"model.name":         run.Model.Name,
		"model.formats":      run.Model.Formats,
		"model.bytes_source": run.Model.BytesSource,
		"hardware.name":      run.Hardware.Name,
		"hardware.count":     strconv.Itoa(run.Hardware.Count),
		"hardware.topology":  run.Hardware.Topology,
	} {
		if value != "" {
			facts[key] = value
		}
	}
	return facts
}

// operatingKey names the operating point: two points with the same key did the
// same work. The label tells several series at one point apart.
func operatingKey(run *reports.Run, p *reports.RunPoint) string {
	key := fmt.Sprintf("batch %d, ", p.Batch) + group(p)
	same := 0
	for i := range run.Points {
		if q := &run.Points[i]; q.Batch == p.Batch && group(q) == group(p) {
			same++
		}
	}
	if same > 1 && p.Label != "" {
		key += ", " + p.Label
	}
	return reports.OneLine(key, 200)
}

// group is everything about the operating point but the batch.
func group(p *reports.RunPoint) string {
	parts := []string{fmt.Sprintf("context %d", p.Context)}
	for _, n := range []struct {
		name  string
		value int
		usual int
	}{{"tp", p.TP, 0}, {"ep", p.EP, 1}, {"dp", p.DP, 1}, {"pp", p.PP, 1}, {"draft tokens", p.DraftTokens, 0}} {
		if n.value != n.usual {
			parts = append(parts, fmt.Sprintf("%s %d", n.name, n.value))
		}
	}
	for _, t := range []string{p.KVType, p.StateType, p.Attention, p.Engine} {
		if t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, ", ")
}

func runPoint(key string, at []*reports.RunPoint) point {
	out := point{label: key, sides: make([]side, len(at))}
	for i, p := range at {
		if p == nil {
			continue
		}
		out.concurrency, out.group = float64(p.Batch), group(p)
		if m := p.Measured; m != nil && m.ValueMs > 0 {
			v := &interval{m.ValueMs, m.ValueMs, m.ValueMs}
			if m.LoMs != nil && m.HiMs != nil && *m.LoMs > 0 && *m.HiMs >= *m.LoMs {
				v.lo, v.hi = *m.LoMs, *m.HiMs
			}
			out.sides[i].mean = v
		}
	}
	out.efficiency = efficiencies(at)
	ledgers := make([]*reports.Ledger, len(at))
	for i, p := range at {
		if p != nil {
			ledgers[i] = p.Ledger
		}
	}
	out.causes = reports.CauseChanges(ledgers)
	return out
}

// measured is the figure the record goes by, under its own statistic.
func measured(m *reports.Measured) reports.Summary {
	s := m.TPOT
	if s == (reports.Summary{}) {
		s.Mean = &m.ValueMs
	}
	return s
}

// efficiencies lists the floors that any of the points has, in order of first
// appearance, with each side's ratio.
func efficiencies(at []*reports.RunPoint) []reports.RowEfficiency {
	var out []reports.RowEfficiency
	for i, p := range at {
		if p == nil {
			continue
		}
		for _, e := range p.Efficiency {
			n := slices.IndexFunc(out, func(r reports.RowEfficiency) bool { return r.Floor == e.Floor })
			if n < 0 {
				n = len(out)
				out = append(out, reports.RowEfficiency{Floor: e.Floor, Ratio: make([]*float64, len(at))})
			}
			ratio := e.Ratio
			out[n].Ratio[i] = &ratio
		}
	}
	return out
}
