package compare

import (
	"slices"
	"strings"
	"testing"

	"decodegap/reports"
)

func run(kernel string, ms map[int]float64) *reports.Run {
	r := &reports.Run{
		Schema: reports.RunSchema,
		Fingerprint: reports.Fingerprint{ToolVersion: "1", Facts: map[string]string{
			"host.kernel": kernel, "gpu.driver": "590.44", "engine.version": "0.5.9", "flag.tp-size": "8"}},
		Model: reports.Model{Name: "m"}, Hardware: reports.Hardware{Name: "h", Count: 8},
	}
	for _, batch := range []int{64, 1} {
		p := reports.RunPoint{Operating: reports.Operating{Batch: batch, Context: 576, TP: 8, EP: 1, DP: 1, PP: 1, KVType: "bf16", Engine: "sglang"}}
		if v, ok := ms[batch]; ok {
			p.Measured = &reports.Measured{ValueMs: v, Statistic: "mean", TPOT: reports.Summary{Mean: &v}}
			p.Efficiency = []reports.Efficiency{{Floor: reports.FloorName{Kind: "layout", Basis: "sheet"}, Ratio: 5 / v}}
		}
		r.Points = append(r.Points, p)
	}
	return r
}

func TestRuns(t *testing.T) {
	a, b := run("6.8", map[int]float64{1: 20, 64: 60}), run("6.8", map[int]float64{1: 25, 64: 50})
	series, c, err := Runs([]string{"a", "b"}, []*reports.Run{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Comparable || len(c.Rows) != 2 || len(series) != 2 || len(series[0].Points) != 2 {
		t.Fatalf("%+v", c)
	}
	one := c.Rows[0]
	if one.Concurrency != 1 || one.Verdict != Slower || *one.ChangePct[1] > -19.9 || *one.TPOTMs[1] != 25 || one.OutputTokPerS[0] != nil {
		t.Errorf("batch 1: %+v", one)
	}
	if one.Point != "batch 1, context 576, tp 8, bf16, sglang" {
		t.Errorf("point %q", one.Point)
	}
	if e := one.Efficiency; len(e) != 1 || *e[0].Ratio[0] != 0.25 || *e[0].Ratio[1] != 0.2 {
		t.Errorf("efficiency %+v", e)
	}
	if c.Rows[1].Verdict != Faster || len(c.Crossovers) != 1 {
		t.Errorf("batch 64: %+v, crossovers %+v", c.Rows[1], c.Crossovers)
	}
}

func TestRunsDiffer(t *testing.T) {
	a, b := run("6.8", map[int]float64{1: 20, 64: 60}), run("6.14", map[int]float64{1: 20})
	b.Hardware.Count = 4
	_, c, err := Runs([]string{"a", "b"}, []*reports.Run{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"hardware.count differs: 8 in a, 4 in b", "host.kernel differs: 6.8 in a, 6.14 in b"}
	if c.Comparable || !slices.Equal(c.Reasons, want) {
		t.Errorf("reasons %q, want %q", c.Reasons, want)
	}
	if c.Rows[1].Verdict != NotComparable {
		t.Errorf("a point of one side: %+v", c.Rows[1])
	}
	b.Points[0].Context = 0
	b.Points[1].Context = 0
	_, c, err = Runs([]string{"a", "b"}, []*reports.Run{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rows) != 4 || !slices.Contains(c.Reasons, "no operating point was measured in both records") {
		t.Errorf("%d rows, reasons %q", len(c.Rows), c.Reasons)
	}
}

func TestRunsIntervals(t *testing.T) {
	a, b := run("6.8", map[int]float64{1: 20}), run("6.8", map[int]float64{1: 21})
	lo, hi := 20.1, 22.0
	b.Points[1].Measured.LoMs, b.Points[1].Measured.HiMs = &lo, &hi
	_, c, err := Runs([]string{"a", "b"}, []*reports.Run{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Rows[0].Verdict != Ambiguous {
		t.Errorf("%+v", c.Rows[0])
	}
}

func TestRunsTwicePoint(t *testing.T) {
	a := run("6.8", map[int]float64{1: 20})
	a.Points[0].Batch = 1
	_, _, err := Runs([]string{"a", "b"}, []*reports.Run{a, run("6.8", nil)}, Options{})
	if err == nil || !strings.Contains(err.Error(), "label") {
		t.Errorf("%v", err)
	}
	a.Points[0].Label, a.Points[1].Label = "x", "y"
	_, c, err := Runs([]string{"a", "a2"}, []*reports.Run{a, a}, Options{})
	if err != nil || len(c.Rows) != 2 || c.Rows[0].Point != "batch 1, context 576, tp 8, bf16, sglang, x" {
		t.Errorf("%v %+v", err, c)
	}
}

// TestRunsCauses compares the ledgers of two records: the changes add up to
// that of the step, the largest first, the profiler's cost out of the host's.
func TestRunsCauses(t *testing.T) {
	a, b := run("6.8", map[int]float64{1: 100}), run("6.8", map[int]float64{1: 10})
	layout := reports.FloorName{Kind: "layout", Basis: "sheet"}
	a.Points[1].Ledger = &reports.Ledger{MeasuredMs: 100, Floor: layout, FloorMs: 2, Closes: true, Rungs: []reports.Rung{
		{Cause: "kernel", Ms: 8}, {Cause: "host", Ms: 130}, {Cause: "host", Ms: 1}, {Cause: "profiler", Ms: -41}}}
	b.Points[1].Ledger = &reports.Ledger{MeasuredMs: 10, Floor: layout, FloorMs: 2, Closes: true, Rungs: []reports.Rung{
		{Cause: "kernel", Ms: 5}, {Cause: "unattributed", Ms: 3}}}
	_, c, err := Runs([]string{"a", "b"}, []*reports.Run{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	causes := c.Rows[0].Causes
	sum := 0.0
	var order []string
	for _, x := range causes {
		sum += *x.ChangeMs[1]
		order = append(order, x.Cause)
		if x.ChangeMs[0] != nil {
			t.Errorf("%s: the first side changes against itself", x.Cause)
		}
	}
	if sum != -90 || strings.Join(order, " ") != "host kernel unattributed floor" || *causes[0].Ms[0] != 90 {
		t.Errorf("causes %v add up to %g, want −90", order, sum)
	}
	b.Points[1].Ledger.Floor.Kind = "ideal"
	if _, c, _ = Runs([]string{"a", "b"}, []*reports.Run{a, b}, Options{}); c.Rows[0].Causes != nil {
		t.Error("ledgers from different floors are not set side by side")
	}
}
