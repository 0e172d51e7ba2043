package assemble

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/reports"
	"decodegap/traces"
	"decodegap/traces/all"
)

func document(t *testing.T, files ...string) *reports.TraceDocument {
	t.Helper()
	run := Trace{Formats: all.All, Many: len(files) > 1}
	for _, f := range files {
		if err := run.Read(context.Background(), filepath.Join("..", "..", "..", "testdata", "traces", filepath.FromSlash(f))); err != nil {
			t.Fatal(err)
		}
	}
	return run.Document()
}

// TestTraceSteps holds that the parts of the median step add up to it, and
// that a graph replay's kernels are named.
func TestTraceSteps(t *testing.T) {
	for file, want := range map[string]struct {
		median float64
		named  []string
	}{
		"captured/llama8b_graph_b1.json.gz":  {9.314, []string{"mlp.dense", "attention.qkv", "attention.core", "lm_head"}},
		"captured/qwen3moe_graph_b1.json.gz": {10.084, []string{"moe.experts", "attention.core", "moe.router"}},
	} {
		doc := document(t, file)
		s := doc.Step
		if s == nil || s.Count != 3 || s.FoundBy != "annotation" || math.Abs(s.MedianMs-want.median) > 0.001 {
			t.Fatalf("%s: step %+v, want 3 by annotation, median %v ms", file, s, want.median)
		}
		sum := 0.0
		for _, ms := range s.ByComponentMs {
			sum += ms
		}
		for _, ms := range s.IdleMs {
			sum += ms
		}
		if math.Abs(sum-s.MedianMs) > 1e-9 {
			t.Errorf("%s: components and idle are %v ms, the step %v", file, sum, s.MedianMs)
		}
		for _, c := range want.named {
			if s.ByComponentMs[c] <= 0 {
				t.Errorf("%s: no %s in %v", file, c, s.ByComponentMs)
			}
		}
		if doc.UnclassifiedShare == nil || *doc.UnclassifiedShare > 0.01 {
			t.Errorf("%s: unclassified share %v, want under 1 %%", file, doc.UnclassifiedShare)
		}
		kernels, total := int64(0), 0.0
		for _, k := range doc.Kernels {
			kernels += k.Count
			total += k.TotalMs
		}
		if kernels != doc.Ranks[0].Kernels || math.Abs(total-doc.Ranks[0].KernelTimeMs) > 1e-9 {
			t.Errorf("%s: the kernel table has %d kernels, %v ms; the device %d, %v", file, kernels, total, doc.Ranks[0].Kernels, doc.Ranks[0].KernelTimeMs)
		}
	}
}

// TestTraceRanks holds that two files get two ranks, whether they say theirs
// or not.
func TestTraceRanks(t *testing.T) {
	doc := document(t, "captured/llama8b_graph_b1.json.gz", "captured/qwen3moe_graph_b1.json.gz")
	if len(doc.Ranks) != 2 || doc.Ranks[0].Rank != 0 || doc.Ranks[1].Rank != 1 || doc.Ranks[1].Step.Rank != 1 {
		t.Errorf("ranks %+v", doc.Ranks)
	}
	merged := document(t, "kineto/merged.json")
	if len(merged.Ranks) != 2 || merged.Ranks[1].Rank != 1 {
		t.Errorf("ranks of one file %+v", merged.Ranks)
	}
}

// TestOpenOps holds that a launch sees the operators that are open, innermost
// first, and not those that have ended.
func TestOpenOps(t *testing.T) {
	var o openOps
	for _, e := range []traces.Event{
		{Kind: traces.Op, Name: "outer", Start: 0, Dur: 100, Stream: 1},
		{Kind: traces.Op, Name: "first", Start: 10, Dur: 20, Stream: 1, Detail: &traces.Detail{Dims: "[[1]]"}},
		{Kind: traces.Op, Name: "second", Start: 40, Dur: 20, Stream: 1},
		{Kind: traces.Op, Name: "elsewhere", Start: 0, Dur: 100, Stream: 2},
	} {
		o.add(e)
	}
	got := o.of([]traces.Event{{Start: 5, Stream: 1}, {Start: 15, Stream: 1}, {Start: 35, Stream: 1}, {Start: 50, Stream: 1}, {Start: 200, Stream: 1}, {Start: 5, Stream: 3}})
	want := []string{"outer", "first outer", "outer", "second outer", "", ""}
	for i, a := range got {
		if strings.Join(a.names, " ") != want[i] {
			t.Errorf("launch %d: %v, want %q", i, a.names, want[i])
		}
	}
	if got[1].dims != "[[1]]" {
		t.Errorf("shapes %q", got[1].dims)
	}
}
