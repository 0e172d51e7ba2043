package csv

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"decodegap/reports"
)

// TestReadsBack: any CSV reader finds a rectangle, and no cell is a formula.
func TestReadsBack(t *testing.T) {
	files, err := filepath.Glob("../../testdata/runs/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d records: %v", len(files), err)
	}
	for _, f := range files {
		run, err := reports.ReadRun(f)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Render(&b, run); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll() // wants equal field counts
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		sum := map[string]float64{}
		for i, r := range rows {
			for n, cell := range r {
				number := n >= 7 && n <= 9
				if _, err := strconv.ParseFloat(cell, 64); number && i > 0 && cell != "" && err != nil {
					t.Errorf("%s:%d: %q in a column of numbers", f, i+1, cell)
				}
				if !number && cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
					t.Errorf("%s:%d: a spreadsheet takes %q for a formula", f, i+1, cell)
				}
			}
			if v, err := strconv.ParseFloat(r[7], 64); r[0] == "ledger" && err == nil && r[5] != "measured" {
				sum[r[1]] += v
			} else if r[0] == "ledger" && r[5] == "measured" {
				if diff := sum[r[1]] - v; diff > reports.ClosesMs || diff < -reports.ClosesMs {
					t.Errorf("%s: the ledger of point %s adds up to %g, measured %g", f, r[1], sum[r[1]], v)
				}
			}
		}
	}
}
