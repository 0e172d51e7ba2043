package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
	"decodegap/traces/all"
)

// readTraces reads files of testdata/traces.
func readTraces(t *testing.T, files ...string) tracedRun {
	t.Helper()
	run := assemble.Trace{Formats: all.All, Many: len(files) > 1}
	for _, f := range files {
		if err := run.Read(context.Background(), "../../testdata/traces/"+f); err != nil {
			t.Fatal(err)
		}
	}
	return tracedRun{run.Document()}
}

// TestTraceCSV: the parts of the step add up to it, the kernels to the
// device's kernel time, and no cell of a hostile trace is a formula.
func TestTraceCSV(t *testing.T) {
	doc := readTraces(t, "captured/llama8b_graph_b1.json.gz").doc
	doc.Kernels = append(doc.Kernels, reports.TraceKernel{Name: "=cmd|' /C calc'!A0\r\n@x", Component: "other", Library: "+1", Count: 1})
	doc.Warnings = append(doc.Warnings, reports.Warning{Code: "code", Text: "-2+3\x1b[31m"})
	var b bytes.Buffer
	if err := writeTraceCSV(&b, doc); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll() // wants equal field counts
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	step, parts, kernels, counted := 0.0, 0.0, 0.0, 0
	for i, r := range rows[1:] {
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(r[column[name]], 64)
			if err != nil {
				t.Fatalf("row %d: %s: %v", i+2, name, err)
			}
			return v
		}
		switch r[0] {
		case "step":
			step = number("step_ms")
		case "component", "idle":
			parts += number("step_ms")
		case "kernel":
			kernels += number("total_ms")
			counted += int(number("count"))
		}
		for n, cell := range r {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") || strings.ContainsAny(cell, "\x1b\r\n") {
				t.Errorf("row %d, %s: %q is a formula or holds a control character", i+2, rows[0][n], cell)
			}
		}
	}
	if step == 0 || math.Abs(step-parts) > 1e-9 {
		t.Errorf("the parts add up to %v ms, the step is %v", parts, step)
	}
	if want := doc.Ranks[0]; math.Abs(kernels-want.KernelTimeMs) > 1e-9 || int64(counted) != want.Kernels+1 {
		t.Errorf("%d kernels, %v ms; want %d, %v", counted, kernels, want.Kernels+1, want.KernelTimeMs)
	}
}
