package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
	"decodegap/traces/all"
)

// readTraces reads files of testdata/traces.
func readTraces(t *testing.T, files ...string) tracedRun {
	t.Helper()
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = "../../testdata/traces/" + f
	}
	return readFiles(t, paths...)
}

func readFiles(t *testing.T, files ...string) tracedRun {
	t.Helper()
	run := assemble.Trace{Formats: all.All, Many: len(files) > 1, Totalled: true}
	for _, f := range files {
		if err := run.Read(context.Background(), f); err != nil {
			t.Fatal(err)
		}
	}
	return tracedRun{run.Document(), &run}
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

// TestTracePprof: where there are steps, the profile is each rank's median
// step to the nanosecond, idle times included; else it is all operations.
func TestTracePprof(t *testing.T) {
	for _, c := range []struct {
		files []string
		steps bool
	}{
		{[]string{"captured/llama8b_graph_b1.json.gz"}, true}, {[]string{"kineto/merged.json"}, false},
		{[]string{"captured/llama8b_graph_b1.json.gz", "captured/qwen3moe_graph_b1.json.gz"}, true},
	} {
		made := readTraces(t, c.files...)
		var b bytes.Buffer
		if err := writeTracePprof(&b, made); err != nil {
			t.Fatal(err)
		}
		p, err := profile.Parse(&b)
		if err != nil {
			t.Fatal(err)
		}
		if p.DefaultSampleType != "time" || p.DurationNanos <= 0 || len(p.SampleType) != 2 || p.SampleType[0].Unit != "nanoseconds" {
			t.Errorf("%s: %s, %d ns, %v", c.files, p.DefaultSampleType, p.DurationNanos, p.SampleType)
		}
		times, kernels, ops := map[string]int64{}, map[string]int64{}, map[string]int64{}
		for _, s := range p.Sample {
			rank := strings.Join(s.Label["rank"], ",")
			times[rank] += s.Value[0]
			if s.Location[1].Line[0].Function.Name == "idle" {
				continue
			}
			ops[rank] += s.Value[1]
			if len(s.Location) != 4 {
				t.Fatalf("%s: a stack of %d frames", c.files, len(s.Location))
			}
			if c := s.Location[1].Line[0].Function.Name; c != "memcpy" && c != "memset" {
				kernels[rank] += s.Value[0]
			}
		}
		for _, r := range made.doc.Ranks {
			rank := strconv.Itoa(r.Rank)
			switch {
			case c.steps != (r.Step != nil):
				t.Errorf("%s: rank %s has steps: %v", c.files, rank, r.Step != nil)
			case c.steps && math.Abs(float64(times[rank])/1e6-r.Step.MedianMs) > 1e-9:
				t.Errorf("%s: rank %s: %d ns, its step takes %v ms", c.files, rank, times[rank], r.Step.MedianMs)
			case !c.steps && (ops[rank] != r.GPUOps || math.Abs(float64(kernels[rank])/1e6-r.KernelTimeMs) > 1e-9):
				t.Errorf("%s: rank %s: %d operations, kernels %d ns; want %d, %v ms", c.files, rank, ops[rank], kernels[rank], r.GPUOps, r.KernelTimeMs)
			}
		}
		if len(ops) != len(made.doc.Ranks) {
			t.Errorf("%s: ranks %v", c.files, ops)
		}
	}
}
