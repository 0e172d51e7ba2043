package compare

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"decodegap/reports"
	"decodegap/traces/bench"
)

func founding(t *testing.T) ([]reports.Series, []string) {
	t.Helper()
	var series []reports.Series
	var doubts []string
	for _, name := range []string{"flashinfer_cutlass", "flashinfer_cutedsl"} {
		path := filepath.Join("../../testdata/bench/founding", name+".jsonl")
		results, err := bench.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, d := SeriesOf(name, path, results)
		series, doubts = append(series, s), append(doubts, d...)
	}
	return series, doubts
}

func compared(t *testing.T, series []reports.Series, o Options) *reports.Comparison {
	t.Helper()
	c, err := Series(series, o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Comparable != (len(c.Reasons) == 0) {
		t.Errorf("comparable %v with reasons %q", c.Comparable, c.Reasons)
	}
	return c
}

func TestFounding(t *testing.T) {
	series, doubts := founding(t)
	c := compared(t, series, Options{Doubts: doubts})
	want := []struct {
		concurrency, pct float64
		verdict          string
	}{{1, -2.8, Slower}, {10, 67, Faster}, {64, 14, Faster}, {256, -28, Slower}, {1024, -50, Slower}}
	if len(c.Rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(c.Rows), len(want))
	}
	for i, w := range want {
		r := c.Rows[i]
		if r.Concurrency != w.concurrency || r.Verdict != w.verdict || r.ChangePct[0] != nil || math.Abs(*r.ChangePct[1]-w.pct) > 0.5 {
			t.Errorf("row %d: %g %v %s, want %g %g %s", i, r.Concurrency, *r.ChangePct[1], r.Verdict, w.concurrency, w.pct, w.verdict)
		}
	}
	if len(c.Crossovers) != 2 {
		t.Fatalf("crossovers %+v", c.Crossovers)
	}
	up, down := c.Crossovers[0], c.Crossovers[1]
	if up.Between != [2]float64{1, 10} || !strings.Contains(up.Text, "overtakes") || up.At < 1 || up.At > 10 {
		t.Errorf("first crossover %+v", up)
	}
	if down.Between != [2]float64{64, 256} || !strings.Contains(down.Text, "falls behind") || down.At < 64 || down.At > 256 {
		t.Errorf("second crossover %+v", down)
	}
	// ln(64.29/38.46) and ln(10.07/10.36) meet 0 at 10^0.0524.
	if want := math.Pow(10, math.Log(10.36/10.07)/(math.Log(64.29/38.46)+math.Log(10.36/10.07))); math.Abs(up.At-want) > 1e-9 {
		t.Errorf("crossover at %g, want %g", up.At, want)
	}
	if c.Comparable || !slices.Contains(c.Reasons, "kernel, driver and server settings are not recorded in either file") {
		t.Errorf("comparable %v, reasons %q", c.Comparable, c.Reasons)
	}
}

