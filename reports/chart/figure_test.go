package chart

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"

	"decodegap/reports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestFiguresGolden(t *testing.T) {
	for name, run := range map[string]*reports.Run{"founding": founding(), "traced": traced()} {
		for _, f := range For(run) {
			if name == "traced" && f.ID != "waterfall" {
				continue // the other figures hold the same as the founding run's
			}
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := f.SVG(); again != svg {
				t.Errorf("%s %s: two drawings differ", name, f.ID)
			}
			path := filepath.Join("testdata", name+"-"+f.ID+".svg")
			if *update {
				if err := os.WriteFile(path, []byte(svg), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (run the test with -update to write it)", err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(svg, "\n")); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", path, diff)
			}
		}
	}
}

func TestPDFSameBytes(t *testing.T) {
	document := func() []byte {
		doc := newDocument()
		doc.AddPage()
		for i, f := range For(founding()) {
			h, err := f.DrawPDF(doc, 10, 10+float64(i)*70, 100)
			if err != nil {
				t.Fatal(err)
			}
			if want := 100 * float64(f.Height/f.Width); h != want {
				t.Errorf("%s is %g mm high, want %g", f.ID, h, want)
			}
		}
		var b bytes.Buffer
		if err := doc.Output(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if !bytes.Equal(document(), document()) {
		t.Error("two documents of the same run differ")
	}
}

// TestNothingWithoutData checks that a chart whose data are missing is not
// drawn, and that this is no error.
func TestNothingWithoutData(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*reports.Run)
		left  []string
	}{
		{"empty", func(r *reports.Run) { *r = reports.Run{} }, nil},
		{"one concurrency", func(r *reports.Run) {
			for i := range r.Series {
				r.Series[i].Points = r.Series[i].Points[:1]
			}
		}, []string{"waterfall", "roofline", "components"}},
		{"no ledger", func(r *reports.Run) { r.Points[0].Ledger, r.Points[0].Measured = nil, nil }, []string{"roofline", "throughput", "components"}},
		{"no bandwidth", func(r *reports.Run) { r.Hardware.Ceilings = r.Hardware.Ceilings[1:] }, []string{"waterfall", "throughput", "components"}},
		{"no series", func(r *reports.Run) { r.Series = nil }, []string{"waterfall", "roofline", "components"}},
		{"no throughput", func(r *reports.Run) {
			for i := range r.Series {
				for j := range r.Series[i].Points {
					r.Series[i].Points[j].OutputTokPerS = nil
				}
			}
		}, []string{"waterfall", "roofline", "components"}},
		{"no components", func(r *reports.Run) { r.Points[0].Components = nil }, []string{"waterfall", "throughput"}},
	} {
		run := founding()
		c.spoil(run)
		var got []string
		for _, f := range For(run) {
			got = append(got, f.ID)
		}
		if diff := cmp.Diff(c.left, got); diff != "" {
			t.Errorf("%s: figures differ (-want +got):\n%s", c.name, diff)
		}
	}
	if _, err := Waterfall(founding(), 1); err == nil {
		t.Error("a point that the run does not have is no error")
	}
}

// TestIDs checks that figures of several points can stand on one page.
func TestIDs(t *testing.T) {
	run := founding()
	run.Points = append(run.Points, run.Points[0])
	seen := map[string]bool{}
	for i := range run.Points {
		for _, build := range []func(*reports.Run, int) (*Figure, error){Waterfall, Roofline, Components} {
			f, err := build(run, i)
			if err != nil || f == nil {
				t.Fatal(f, err)
			}
			if seen[f.ID] {
				t.Errorf("two figures are called %s", f.ID)
			}
			seen[f.ID] = true
		}
	}
}

func TestWordsSayTheFigures(t *testing.T) {
	for _, f := range For(founding()) {
		for _, want := range map[string][]string{
			"waterfall":  {"3.08 ms", "95.14 ms", "unattributed +87.71 ms (92.2 %)"},
			"roofline":   {"1.792 TB/s", "bf16 roof 503.8 TFLOP/s", "measured step"},
			"throughput": {"flashinfer_cutedsl", "1603 at 1024", "not comparable"},
			"components": {"3.176 ms ideal", "attention.indexer 0.134 ms ideal, 0.954 ms layout"},
		}[f.ID] {
			if !strings.Contains(f.Alt, want) {
				t.Errorf("%s does not say %q: %s", f.ID, want, f.Alt)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	for _, want := range [][]vg.Length{{50, 50, 50}, {10, 90}, {99, 98, 97, 2}, {}, {50, 50, 50, 50, 50}} {
		got := spread(want, 20, 5, 95)
		for i := range got {
			if got[i] < 5 || got[i] > 95 {
				t.Errorf("spread(%v) = %v leaves 5..95", want, got)
			}
			for j := range i {
				if math.Abs(float64(got[i]-got[j])) < 20 {
					t.Errorf("spread(%v) = %v: %d and %d are too close", want, got, j, i)
				}
			}
		}
	}
}

// FuzzFigures draws runs of arbitrary figures and names: a figure is refused
// or drawn as a well-formed fragment, whatever the record holds.
func FuzzFigures(f *testing.F) {
	f.Add("attention.qkv", 3.08, 95.14, 87.71, 1.0)
	f.Add("<b>", 0.0, 0.0, -1.0, 0.0)
	f.Add("\xff\u202e", 1e300, 1e-300, math.Inf(1), math.NaN())
	f.Add("x", 5e-324, 1e99, 1e99, 1e99)
	f.Add("x", 1.0, 2.0, 1e90, 1e-90)
	f.Fuzz(func(t *testing.T, name string, a, b, c, d float64) {
		if len(name) > 1<<10 {
			return
		}
		run := founding()
		p := &run.Points[0]
		p.Ledger.FloorMs, p.Ledger.MeasuredMs = a, b
		p.Ledger.Rungs[0] = reports.Rung{Cause: name, Component: name, Ms: c, LoMs: d, HiMs: a}
		p.Components[0] = reports.ComponentRow{Component: name, WeightBytes: a, KVBytes: b, FLOPs: c, Ms: d, IdealMs: a, Bound: name}
		p.Components[1].FLOPs = a
		p.Measured.ValueMs, p.FLOPs, p.AcceptedTokens = d, c, a
		p.Floors[1].TokPerS = b
		run.Series[0] = reports.Series{Name: name, Points: []reports.SeriesPoint{
			{Concurrency: a, OutputTokPerS: &b}, {Concurrency: c, OutputTokPerS: &d}}}
		run.Comparison.Crossovers[0].At = d
		run.Comparison.Reasons[0] = name
		run.Hardware.Ceilings[1].Value = b
		run.Hardware.Ceilings[0].Basis = name
		for _, fig := range For(run) {
			svg, err := fig.SVG()
			if err != nil {
				t.Fatal(err)
			}
			labels(t, svg)
		}
	})
}
