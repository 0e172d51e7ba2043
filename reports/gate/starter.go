package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"decodegap/reports"
	"decodegap/roofline/unit"
)

// ErrNothingToGate says that a run has no measured point with a floor, so that
// no starter policy can be written for it.
var ErrNothingToGate = errors.New("nothing to gate: the run has no measured point with a floor; give diagnose --measured or --bench")

// starterFloors is the order in which a starter policy prefers floors: what
// this machine was shown to reach carries from one machine to another, a sheet
// ratio does not.
var starterFloors = []reports.FloorName{
	{Kind: "latency", Basis: "probed"},
	{Kind: "layout", Basis: "sheet"},
	{Kind: "latency", Basis: "sheet"},
	{Kind: "ideal", Basis: "sheet"},
	{Kind: "layout", Basis: "given"},
}

// headroom is what a starter policy asks for, as a share of what the run
// showed.
const headroom = 0.9

// Starter writes a commented policy that run passes: its measured points at
// 90 % of the efficiency they showed, rounded down. The name of the run stands
// in a comment.
func Starter(run *reports.Run, name string) ([]byte, error) {
	if err := run.Check(); err != nil {
		return nil, err
	}
	floor, ok := starterFloor(run)
	if !ok {
		return nil, ErrNothingToGate
	}
	c := &candidate{policy: &Policy{Floor: floor}, run: run}
	c.choose()
	var b strings.Builder
	fmt.Fprintf(&b, "# Gate policy for %s on %d × %s, written from %s.\n",
		shown(run.Model.Name), run.Hardware.Count, shown(run.Hardware.Name), reports.OneLine(name, 200))
	b.WriteString(`# Judge a run with: decodegap gate RUN --policy THIS-FILE

# The floor that efficiency (floor ÷ measured time per output token) is counted
# against. A run without exactly this floor is not comparable, never a pass.
`)
	fmt.Fprintf(&b, "floor: {kind: %s, basis: %s}\n\n", floor.Kind, floor.Basis)
	b.WriteString("# The points to gate, each at 90 % of what this run showed. A run that lacks\n# one of them is not comparable.\npoints:\n")
	if err := starterPoints(&b, c); err != nil {
		return nil, err
	}
	starterUnattributed(&b, c)
	starterRequire(&b, c)
	b.WriteString(`
# With gate --baseline RUN: a point fails only if it is slower by more than both.
# regression: {relative: 5%, absolute: 0.5ms}

# A baseline from another environment is not comparable (strict), only told
# (warn) or not looked for (ignore). Keys under ignore may differ.
fingerprint:
  mode: strict
  # ignore: [tool_version, "env.HOSTNAME"]
`)
	policy, err := ParsePolicy("starter policy", []byte(b.String()))
	if err != nil {
		return nil, err
	}
	doc, err := Evaluate(policy, run, nil)
	if err != nil {
		return nil, err
	}
	if doc.Verdict != Pass {
		return nil, fmt.Errorf("no policy can tell this run's points apart by batch, context and label, and pass it: %s", Summary(doc))
	}
	return []byte(b.String()), nil
}

// starterFloor is the first preferred floor that every measured point has.
func starterFloor(run *reports.Run) (reports.FloorName, bool) {
	for _, name := range starterFloors {
		measured, have := 0, 0
		for i := range run.Points {
			p := &run.Points[i]
			if p.Measured == nil {
				continue
			}
			measured++
			if p.Floor(name) != nil {
				have++
			}
		}
		if measured > 0 && have == measured {
			return name, true
		}
	}
	return reports.FloorName{}, false
}

func starterPoints(b *strings.Builder, c *candidate) error {
	type group struct {
		point Point
		least float64
	}
	var groups []group
	for _, t := range c.targets {
		e, ok := c.efficiency(t)
		if !ok {
			continue
		}
		if e.beatsFloor() {
			return fmt.Errorf("%s: measured below its %s (%s against %s): one of the two is wrong, no limit can be set",
				t.name, floorName(c.policy.Floor), ms(e.measuredMs), ms(e.floorMs))
		}
		p := Point{Batch: t.point.Batch, Context: &t.point.Context}
		// Labels come from file names, so a policy names one, be it empty, only
		// where it takes one to tell the series at a point apart.
		if slices.ContainsFunc(c.run.Points, func(o reports.RunPoint) bool { return p.selects(&o) && o.Label != t.point.Label }) {
			p.Label = &t.point.Label
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.point.selects(t.point) })
		if i < 0 {
			groups = append(groups, group{p, e.ratio})
		} else {
			groups[i].least = math.Min(groups[i].least, e.ratio)
		}
	}
	for _, g := range groups {
		fmt.Fprintf(b, "  - batch: %d\n    context: %d\n", g.point.Batch, *g.point.Context)
		if g.point.Label != nil {
			fmt.Fprintf(b, "    label: %s\n", quoted(*g.point.Label))
		}
		fmt.Fprintf(b, "    min_efficiency: %s # this run: %s\n", downTo(headroom*g.least), share(g.least))
	}
	return nil
}

func starterUnattributed(b *strings.Builder, c *candidate) {
	most, all := 0.0, true
	for _, t := range c.targets {
		if t.point.Measured == nil {
			continue
		}
		open, known := unattributedMs(t.point.Ledger)
		all = all && known
		if known {
			most = math.Max(most, open/t.point.Ledger.MeasuredMs)
		}
	}
	b.WriteString("\n# The most of the measured time that the ledger may leave unexplained.\n")
	switch limit := math.Ceil(most*110) / 100; {
	case all && limit <= 0.5:
		fmt.Fprintf(b, "max_unattributed: %.0f%% # this run: %s\n", limit*100, share(most))
	case all:
		fmt.Fprintf(b, "# This run leaves %s: it needs evidence of where the time goes before it can be set.\n# max_unattributed: 30%%\n", share(most))
	default:
		b.WriteString("# This run has no ledger at some point.\n# max_unattributed: 30%\n")
	}
}

func starterRequire(b *strings.Builder, c *candidate) {
	var has, lacks []string
	for _, q := range Requirements {
		if q.Name != "trace" && q.Name != "probes" {
			continue
		}
		if q.lacks(c) == "" {
			has = append(has, q.Name)
		} else {
			lacks = append(lacks, q.Name)
		}
	}
	fmt.Fprintf(b, "\n# Evidence that a run must show: %s.\n", strings.Join(requirementNames(), ", "))
	if len(has) > 0 {
		fmt.Fprintf(b, "require: [%s]\n", strings.Join(has, ", "))
	} else {
		fmt.Fprintf(b, "# require: [%s]\n", strings.Join(lacks, ", "))
	}
}

// downTo prints a share as a percentage of two significant digits, rounded
// down, so that the limit never asks for more than was shown.
func downTo(v float64) string {
	percent := v * 100
	digits := int(math.Floor(math.Log10(percent)))
	step := math.Pow(10, float64(digits-1))
	down := math.Floor(percent/step) * step
	return unit.Significant(down, max(2, digits+1)) + "%"
}

// quoted is s as a YAML double-quoted scalar.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
