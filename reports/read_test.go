package reports_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"decodegap/reports"
	"decodegap/reports/schema/schematest"
	"decodegap/roofline"
)

func TestReadRunRoundTrip(t *testing.T) {
	for _, want := range []*reports.Run{schematest.Run(), schematest.MinimalRun()} {
		path := filepath.Join(t.TempDir(), "run.json")
		if err := os.WriteFile(path, marshal(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := reports.ReadRun(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("read back differs:\n%s", d)
		}
	}
}

func TestReadRunRejects(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "empty; a run record is made with: decodegap diagnose"},
		{"not JSON", "schema: x", "line 1, column 1: not valid JSON"},
		{"cut off", `{"schema":"decodegap/run/1","points":[`, "the document ends early"},
		{"NaN", "{\"schema\":\"decodegap/run/1\",\n \"points\": NaN}", "line 2, column 12: not valid JSON"},
		{"no schema", `{"points":[]}`, `no "schema": expected a document that starts with "schema": "decodegap/run/1"`},
		{"newer", `{"schema":"decodegap/run/2"}`, `schema "decodegap/run/2": this decodegap reads "decodegap/run/1"`},
		{"another kind", `{"schema":"decodegap/floor/1"}`, `expected "decodegap/run/1"; a run record is made with`},
		{"escapes", "{\"schema\":\"\\u001b[2Jx\"}", `schema "�[2Jx"`},
		{"two documents", "{\"schema\":\"decodegap/run/1\"}\n{}", "line 2, column 1: text after the end"},
		{"wrong type", "{\"schema\":\"decodegap/run/1\",\n\"hardware\":{\"count\":\"8\"}}", "line 2, column 23: hardware.count: expected a whole number, found string"},
		{"overflow", `{"schema":"decodegap/run/1","points":[{"floors":[{"ms_per_token":1e999}]}]}`, "expected a number, found number 1e999"},
		{"list", `[]`, "expected an object, found array"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := reports.ReadRunFrom(strings.NewReader(c.text), "run.json")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "run.json: ") {
				t.Errorf("error %v, want it to start with the file and contain %q", err, c.want)
			}
		})
	}
}

func TestReadRunToleratesLaterFields(t *testing.T) {
	text := strings.Replace(string(marshal(t, schematest.Run())), `"points":[{`, `"later":{"a":[1]},"points":[{"newer":true,`, 1)
	if _, err := reports.ReadRunFrom(strings.NewReader(text), "run.json"); err != nil {
		t.Error(err)
	}
}

func TestReadRunLimit(t *testing.T) {
	_, err := reports.ReadRunFrom(endless{}, "run.json")
	if err == nil || !strings.Contains(err.Error(), "larger than 64 MB") {
		t.Errorf("error %v, want one that names the limit", err)
	}
}

