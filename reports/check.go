package reports

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// The closed lists of the documents; schemas and checks share them.
var (
	FloorKinds = []string{"ideal", "layout", "latency"}
	Bases      = []string{"sheet", "probed", "given"}
	Causes     = []string{
		"replication", "ceiling", "latency", "kernel", "communication", "device-idle",
		"host", "interference", "speculation", "profiler", "unattributed",
	}
)

// ClosesMs is how far a ledger's sum may be from the measured time: 1 µs.
const ClosesMs = 1e-3

// agreement is how far, relatively, a stored ratio or rate may be from the
// figures it was computed from. It leaves room for rounding, not for editing.
const agreement = 1e-4

// Check says whether the record's figures agree with each other: every number
// finite, each efficiency the quotient of its floor and the measured time,
// each rate the reciprocal of its time, each ledger closed to 1 µs. A record
// that fails was changed after it was made, or made wrongly; nothing may be
// concluded from it.
func (run *Run) Check() error {
	if at, v, ok := finite(reflect.ValueOf(run).Elem()); !ok {
		return fmt.Errorf("%s: %g, expected a finite number", strings.TrimPrefix(at, "."), v)
	}
	if run.Hardware.Count < 0 {
		return fmt.Errorf("hardware.count: %d, expected a count of GPUs", run.Hardware.Count)
	}
	for i, c := range run.Hardware.Ceilings {
		if err := oneOf(fmt.Sprintf("hardware.ceilings[%d].basis", i), c.Basis, Bases); err != nil {
			return err
		}
	}
	for i := range run.Points {
		if err := run.Points[i].check(fmt.Sprintf("points[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

// Floor finds the point's floor of that kind and basis; nil if it has none.
func (o *Operating) Floor(name FloorName) *Floor {
	for i := range o.Floors {
		if o.Floors[i].Kind == name.Kind && o.Floors[i].Basis == name.Basis {
			return &o.Floors[i]
		}
	}
	return nil
}

func (p *RunPoint) check(at string) error {
	if err := p.Operating.check(at); err != nil {
		return err
	}
	if p.Traced != nil {
		if err := p.Traced.check(at + ".traced"); err != nil {
			return err
		}
	}
	if p.Step != nil {
		if err := p.Step.check(at + ".attainable_step"); err != nil {
			return err
		}
	}
	m := p.Measured
	if m == nil {
		if len(p.Efficiency) > 0 || p.Ledger != nil {
			return fmt.Errorf("%s: an efficiency or ledger without a measured time", at)
		}
		return nil
	}
	if err := m.check(at + ".measured"); err != nil {
		return err
	}
	for i, e := range p.Efficiency {
		if err := e.check(fmt.Sprintf("%s.efficiency[%d]", at, i), &p.Operating, m); err != nil {
			return err
		}
	}
	if p.Ledger != nil {
		return p.Ledger.check(at+".ledger", &p.Operating, m)
	}
	return nil
}

func (o *Operating) check(at string) error {
	for _, n := range []struct {
		name       string
		value, min int
	}{
		{"batch", o.Batch, 1}, {"context", o.Context, 0}, {"tp", o.TP, 1}, {"ep", o.EP, 1},
		{"dp", o.DP, 1}, {"pp", o.PP, 1}, {"draft_tokens", o.DraftTokens, 0},
	} {
		if n.value < n.min {
			return fmt.Errorf("%s.%s: %d, expected a whole number of at least %d", at, n.name, n.value, n.min)
		}
	}
	if o.AcceptedTokens < 1 {
		return fmt.Errorf("%s.accepted_tokens: %g, expected at least 1 token a step", at, o.AcceptedTokens)
	}
	seen := make(map[FloorName]bool)
	for i, f := range o.Floors {
		at := fmt.Sprintf("%s.floors[%d]", at, i)
		if err := oneOf(at+".kind", f.Kind, FloorKinds); err != nil {
			return err
		}
		if err := oneOf(at+".basis", f.Basis, Bases); err != nil {
			return err
		}
		name := FloorName{f.Kind, f.Basis}
		if seen[name] {
			return fmt.Errorf("%s: a second %s floor at %s ceilings", at, f.Kind, f.Basis)
		}
		seen[name] = true
		if f.MsPerToken <= 0 {
			return fmt.Errorf("%s.ms_per_token: %g, expected a time above 0", at, f.MsPerToken)
		}
		if want := 1000 * float64(o.Batch) / f.MsPerToken; !agree(f.TokPerS, want) {
			return disagree(at+".tok_s", f.TokPerS, want, "1000·batch/ms_per_token")
		}
	}
	return nil
}

func (m *Measured) check(at string) error {
	if m.ValueMs <= 0 {
		return fmt.Errorf("%s.value_ms: %g, expected a time above 0", at, m.ValueMs)
	}
	if want := 1000 / m.ValueMs; !agree(m.TokPerS, want) {
		return disagree(at+".tok_s", m.TokPerS, want, "1000/value_ms")
	}
	for _, stat := range []struct {
		name  string
		value *float64
	}{{"mean", m.TPOT.Mean}, {"median", m.TPOT.Median}} {
		if m.Statistic == stat.name && !m.Derived && stat.value != nil && !agree(m.ValueMs, *stat.value) {
			return disagree(at+".value_ms", m.ValueMs, *stat.value, "the source's "+stat.name)
		}
	}
	if (m.LoMs == nil) != (m.HiMs == nil) {
		return fmt.Errorf("%s: lo_ms and hi_ms: expected both ends of the interval, or neither", at)
	}
	if m.LoMs != nil && !(0 < *m.LoMs && *m.LoMs <= m.ValueMs && m.ValueMs <= *m.HiMs) {
		return fmt.Errorf("%s: interval %g to %g ms does not hold the value of %g ms", at, *m.LoMs, *m.HiMs, m.ValueMs)
	}
	return nil
}

func (e *Efficiency) check(at string, o *Operating, m *Measured) error {
	f := o.Floor(e.Floor)
	if f == nil {
		return fmt.Errorf("%s.floor: %q at %q: the point has no such floor", at, OneLine(e.Floor.Kind, 40), OneLine(e.Floor.Basis, 40))
	}
	if want := f.MsPerToken / m.ValueMs; !agree(e.Ratio, want) {
		return disagree(at+".ratio", e.Ratio, want, "the floor divided by the measured time")
	}
	if e.Lo != nil && *e.Lo > e.Ratio*(1+agreement) || e.Hi != nil && *e.Hi < e.Ratio*(1-agreement) {
		return fmt.Errorf("%s: the interval does not hold the ratio of %g", at, e.Ratio)
	}
	return nil
}

func (l *Ledger) check(at string, o *Operating, m *Measured) error {
	if math.Abs(l.MeasuredMs-m.ValueMs) > ClosesMs {
		return disagree(at+".measured_ms", l.MeasuredMs, m.ValueMs, "the point's measured.value_ms")
	}
	f := o.Floor(l.Floor)
	if f == nil {
		return fmt.Errorf("%s.floor: %q at %q: the point has no such floor", at, OneLine(l.Floor.Kind, 40), OneLine(l.Floor.Basis, 40))
	}
	if math.Abs(l.FloorMs-f.MsPerToken) > ClosesMs {
		return disagree(at+".floor_ms", l.FloorMs, f.MsPerToken, "that floor's ms_per_token")
	}
	sum := l.FloorMs
	for i, r := range l.Rungs {
		if err := oneOf(fmt.Sprintf("%s.rungs[%d].cause", at, i), r.Cause, Causes); err != nil {
			return err
		}
		sum += r.Ms
	}
	if math.Abs(sum-l.MeasuredMs) > ClosesMs+1e-12*math.Abs(l.MeasuredMs) {
		return disagree(at, sum, l.MeasuredMs, "the measured time, which floor and rungs must add up to within 1 µs")
	}
	if !l.Closes {
		return fmt.Errorf("%s.closes: false, but floor and rungs add up to the measured time", at)
	}
	return nil
}

func agree(got, want float64) bool {
	return math.Abs(got-want) <= agreement*math.Abs(want)
}

func disagree(at string, got, want float64, what string) error {
	return changed(at, got, want, what, "diagnose")
}

// changed is the error about a figure that others contradict in a record that a
// command made.
func changed(at string, got, want float64, what, command string) error {
	return fmt.Errorf("%s: %.9g, but %s is %.9g: the record was changed after it was made; make it again with %s", at, got, what, want, command)
}

func oneOf(at, got string, known []string) error {
	if slices.Contains(known, got) {
		return nil
	}
	return fmt.Errorf("%s: %q, expected one of %s", at, OneLine(got, 40), strings.Join(known, ", "))
}
