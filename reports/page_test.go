package reports

import (
	"strings"
	"testing"
)

func point() RunPoint {
	return RunPoint{
		Operating: Operating{Batch: 1, TP: 8, EP: 1, DP: 1, PP: 1, Engine: "sglang", AcceptedTokens: 1,
			Floors: []Floor{{Kind: "ideal", Basis: "sheet", MsPerToken: 3, TokPerS: 1000.0 / 3}, {Kind: "layout", Basis: "sheet", MsPerToken: 5, TokPerS: 200}}},
		Measured:   &Measured{ValueMs: 100, TokPerS: 10, Statistic: "mean", Source: "bench.jsonl"},
		Efficiency: []Efficiency{{Floor: FloorName{"layout", "sheet"}, Ratio: 0.05}},
	}
}

func at(v float64) *float64 { return &v }

// TestBest: only what can be compared is compared.
func TestBest(t *testing.T) {
	known := Best{Model: "M", Hardware: "H", GPUs: 8, Engine: "E", Speculation: "none", Concurrency: 1, OutputTokPerS: 50}
	with := func(change func(*Best)) Best { b := known; change(&b); return b }
	for _, c := range []struct {
		name    string
		records []Best
		want    string
	}{
		{"none", nil, ""},
		{"the one", []Best{known}, "you are 5.0× behind"},
		{"other concurrency", []Best{with(func(b *Best) { b.Concurrency = 64 })}, ""},
		{"other GPU count", []Best{with(func(b *Best) { b.GPUs = 4 })}, ""},
		{"speculating", []Best{with(func(b *Best) { b.Speculation = "MTP" })}, ""},
		{"speculation unknown", []Best{with(func(b *Best) { b.Speculation = "" })}, ""},
		{"no figure", []Best{with(func(b *Best) { b.OutputTokPerS = 0 })}, ""},
		{"slower than ours", []Best{with(func(b *Best) { b.OutputTokPerS = 5 })}, "you are 2.0× ahead"},
		{"the fastest", []Best{known, with(func(b *Best) { b.OutputTokPerS = 80 })}, "you are 8.0× behind"},
		{"our model first", []Best{with(func(b *Best) { b.Model, b.OutputTokPerS = "other", 80 }), known}, "you are 5.0× behind"},
		{"its own time", []Best{with(func(b *Best) { b.MsPerToken = at(25) })}, "you are 4.0× behind"},
	} {
		pt := point()
		run := &Run{Model: Model{Name: "m"}, Hardware: Hardware{Count: 8}, Records: c.records, Points: []RunPoint{pt}}
		if got := bestRow(run, &pt).Claim; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestHeadFloor: the headline is layout at the sheet, and says so where it is
// another.
func TestHeadFloor(t *testing.T) {
	for _, c := range []struct {
		have []FloorName
		want string
	}{
		{[]FloorName{{"ideal", "sheet"}, {"latency", "probed"}, {"layout", "sheet"}}, "layout floor at sheet ceilings"},
		{[]FloorName{{"layout", "probed"}, {"latency", "probed"}}, "layout floor at probed ceilings"},
		{[]FloorName{{"ideal", "sheet"}, {"layout", "probed"}}, "ideal floor at sheet ceilings"},
		{[]FloorName{{"latency", "given"}}, "latency floor at given ceilings"},
	} {
		var o Operating
		for _, n := range c.have {
			o.Floors = append(o.Floors, Floor{Kind: n.Kind, Basis: n.Basis})
		}
		if n, ok := headFloor(&o); !ok || floorName(n) != c.want {
			t.Errorf("%v: %q, want %q", c.have, floorName(n), c.want)
		}
	}
	if _, ok := headFloor(&Operating{}); ok {
		t.Error("a floor of a point that has none")
	}
}

// TestUnattributedAlways: a ledger ends with it even where a record leaves it
// out, and rungs stand in ladder order.
func TestUnattributedAlways(t *testing.T) {
	pt := point()
	pt.Ledger = &Ledger{MeasuredMs: 100, Floor: FloorName{"ideal", "sheet"}, FloorMs: 3, Closes: true,
		Rungs: []Rung{{Cause: "host", Ms: 95}, {Cause: "replication", Ms: 2}}}
	l := ladder(&pt, 0)
	var names []string
	for _, s := range l.Rows {
		names = append(names, s.Name+" "+s.Ms+" "+s.Sum)
	}
	want := "ideal floor at sheet ceilings 3.000 3.000|replication +2.000 5.000|host +95.000 100.000|UNATTRIBUTED +0.000 100.000|measured = 100.000 "
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestAboveOne: a ratio above 1 is a warning, not a success.
func TestAboveOne(t *testing.T) {
	pt := point()
	pt.Efficiency[0].Ratio = 1.2
	h := headline(&Run{Points: []RunPoint{pt}}, 0)
	if !h.Warn || h.Number != "120.0 %" || !strings.Contains(h.Sentence, "do not describe the same step") {
		t.Errorf("%+v", h)
	}
	items := mind(&Run{}, &pt).(List).Items
	if len(items) != 1 || !items[0].Warn || items[0].Tag != "check" {
		t.Errorf("%+v", items)
	}
}

// TestFindingsBySeverity: the worst first; a severity nobody knows last.
func TestFindingsBySeverity(t *testing.T) {
	run := &Run{Warnings: []Warning{{Text: "w"}}, Findings: []Finding{{Severity: "note", Text: "a"}, {Severity: "odd", Text: "b"}, {Severity: "high", Text: "c"}, {Severity: "low", Text: "d"}, {Severity: "medium", Text: "e"}}}
	var got []string
	for _, i := range mind(run, nil).(List).Items {
		got = append(got, i.Text)
	}
	if s := strings.Join(got, ""); s != "cwedab" {
		t.Errorf("order %s, want cwedab", s)
	}
}

// TestLevers: a lever without a figure claims none.
func TestLevers(t *testing.T) {
	for _, c := range []struct {
		lever Lever
		want  string
	}{
		{Lever{}, "not bounded yet"}, {Lever{Ms: at(2.166)}, "≤ 2.2 ms"}, {Lever{Ms: at(12.9), LoMs: at(5.9)}, "5.9 to 12.9 ms"}, {Lever{Ms: at(1), LoMs: at(1)}, "≤ 1.0 ms"}, {Lever{Ms: at(13.4), LoMs: at(0)}, "≤ 13.4 ms"},
	} {
		if got := worth(&c.lever); got != c.want {
			t.Errorf("%+v: %q, want %q", c.lever, got, c.want)
		}
	}
}

// TestSeriesMismatch: a comparison that does not fit the series is not
// stretched over them.
func TestSeriesMismatch(t *testing.T) {
	run := &Run{
		Series:     []Series{{Name: "a", Points: []SeriesPoint{{Concurrency: 1, OutputTokPerS: at(10)}}}, {Name: "b", Points: []SeriesPoint{{Concurrency: 2}}}},
		Comparison: &Comparison{Rows: []CompareRow{{Concurrency: 1, ChangePct: []*float64{nil}, Verdict: "not_comparable"}}},
	}
	for _, b := range series(run) {
		if table, ok := b.(*Table); ok {
			var rows []string
			for _, r := range table.Rows {
				rows = append(rows, strings.Join(r.Cells, " "))
			}
			if got := strings.Join(rows, "|"); got != "1 10 – – – – not comparable|2 – – – – – –" {
				t.Errorf("%s", got)
			}
			return
		}
	}
	t.Error("no table")
}

// TestManyPoints: a sweep keeps its table whole and its ladders few.
func TestManyPoints(t *testing.T) {
	pt := point()
	pt.Ledger = &Ledger{MeasuredMs: 100, Floor: FloorName{"ideal", "sheet"}, FloorMs: 100, Closes: true}
	run := &Run{}
	for range 100 {
		run.Points = append(run.Points, pt)
	}
	ladders, rows, said := 0, 0, ""
	for _, b := range points(run, 0) {
		switch b := b.(type) {
		case Ladder:
			ladders++
		case *Table:
			if b.ID == "points" {
				rows = len(b.Rows)
			}
		case Paragraph:
			said = string(b)
		}
	}
	if ladders != maxLedgers || rows != 100 || said != "The ledgers of 75 more points are in the record and its CSV." {
		t.Errorf("%d ladders, %d rows, %q", ladders, rows, said)
	}
}
