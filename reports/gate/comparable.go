package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"decodegap/reports"
)

// sameModel lists how the baseline's model or hardware differs; none if the
// two runs counted the same thing.
func sameModel(run, base *reports.Run) []string {
	var d differences
	d.add("model", run.Model.Name, base.Model.Name)
	d.add("architecture", run.Model.Architecture, base.Model.Architecture)
	d.add("layers", run.Model.Layers, base.Model.Layers)
	d.add("parameters", run.Model.ParamsTotal, base.Model.ParamsTotal)
	d.add("parameters read", run.Model.ParamsActiveRead, base.Model.ParamsActiveRead)
	d.add("weight formats", run.Model.Formats, base.Model.Formats)
	d.add("source of the byte counts", run.Model.BytesSource, base.Model.BytesSource)
	d.add("hardware", run.Hardware.Name, base.Hardware.Name)
	d.add("GPUs", run.Hardware.Count, base.Hardware.Count)
	d.add("topology", run.Hardware.Topology, base.Hardware.Topology)
	return d
}

// matching finds the baseline's point with p's operating point, or says why
// there is none.
func matching(p *reports.RunPoint, base *reports.Run) (*reports.RunPoint, string) {
	var closest *reports.RunPoint
	var found []*reports.RunPoint
	for i := range base.Points {
		b := &base.Points[i]
		if b.Batch != p.Batch || b.Context != p.Context {
			continue
		}
		if len(sameOperating(p, b)) == 0 {
			found = append(found, b)
		} else {
			closest = b
		}
	}
	// Several series at one operating point are told apart by their label; a
	// single one may be called differently, since labels come from file names.
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(b *reports.RunPoint) bool { return b.Label != p.Label })
		if len(found) != 1 {
			return nil, "the baseline has several series at this point and not exactly one with the same label"
		}
	}
	switch {
	case len(found) == 1:
		return found[0], ""
	case closest != nil:
		return nil, "the baseline's point differs: " + strings.Join(sameOperating(p, closest), "; ")
	}
	return nil, "the baseline has no such point; it has " + pointList(base)
}

// acceptedTolerance is how far the tokens emitted per step, which are measured,
// may be from the baseline's.
const acceptedTolerance = 0.02

func sameOperating(p, b *reports.RunPoint) []string {
	var d differences
	d.add("tp", p.TP, b.TP)
	d.add("ep", p.EP, b.EP)
	d.add("dp", p.DP, b.DP)
	d.add("pp", p.PP, b.PP)
	d.add("kv type", p.KVType, b.KVType)
	d.add("state type", p.StateType, b.StateType)
	d.add("attention", p.Attention, b.Attention)
	d.add("engine", p.Engine, b.Engine)
	d.add("draft tokens", p.DraftTokens, b.DraftTokens)
	if !near(p.AcceptedTokens, b.AcceptedTokens, acceptedTolerance) {
		d.add("accepted tokens", p.AcceptedTokens, b.AcceptedTokens)
	}
	return d
}

// floorTolerance is how far a floor may be from the baseline's: sheet and given
// ceilings are the same numbers every time, probed ones are measured anew.
func floorTolerance(basis string) float64 {
	if basis == "probed" {
		return 0.05
	}
	return 1e-4
}

// sameFloors compares the floors of two points per step, so that a slightly
// different acceptance does not count as another floor.
func sameFloors(name reports.FloorName, p, b *reports.RunPoint) []string {
	if b.Floor(name) == nil {
		return []string{"the baseline has no " + floorName(name) + "; it has " + floorNames(b)}
	}
	var d differences
	for _, f := range p.Floors {
		n := reports.FloorName{Kind: f.Kind, Basis: f.Basis}
		other := b.Floor(n)
		if other == nil || n.Basis != "sheet" && n != name {
			continue
		}
		if !near(f.MsPerToken*p.AcceptedTokens, other.MsPerToken*b.AcceptedTokens, floorTolerance(f.Basis)) {
			d.add(floorName(n), ms(f.MsPerToken), ms(other.MsPerToken))
		}
	}
	return d
}

// near says whether a is within a share of b; false for NaN.
func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Abs(b) }

// differences collects what is not equal, in words.
type differences []string

func (d *differences) add(what string, now, then any) {
	if now == then {
		return
	}
	*d = append(*d, fmt.Sprintf("%s %s, baseline %s", what, known(now), known(then)))
}

// known prints a value, or that there is none.
func known(v any) string {
	s := reports.OneLine(fmt.Sprint(v), 80)
	if s == "" {
		return "unknown"
	}
	return s
}
