package assemble

import (
	"math"
	"testing"

	"decodegap/reports"
)

// TestTimeline: whatever is drawn adds up to what ran, to the width of a
// column's rounding, and 100,000 operations take no more room than a few.
func TestTimeline(t *testing.T) {
	v := StepView{Length: 1_000_003}
	var at, busy int64
	for i := range 100_000 {
		op := ViewedOperation{Start: at, End: at + 5, Stream: int64(i % 9), Component: "norm"}
		if i%3 == 0 {
			op.Component = "moe.experts"
		}
		busy += op.End - op.Start
		v.Operations = append(v.Operations, op)
		v.Gaps = append(v.Gaps, ViewedGap{Start: at + 5, End: at + 10, Cause: "graph_gap", Before: "next"})
		at += 10
	}
	v.Calls = []ViewedCall{{0, 10, false}, {500_000, 1_000_003, true}}
	line := Timeline([]StepView{v})
	kinds := map[string]int{}
	var drawn, counted float64
	cells := 0
	for _, r := range line.Rows {
		kinds[r.Kind]++
		for _, p := range r.Parts {
			shares, err := p.Permille(line.Bins)
			if err != nil {
				t.Fatal(err)
			}
			cells += len(p.Cells)
			if r.Kind != reports.RowStream {
				continue
			}
			counted += p.Ms
			for _, s := range shares {
				drawn += float64(s) / 1000 * line.LengthMs / float64(line.Bins)
			}
		}
	}
	if kinds["host"] != 1 || kinds["idle"] != 1 || kinds["stream"] != maxTimelineStreams+1 {
		t.Errorf("rows %v, expected the host, %d streams, the others in one, idle", kinds, maxTimelineStreams)
	}
	if want := float64(busy) / 1e6; math.Abs(counted-want) > 1e-9 || math.Abs(drawn-want) > 0.02*want {
		t.Errorf("%v ms counted and %v drawn of %v", counted, drawn, want)
	}
	if len(line.Gaps) != maxTimelineGaps || cells > 200_000 {
		t.Errorf("%d gaps, %d bytes of cells", len(line.Gaps), cells)
	}
	if Timeline(nil) != nil || Timeline([]StepView{{}}) != nil {
		t.Error("a drawing of nothing")
	}
}

// TestFewerOperations joins the smallest and loses none of any sum.
func TestFewerOperations(t *testing.T) {
	all := []reports.TracedOperation{{Component: "a", Name: "x", Count: 1, Ms: 4}, {Component: "b", Name: "y", Count: 2, Ms: 3},
		{Component: "a", Name: "z", Count: 3, Ms: 2}, {Component: "a", Name: "w", Count: 4, Ms: 1}, {Component: "b", Name: "v", Count: 5, Ms: 0.5}}
	got := fewerOperations(all, 2)
	if len(got) != 4 || got[2] != (reports.TracedOperation{Component: "a", Name: "(smaller ones)", Count: 7, Ms: 3}) || got[3].Count != 5 {
		t.Errorf("%+v", got)
	}
	if len(fewerOperations(all, 5)) != 5 {
		t.Error("joined though all fit")
	}
}