// endless is a reader that never stops giving.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestCheck(t *testing.T) {
	nan, zero, inf := math.NaN(), 0.0, math.Inf(1)
	for _, c := range []struct {
		name string
		edit func(*reports.Run)
		want string
	}{
		{"ratio edited", func(r *reports.Run) { r.Points[0].Efficiency[1].Ratio = 0.9 }, "points[0].efficiency[1].ratio: 0.9, but the floor divided by the measured time is 0.0539"},
		{"ratio negative", func(r *reports.Run) { r.Points[0].Efficiency[0].Ratio *= -1 }, "points[0].efficiency[0].ratio"},
		{"ratio NaN", func(r *reports.Run) { r.Points[0].Efficiency[0].Ratio = nan }, "points[0].efficiency[0].ratio: NaN, expected a finite number"},
		{"interval NaN", func(r *reports.Run) { r.Points[0].Measured.LoMs = &nan }, "points[0].measured.lo_ms: NaN"},
		{"sample infinite", func(r *reports.Run) { r.Points[0].Measured.SamplesMs[2] = inf }, "points[0].measured.samples_ms[2]: +Inf"},
		{"embedded field", func(r *reports.Run) { r.Points[1].FLOPs = inf }, "points[1].flops_per_gpu: +Inf"},
		{"measured zero", func(r *reports.Run) { r.Points[0].Measured.ValueMs = 0 }, "points[0].measured.value_ms: 0, expected a time above 0"},
		{"measured halved", func(r *reports.Run) { r.Points[0].Measured.ValueMs /= 2 }, "points[0].measured.tok_s"},
		{"mean kept, value edited", func(r *reports.Run) {
			m := r.Points[0].Measured
			m.Derived, m.ValueMs, m.TokPerS = false, 50, 20
		}, "points[0].measured.value_ms: 50, but the source's mean is 95.14"},
		{"interval elsewhere", func(r *reports.Run) { r.Points[0].Measured.LoMs = r.Points[0].Measured.HiMs }, "does not hold the value"},
		{"half an interval", func(r *reports.Run) { r.Points[0].Measured.LoMs = nil }, "both ends"},
		{"interval from zero", func(r *reports.Run) { r.Points[0].Measured.LoMs = &zero }, "does not hold the value"},
		{"efficiency interval", func(r *reports.Run) { r.Points[0].Efficiency[2].Hi = &zero }, "points[0].efficiency[2]: the interval does not hold"},
		{"floor edited", func(r *reports.Run) { r.Points[0].Floors[1].MsPerToken = 90 }, "points[0].floors[1].tok_s"},
		{"floor zero", func(r *reports.Run) { r.Points[0].Floors[1].MsPerToken = 0 }, "points[0].floors[1].ms_per_token: 0"},
		{"floor kind", func(r *reports.Run) { r.Points[0].Floors[0].Kind = "perfect" }, `points[0].floors[0].kind: "perfect", expected one of ideal, layout, latency`},
		{"floor twice", func(r *reports.Run) { r.Points[0].Floors[1] = r.Points[0].Floors[0] }, "a second ideal floor at sheet"},
		{"efficiency of no floor", func(r *reports.Run) { r.Points[0].Efficiency[0].Floor.Basis = "given" }, "the point has no such floor"},
		{"ledger open", func(r *reports.Run) { r.Points[0].Ledger.Rungs[3].Ms += 0.002 }, "points[0].ledger: 95.142, but the measured time"},
		{"ledger of another time", func(r *reports.Run) { r.Points[0].Ledger.MeasuredMs = 90 }, "points[0].ledger.measured_ms"},
		{"ledger's floor", func(r *reports.Run) { r.Points[0].Ledger.FloorMs = 4 }, "points[0].ledger.floor_ms"},
		{"ledger from no floor", func(r *reports.Run) { r.Points[0].Ledger.Floor.Kind = "x" }, "points[0].ledger.floor"},
		{"cause", func(r *reports.Run) { r.Points[0].Ledger.Rungs[0].Cause = "magic" }, "points[0].ledger.rungs[0].cause"},
		{"closes denied", func(r *reports.Run) { r.Points[0].Ledger.Closes = false }, "points[0].ledger.closes"},
		{"no measurement", func(r *reports.Run) { r.Points[0].Measured = nil }, "without a measured time"},
		{"batch zero", func(r *reports.Run) { r.Points[1].Batch = 0 }, "points[1].batch: 0"},
		{"context negative", func(r *reports.Run) { r.Points[1].Context = -1 }, "points[1].context: -1"},
		{"accepted none", func(r *reports.Run) { r.Points[1].AcceptedTokens = 0 }, "points[1].accepted_tokens: 0"},
		{"ceiling basis", func(r *reports.Run) { r.Hardware.Ceilings[0].Basis = "hoped" }, "hardware.ceilings[0].basis"},
		{"count negative", func(r *reports.Run) { r.Hardware.Count = -8 }, "hardware.count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := schematest.Run()
			c.edit(run)
			if err := run.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if err := schematest.Run().Check(); err != nil {
		t.Errorf("the unedited record: %v", err)
	}
}

// TestBases holds the documents' bases to those a floor is computed with.
func TestBases(t *testing.T) {
	want := []string{string(roofline.Sheet), string(roofline.Probed), string(roofline.Given)}
	if d := cmp.Diff(want, reports.Bases); d != "" {
		t.Errorf("bases (-roofline +reports):\n%s", d)
	}
}

// FuzzReadRun holds every input to: no panic, and what reads without an error
// has figures that agree with each other after a round trip.
func FuzzReadRun(f *testing.F) {
	f.Add(marshal(f, schematest.Run()))
	f.Add(marshal(f, schematest.MinimalRun()))
	f.Add([]byte(`{"schema":"decodegap/run/1","points":[{"batch":1}]}`))
	f.Add([]byte(`{"schema":"decodegap/run/1"} x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := reports.ReadRunFrom(strings.NewReader(string(data)), "fuzz")
		if err != nil {
			return
		}
		again, err := reports.ReadRunFrom(strings.NewReader(string(marshal(t, run))), "again")
		if err != nil {
			t.Fatalf("a record that read once does not read again: %v", err)
		}
		if d := cmp.Diff(run, again, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("the record changed by being read:\n%s", d)
		}
	})
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
