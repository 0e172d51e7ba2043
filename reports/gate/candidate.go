package gate

import (
	"fmt"
	"slices"
	"strings"

	"decodegap/reports"
)

// candidate is one evaluation: the run, what the policy says, and the points
// the two have in common.
type candidate struct {
	policy   *Policy
	run      *reports.Run
	baseline *reports.Run // may be nil

	targets []target
	missing []Point // the policy's points that the run lacks
}

// target is one point of the run that the policy gates.
type target struct {
	point *reports.RunPoint
	name  string   // "batch 1, context 576", unique within the run
	min   *float64 // least efficiency, as a share; nil: not judged
}

// String is the point as the policy names it.
func (p Point) String() string {
	s := fmt.Sprintf("batch %d", p.Batch)
	if p.Context != nil {
		s += fmt.Sprintf(", context %d", *p.Context)
	}
	if p.Label != nil {
		s += ", label " + reports.OneLine(*p.Label, 80)
	}
	return s
}

func (p Point) selects(r *reports.RunPoint) bool {
	return p.Batch == r.Batch &&
		(p.Context == nil || *p.Context == r.Context) &&
		(p.Label == nil || *p.Label == r.Label)
}

// choose fills targets and missing. A point that several entries select is
// gated once, at the highest of their limits.
func (c *candidate) choose() {
	names := pointNames(c.run)
	at := make(map[int]int) // point index → index in targets
	add := func(i int, least *float64) {
		if least == nil {
			least = c.policy.MinEfficiency
		}
		t, ok := at[i]
		if !ok {
			t = len(c.targets)
			at[i] = t
			c.targets = append(c.targets, target{point: &c.run.Points[i], name: names[i]})
		}
		if old := c.targets[t].min; least != nil && (old == nil || *least > *old) {
			c.targets[t].min = least
		}
	}
	if len(c.policy.Points) == 0 {
		for i := range c.run.Points {
			add(i, nil)
		}
	}
	for _, p := range c.policy.Points {
		found := false
		for i := range c.run.Points {
			if p.selects(&c.run.Points[i]) {
				add(i, p.MinEfficiency)
				found = true
			}
		}
		if !found {
			c.missing = append(c.missing, p)
		}
	}
}

// pointNames names each point of a run by as little as tells it apart.
func pointNames(run *reports.Run) []string {
	levels := []func(i int, p *reports.RunPoint) string{
		func(_ int, p *reports.RunPoint) string {
			return fmt.Sprintf("batch %d, context %d", p.Batch, p.Context)
		},
		func(_ int, p *reports.RunPoint) string {
			if p.Label == "" {
				return ""
			}
			return ", label " + reports.OneLine(p.Label, 80)
		},
		func(i int, _ *reports.RunPoint) string { return fmt.Sprintf(", points[%d]", i) },
	}
	names := make([]string, len(run.Points))
	for _, level := range levels {
		count := make(map[string]int)
		for _, n := range names {
			count[n]++
		}
		for i := range names {
			if count[names[i]] > 1 || names[i] == "" {
				names[i] += level(i, &run.Points[i])
			}
		}
	}
	return names
}

// efficiency is the target's floor and ratio against the policy's floor. ok is
// false where the run lacks the floor or the measurement.
func (c *candidate) efficiency(t target) (e efficiency, ok bool) {
	f, m := t.point.Floor(c.policy.Floor), t.point.Measured
	if f == nil || m == nil {
		return efficiency{}, false
	}
	e = efficiency{floorMs: f.MsPerToken, measuredMs: m.ValueMs, ratio: f.MsPerToken / m.ValueMs}
	if m.LoMs != nil && m.HiMs != nil {
		e.interval = &[2]float64{f.MsPerToken / *m.HiMs, f.MsPerToken / *m.LoMs}
	}
	return e, true
}

// efficiency is a floor divided by a measured time per output token. It is
// always computed from those two, never taken over from the record.
type efficiency struct {
	floorMs, measuredMs, ratio float64
	interval                   *[2]float64 // nil: the measurement has none
}

// best is the highest ratio the measurement allows.
func (e efficiency) best() float64 {
	if e.interval != nil {
		return e.interval[1]
	}
	return e.ratio
}

// beatsFloor says whether even the slow end of the measurement is below the
// floor, which nothing can be.
func (e efficiency) beatsFloor() bool {
	least := e.ratio
	if e.interval != nil {
		least = e.interval[0]
	}
	return least > 1+1e-6
}

// worst is the lowest efficiency of the gated points with its interval, nil
// where none could be computed.
func (c *candidate) worst() (*float64, *[2]float64) {
	var least *efficiency
	for _, t := range c.targets {
		if e, ok := c.efficiency(t); ok && (least == nil || e.ratio < least.ratio) {
			least = &e
		}
	}
	if least == nil {
		return nil, nil
	}
	return &least.ratio, least.interval
}

// floorName is a floor as sentences name it.
func floorName(n reports.FloorName) string {
	switch n.Basis {
	case "probed":
		return n.Kind + " floor at probed ceilings"
	case "given":
		return n.Kind + " floor at the given ceilings"
	}
	return n.Kind + " floor at the sheet"
}

// floorNames lists the floors a point has.
func floorNames(p *reports.RunPoint) string {
	var names []string
	for _, f := range p.Floors {
		names = append(names, f.Kind+"/"+f.Basis)
	}
	if len(names) == 0 {
		return "no floor"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
