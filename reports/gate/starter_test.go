package gate

import (
	"errors"
	"strings"
	"testing"

	"decodegap/reports"
	"decodegap/reports/schema/schematest"
)

func TestStarterGolden(t *testing.T) {
	got, err := Starter(schematest.Run(), "run.json")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/starter.yaml", got)
}

// TestStarterPasses holds a starter to pass the run it was written from, and to
// fail once that run is a fifth slower.
func TestStarterPasses(t *testing.T) {
	for _, c := range []struct {
		name, floor string
		edit        func(*reports.Run)
	}{
		{"probed", "kind: latency, basis: probed", same},
		{"sheet only", "kind: layout, basis: sheet", dropProbed},
		{"no interval", "kind: latency, basis: probed", noInterval},
		{"no label", "kind: latency, basis: probed", func(r *reports.Run) { r.Points[0].Label = "" }},
		{"hostile label", "kind: latency, basis: probed", func(r *reports.Run) { r.Points[0].Label = "a\"\\\n# b: \x1b\u0085\u2028'é漢\x7f" }},
		{"hostile names", "kind: latency, basis: probed", func(r *reports.Run) { r.Model.Name, r.Hardware.Name = "m\nfloor: x", "h\r\n- y" }},
		{"two series", "kind: latency, basis: probed", func(r *reports.Run) {
			second := schematest.Run()
			second.Points[0].Label = "backend-b"
			retime(second, 120)
			r.Points = append(r.Points, second.Points[0])
		}},
		{"one series without a label", "kind: latency, basis: probed", func(r *reports.Run) {
			second := schematest.Run()
			second.Points[0].Label = ""
			retime(second, 50)
			r.Points = append(r.Points, second.Points[0])
		}},
		{"same series twice", "kind: latency, basis: probed", func(r *reports.Run) {
			second := schematest.Run()
			retime(second, 120)
			r.Points = append(r.Points, second.Points[0])
		}},
		{"slow", "kind: latency, basis: probed", func(r *reports.Run) { retime(r, 12345.6) }},
		{"at the floor", "kind: latency, basis: probed", func(r *reports.Run) { retime(r, 7.25) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := schematest.Run()
			c.edit(run)
			text, err := Starter(run, "run.json")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "floor: {"+c.floor+"}") {
				t.Errorf("want the floor %q in:\n%s", c.floor, text)
			}
			policy, err := ParsePolicy("starter.yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := Evaluate(policy, run, nil)
			if err != nil {
				t.Fatal(err)
			}
			if doc.Verdict != Pass {
				t.Errorf("verdict %s under its own starter:\n%s", doc.Verdict, text)
			}
			for i := range run.Points {
				if m := run.Points[i].Measured; m != nil {
					m.ValueMs *= 1.2
					m.TokPerS = 1000 / m.ValueMs
					m.LoMs, m.HiMs = nil, nil
					run.Points[i].Efficiency, run.Points[i].Ledger = nil, nil
				}
			}
			if doc, err = Evaluate(policy, run, nil); err != nil || doc.Verdict != Fail {
				t.Errorf("a fifth slower: %v, %v, want fail", doc, err)
			}
		})
	}
}

func TestStarterRefuses(t *testing.T) {
	if _, err := Starter(schematest.MinimalRun(), "run.json"); !errors.Is(err, ErrNothingToGate) {
		t.Errorf("error %v, want %v", err, ErrNothingToGate)
	}
	impossible := schematest.Run()
	retime(impossible, 1)
	if _, err := Starter(impossible, "run.json"); err == nil || !strings.Contains(err.Error(), "one of the two is wrong") {
		t.Errorf("error %v, want one about a time below the floor", err)
	}
	broken := schematest.Run()
	broken.Points[0].Measured.ValueMs = 1
	if _, err := Starter(broken, "run.json"); err == nil {
		t.Error("a record whose figures disagree got a policy")
	}
}

func TestDownTo(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0.9, "90%"}, {0.8567, "85%"}, {0.0485, "4.8%"}, {0.04999, "4.9%"}, {0.00675, "0.67%"}, {0.000012, "0.0012%"},
	} {
		if got := downTo(c.v); got != c.want {
			t.Errorf("downTo(%g) = %s, want %s", c.v, got, c.want)
		}
	}
}
