package chart

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"decodegap/reports"
)

// barWidths gives the width of each row's filled bar as drawn, by group id; a
// bar in two halves has both.
func barWidths(t *testing.T, svg string) map[string][]float64 {
	t.Helper()
	out := map[string][]float64{}
	coordinate := regexp.MustCompile(`[ML](-?[0-9.]+) `)
	for _, group := range strings.Split(svg, `<g data-id="`)[1:] {
		group, _, _ = strings.Cut(group, "</g>")
		id, rest, _ := strings.Cut(group, `"`)
		for _, path := range regexp.MustCompile(`<path d="([^"]+)" fill=`).FindAllStringSubmatch(rest, -1) {
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, m := range coordinate.FindAllStringSubmatch(path[1], -1) {
				v, err := strconv.ParseFloat(m[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				lo, hi = min(lo, v), max(hi, v)
			}
			out[id] = append(out[id], hi-lo)
		}
	}
	return out
}

// TestWaterfallLengths checks on the drawing itself that lengths are in
// proportion to times, cut or not.
func TestWaterfallLengths(t *testing.T) {
	for name, run := range map[string]*reports.Run{"founding": founding(), "traced": traced(), "balanced": balanced()} {
		f, err := Waterfall(run, 0)
		if err != nil {
			t.Fatal(err)
		}
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		l := run.Points[0].Ledger
		widths := barWidths(t, svg)
		per := widths["floor"][0] / l.FloorMs
		halves := 0
		for i, r := range l.Rungs {
			w := widths["rung-"+strconv.Itoa(i)]
			if len(w) == 2 {
				halves++
				continue
			}
			if len(w) != 1 || math.Abs(w[0]-per*math.Abs(r.Ms)) > 0.05 && w[0] > 0.8 {
				t.Errorf("%s: rung %d of %g ms is %v wide, at %.2f a ms", name, i, r.Ms, w, per)
			}
		}
		measured := widths["measured"]
		if name == "balanced" {
			if halves != 0 || len(measured) != 1 || math.Abs(measured[0]-per*l.MeasuredMs) > 0.05 {
				t.Errorf("%s: %d bars are cut, measured is %v wide; no rung dwarfs the others", name, halves, measured)
			}
			continue
		}
		if halves != 1 || len(measured) != 2 {
			t.Errorf("%s: %d rungs are cut and measured has %d parts, want 1 and 2", name, halves, len(measured))
		}
		if !strings.Contains(f.Note, "leaves out") || !strings.Contains(svg, "whole step, to scale") {
			t.Errorf("%s: the cut is not said: %q", name, f.Note)
		}
	}
}

func TestCutScale(t *testing.T) {
	s := brokenScale{from: 10, to: 90}
	slope := s.Normalize(0, 100, 5) / 5
	for _, x := range []float64{0, 3, 10} {
		if got := s.Normalize(0, 100, x); math.Abs(got-slope*x) > 1e-12 {
			t.Errorf("left of the cut, %g lies at %g", x, got)
		}
	}
	for _, x := range []float64{90, 95, 100} {
		if got := s.Normalize(0, 100, x); math.Abs(1-got-slope*(100-x)) > 1e-12 {
			t.Errorf("right of the cut, %g lies at %g", x, got)
		}
	}
	last := -1.0
	for x := 0.0; x <= 100; x++ {
		got := s.Normalize(0, 100, x)
		if got <= last {
			t.Errorf("the axis turns back at %g", x)
		}
		last = got
	}
	for _, tick := range s.Ticks(0, 100) {
		if inside(tick.Value, s) {
			t.Errorf("a tick at %g stands in the cut", tick.Value)
		}
	}
}

// TestNoCutThroughOtherBars checks that a rung that takes time back into the
// large one forbids the cut.
func TestNoCutThroughOtherBars(t *testing.T) {
	run := founding()
	l := run.Points[0].Ledger
	l.Rungs = append(l.Rungs, reports.Rung{Cause: "profiler", Ms: -40})
	l.MeasuredMs -= 40
	f, err := Waterfall(run, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f.Note != "" {
		t.Errorf("the axis is cut where a bar ends: %s", f.Note)
	}
}

func TestFewerKeepsTheSum(t *testing.T) {
	rungs := crowded().Points[0].Ledger.Rungs
	got := fewer(rungs)
	if len(got) > maxRungs {
		t.Errorf("%d rungs are left, want at most %d", len(got), maxRungs)
	}
	var want, sum float64
	for _, r := range rungs {
		want += r.Ms
	}
	for _, r := range got {
		sum += r.Ms
	}
	if math.Abs(want-sum) > 1e-9 {
		t.Errorf("the rungs left sum to %g ms, want %g", sum, want)
	}
	if last := got[len(got)-1]; last.Cause != "unattributed" {
		t.Errorf("the last rung is %s, want unattributed", last.Cause)
	}
}

func TestMillis(t *testing.T) {
	for _, c := range []struct {
		v, largest float64
		want       string
	}{
		{95.14, 95.14, "95.14 ms"}, {0.64, 95.14, "0.64 ms"}, {0.001, 95.14, "<0.01 ms"}, {0, 95.14, "0.00 ms"},
		{1.0416, 5.1, "1.042 ms"}, {0.0001, 5.1, "<0.001 ms"}, {1234.56, 1234.56, "1234.6 ms"}, {1e300, 1e300, "1e+300 ms"}, {0.0003, 0.0004, "0.000300 ms"},
	} {
		if got := millis(c.v, c.largest); got != c.want {
			t.Errorf("millis(%g, %g) = %q, want %q", c.v, c.largest, got, c.want)
		}
	}
	for _, c := range []struct {
		v    float64
		want string
	}{{-0.8, "−0.800 ms"}, {0.8, "+0.800 ms"}, {1e-5, "<0.001 ms"}, {-1e-5, ">−0.001 ms"}, {0, "+0.000 ms"}} {
		if got := signed(c.v, 9); got != c.want {
			t.Errorf("signed(%g) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestOpenLedgerIsSaid(t *testing.T) {
	run := balanced()
	run.Points[0].Ledger.Closes = false
	f, err := Waterfall(run, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(f.Note, "do not add up") {
		t.Errorf("a ledger that does not close is drawn without a word: %q", f.Note)
	}
}