func addFacts(t *testing.T, series []reports.Series, facts ...string) {
	t.Helper()
	for _, f := range facts {
		if err := AddFact(series, f); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFacts(t *testing.T) {
	complete := func(kernel, backend string) []string {
		return []string{
			"flashinfer_cutlass:host.kernel=6.8.0", "flashinfer_cutedsl:host.kernel=" + kernel,
			"flashinfer_cutlass:gpu.driver=590.44", "flashinfer_cutedsl:gpu.driver=590.44",
			"flashinfer_cutlass:engine.version=0.5.9", "flashinfer_cutedsl:engine.version=0.5.9",
			"flashinfer_cutlass:flag.moe-runner-backend=flashinfer_cutlass", "flashinfer_cutedsl:flag.moe-runner-backend=" + backend,
		}
	}
	for name, tc := range map[string]struct {
		facts   []string
		vary    []string
		reasons []string
	}{
		"kernel upgraded": {complete("6.14.11", "flashinfer_cutlass"), nil,
			[]string{"host.kernel differs: 6.8.0 in flashinfer_cutlass, 6.14.11 in flashinfer_cutedsl"}},
		"backend differs": {complete("6.8.0", "flashinfer_cutedsl"), nil,
			[]string{"flag.moe-runner-backend differs: flashinfer_cutlass in flashinfer_cutlass, flashinfer_cutedsl in flashinfer_cutedsl"}},
		"backend is the subject": {complete("6.8.0", "flashinfer_cutedsl"), []string{"flag.moe-*"}, nil},
		"one side known": {[]string{"flashinfer_cutedsl:host.kernel=6.14.11"}, nil,
			[]string{"driver and server settings are not recorded in either file",
				"kernel not recorded for flashinfer_cutlass: cannot be confirmed to agree"}},
		"flags without a version": {append(complete("6.8.0", "flashinfer_cutlass")[:4],
			"flashinfer_cutlass:flag.tp-size=8", "flashinfer_cutedsl:flag.tp-size=8"), nil,
			[]string{"engine version is not recorded in either file"}},
		"flag on one side": {append(complete("6.8.0", "flashinfer_cutlass"), "flashinfer_cutedsl:flag.disable-cuda-graph=true"), nil,
			[]string{"flag.disable-cuda-graph cannot be confirmed: unknown in flashinfer_cutlass, true in flashinfer_cutedsl"}},
	} {
		series, _ := founding(t)
		addFacts(t, series, tc.facts...)
		c := compared(t, series, Options{Vary: tc.vary})
		if !slices.Equal(c.Reasons, append([]string{}, tc.reasons...)) {
			t.Errorf("%s: reasons %q, want %q", name, c.Reasons, tc.reasons)
		}
		if len(c.Rows) != 5 {
			t.Errorf("%s: %d rows", name, len(c.Rows))
		}
	}
}

func TestAddFactErrors(t *testing.T) {
	series := []reports.Series{{Name: "a"}, {Name: "b:c"}}
	for _, bad := range []string{"", "a", "a:", "a:x", "a:=1", "a:x=", "z:x=1", "x=1"} {
		if err := AddFact(series, bad); err == nil || !strings.Contains(err.Error(), "SERIES:key=value") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	addFacts(t, series, "b:c:host.kernel=6.1=x")
	if got := series[1].Facts["host.kernel"]; got != "6.1=x" {
		t.Errorf("fact %q", got)
	}
}

func num(x float64) *float64 { return &x }

func rates(name string, pairs ...float64) reports.Series {
	s := reports.Series{Name: name, Tool: "t"}
	for i := 0; i < len(pairs); i += 2 {
		s.Points = append(s.Points, reports.SeriesPoint{Concurrency: pairs[i], OutputTokPerS: num(pairs[i+1])})
	}
	return s
}

func TestVerdicts(t *testing.T) {
	timed := func(name string, tokS, tpot float64) reports.Series {
		s := rates(name, 1, tokS)
		s.Points[0].TPOT.Mean = num(tpot)
		return s
	}
	onlyTPOT := func(name string, mean, median *float64) reports.Series {
		return reports.Series{Name: name, Tool: "t", Points: []reports.SeriesPoint{{Concurrency: 1, TPOT: reports.Summary{Mean: mean, Median: median}}}}
	}
	for name, tc := range map[string]struct {
		a, b      reports.Series
		threshold float64
		want      string
	}{
		"faster":                {rates("a", 1, 100), rates("b", 1, 103), 0, Faster},
		"same":                  {rates("a", 1, 100), rates("b", 1, 101.9), 0, Same},
		"slower":                {rates("a", 1, 100), rates("b", 1, 97), 0, Slower},
		"wider threshold":       {rates("a", 1, 100), rates("b", 1, 97), 0.05, Same},
		"repeats straddle":      {rates("a", 1, 100), rates("b", 1, 101, 1, 108), 0, Ambiguous},
		"repeats agree":         {rates("a", 1, 100, 1, 101), rates("b", 1, 110, 1, 112), 0, Faster},
		"missing":               {rates("a", 1, 100), rates("b", 2, 100), 0, NotComparable},
		"zero is no value":      {rates("a", 1, 100), rates("b", 1, 0), 0, NotComparable},
		"TPOT says opposite":    {timed("a", 100, 10), timed("b", 110, 11), 0, Ambiguous},
		"TPOT agrees":           {timed("a", 100, 10), timed("b", 110, 9), 0, Faster},
		"TPOT alone":            {onlyTPOT("a", num(10), nil), onlyTPOT("b", num(8), nil), 0, Faster},
		"mean against median":   {onlyTPOT("a", num(10), nil), onlyTPOT("b", nil, num(8)), 0, NotComparable},
		"median on both sides":  {onlyTPOT("a", nil, num(10)), onlyTPOT("b", num(1), num(12)), 0, Slower},
		"rate against TPOT":     {rates("a", 1, 100), onlyTPOT("b", num(10), nil), 0, NotComparable},
		"TPOT beside one rate":  {timed("a", 100, 10), onlyTPOT("b", num(12), nil), 0, Slower},
		"infinite is no figure": {rates("a", 1, math.Inf(1)), rates("b", 1, 10), 0, NotComparable},
	} {
		c := compared(t, []reports.Series{tc.a, tc.b}, Options{Threshold: tc.threshold})
		if got := c.Rows[0].Verdict; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestThreeSeries(t *testing.T) {
	c := compared(t, []reports.Series{rates("a", 1, 100, 8, 500), rates("b", 1, 110, 8, 600), rates("c", 1, 90, 8, 700)}, Options{})
	if r := c.Rows[0]; r.Verdict != Ambiguous || !slices.Equal(r.Verdicts, []string{Faster, Slower}) {
		t.Errorf("row 1: %s %v", r.Verdict, r.Verdicts)
	}
	if r := c.Rows[1]; r.Verdict != Faster || !slices.Equal(r.Verdicts, []string{Faster, Faster}) {
		t.Errorf("row 8: %s %v", r.Verdict, r.Verdicts)
	}
	if len(c.Crossovers) != 1 || c.Crossovers[0].B != "c" || !strings.Contains(c.Reasons[0], "any file") {
		t.Errorf("crossovers %+v, reasons %q", c.Crossovers, c.Reasons)
	}
	if _, err := Series([]reports.Series{rates("a", 1, 1)}, Options{}); err == nil {
		t.Error("one series was compared")
	}
}

func TestCrossoverPastEqualPoints(t *testing.T) {
	// Slower at 1, the same at 4 and 8, faster at 32: one crossover, between
	// 1 and 32, where the values change order (between 4 and 8).
	c := compared(t, []reports.Series{rates("a", 1, 100, 4, 100, 8, 100, 32, 100), rates("b", 1, 80, 4, 99, 8, 101, 32, 150)}, Options{})
	if len(c.Crossovers) != 1 {
		t.Fatalf("%+v", c.Crossovers)
	}
	if x := c.Crossovers[0]; x.Between != [2]float64{1, 32} || x.At < 4 || x.At > 8 {
		t.Errorf("%+v", x)
	}
	// Noise within the threshold is no crossover.
	c = compared(t, []reports.Series{rates("a", 1, 100, 4, 100, 8, 100), rates("b", 1, 101, 4, 99, 8, 101)}, Options{})
	if len(c.Crossovers) != 0 {
		t.Errorf("noise: %+v", c.Crossovers)
	}
}

func TestWorkloadsDiffer(t *testing.T) {
	a, b := rates("a", 1, 100), rates("b", 1, 100)
	a.Points[0].OutputTokens, b.Points[0].OutputTokens = num(128), num(512)
	b.Tool = "other"
	c := compared(t, []reports.Series{a, b}, Options{})
	for _, want := range []string{"output tokens a request differ at concurrency 1: 128.0 in a, 512.0 in b", "measured with different tools: other and t"} {
		if !slices.Contains(c.Reasons, want) {
			t.Errorf("reasons %q lack %q", c.Reasons, want)
		}
	}
}

func TestSeriesOf(t *testing.T) {
	results, err := bench.ReadFile("../../testdata/bench/sglang/sweep.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s, doubts := SeriesOf("sweep", "sweep.jsonl", results)
	if len(s.Points) != 2 || s.Points[0].Concurrency != 1 || *s.Points[1].Achieved != 14.45 || s.Facts["flag.tp-size"] != "4" {
		t.Errorf("%+v", s)
	}
	if len(doubts) != 1 || !strings.Contains(doubts[0], "flag.attention-backend") || strings.Contains(doubts[0], "flag.tp-size") {
		t.Errorf("doubts %q", doubts)
	}
	results, err = bench.ReadFile("../../testdata/bench/vllm/serve_two_blocks.txt")
	if err != nil {
		t.Fatal(err)
	}
	s, doubts = SeriesOf("two", "two.txt", results)
	if len(s.Points) != 1 || !slices.Contains(doubts, "two at concurrency 256: incomplete-requests") || !slices.Contains(doubts, "two: 1 results without any concurrency are left out") {
		t.Errorf("points %d, doubts %q", len(s.Points), doubts)
	}
}
