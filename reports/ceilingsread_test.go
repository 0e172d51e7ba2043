package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"decodegap/reports"
	"decodegap/reports/schema/schematest"
)

func ceilingsText(t testing.TB, change func(*reports.CeilingsDocument)) []byte {
	doc := schematest.Ceilings()
	change(doc)
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadCeilings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ceilings.json")
	if err := os.WriteFile(path, ceilingsText(t, func(*reports.CeilingsDocument) {}), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := reports.ReadCeilings(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(schematest.Ceilings(), doc); d != "" {
		t.Errorf("written and read (-want +got):\n%s", d)
	}
	if _, err := reports.ReadCeilings(path + ".gone"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestReadCeilingsErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*reports.CeilingsDocument)
		want   string
	}{
		{"another kind", func(d *reports.CeilingsDocument) { d.Schema = "decodegap/run/1" }, `schema "decodegap/run/1": expected "decodegap/ceilings/1"`},
		{"no time", func(d *reports.CeilingsDocument) { d.When = "yesterday\x1b[31m" }, `when: "yesterday`},
		{"no device", func(d *reports.CeilingsDocument) { d.Device = "" }, "device and hardware"},
		{"a ceiling of 0", func(d *reports.CeilingsDocument) { d.Ceilings[0].Value = 0 }, "ceilings[0].value: 0"},
		{"a sheet's ceiling", func(d *reports.CeilingsDocument) { d.Ceilings[0].Basis = "sheet" }, `ceilings[0].basis: "sheet", expected probed`},
		{"a ceiling twice", func(d *reports.CeilingsDocument) { d.Ceilings = append(d.Ceilings, d.Ceilings[0]) }, "ceilings[1].resource"},
		{"a ceiling that its sample does not give", func(d *reports.CeilingsDocument) { d.Ceilings[0].Value = 21e9 }, "its sample's median"},
		{"no verdict", func(d *reports.CeilingsDocument) { d.Ceilings[0].Verdict = "" }, "ceilings[0].verdict"},
		{"an interval without its median", func(d *reports.CeilingsDocument) { *d.Ceilings[0].Sample.Lo = 20.1e9 }, "does not hold the median"},
		{"half an interval", func(d *reports.CeilingsDocument) { d.Ceilings[0].Sample.Lo = nil }, "both ends"},
		{"a median outside", func(d *reports.CeilingsDocument) { d.Results[0].TimeS.Median = 9 }, "outside the values"},
		{"a negative time", func(d *reports.CeilingsDocument) { d.Results[0].TimeS.Values[1] = -1 }, "results[0].time_s.values[1]"},
		{"no values", func(d *reports.CeilingsDocument) { d.Results[0].ReadShare.Values = nil }, "results[0].read_share.values: empty"},
		{"measured without a time", func(d *reports.CeilingsDocument) { d.Results[0].TimeS = nil }, "results[0].time_s: missing"},
		{"numbers of what failed", func(d *reports.CeilingsDocument) { d.Results[0].Outcome = "failed" }, "has no numbers"},
		{"another outcome", func(d *reports.CeilingsDocument) { d.Results[0].Outcome = "won" }, "results[0].outcome"},
		{"a nameless probe", func(d *reports.CeilingsDocument) { d.Results[0].Probe = "" }, "results[0].probe"},
		{"noise below 0", func(d *reports.CeilingsDocument) { *d.NoiseFloor = -1 }, "noise_floor"},
	} {
		_, err := reports.ReadCeilingsFrom(bytes.NewReader(ceilingsText(t, c.change)), "f")
		if err == nil || !strings.HasPrefix(err.Error(), "f: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"":                       "empty",
		"[1":                     "ends early",
		"{}":                     "no \"schema\"",
		`{"schema": 5}`:          "expected a string",
		`{"schema": "x"} {}`:     "text after the end",
		strings.Repeat(" ", 5e3): "empty",
	} {
		if _, err := reports.ReadCeilingsFrom(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	doc := schematest.Ceilings()
	doc.Results[0].TimeS.P10 = math.NaN()
	if err := doc.Check(); err == nil || !strings.Contains(err.Error(), "expected a finite number") {
		t.Errorf("NaN: %v", err)
	}
}

// FuzzReadCeilings: no input makes the reader panic, and what it accepts it
// accepts again as it prints it.
func FuzzReadCeilings(f *testing.F) {
	f.Add(ceilingsText(f, func(*reports.CeilingsDocument) {}))
	f.Add([]byte(`{"schema": "decodegap/ceilings/1", "when": "2026-03-04T05:06:07Z", "device": "cpu", "hardware": "x", "results": [{"probe": "a", "outcome": "measured", "verdict": "good", "time_s": {"median": 1, "p10": 1, "p90": 1, "values": [1]}}]}`))
	f.Add([]byte(`{"schema": "decodegap/ceilings/1", "ceilings": [{"sample": null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := reports.ReadCeilingsFrom(bytes.NewReader(data), "f")
		if err != nil {
			return
		}
		again, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reports.ReadCeilingsFrom(bytes.NewReader(again), "f"); err != nil {
			t.Fatal(fmt.Errorf("accepted once: %w", err))
		}
	})
}
