package assemble

import (
	"context"
	"math"
	"testing"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/traces/all"
	"decodegap/traces/classify"
)

// TestCounterRows: the mean of each kernel's launches, times its launches in
// the step. One kernel with one grid serves two components here (the query
// projection and the output's): the order of the counted launches tells which.
func TestCounterRows(t *testing.T) {
	run := Trace{Formats: all.All}
	for i, err := range run.ReadAll(context.Background(), []string{
		"../../../testdata/traces/captured/llama8b_graph_b1.json.gz", "../../../testdata/traces/ncu/llama8b_layer_raw.csv"}) {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	got := map[string]reports.CounterRow{}
	for _, r := range run.Traced().Counters {
		got[r.Component] = r
	}
	const layers, q, kv, ffn = 32, 4096 * 4096 * 2, 1024 * 4096 * 2, 4096 * 14336 * 2
	for c, want := range map[string]struct{ read, slop, coverage float64 }{
		"attention.qkv":  {1.5 * (q + 2*kv) * layers, 4e6, 1},
		"attention.out":  {1.01 * q * layers, 3e6, 1},
		"mlp.dense":      {1.005 * 3 * ffn * layers, 8e6, 1},
		"lm_head":        {9e8, 0, 1},
		"attention.core": {2301440 * layers, 0, 0.319},
	} {
		r := got[c]
		if math.Abs(r.ReadBytes-want.read) > want.slop || math.Abs(r.Coverage-want.coverage) > 5e-4 || r.WriteBytes == nil {
			t.Errorf("%s: %.0f bytes read of %.3f of its time, want %.0f of %.3f", c, r.ReadBytes, r.Coverage, want.read, want.coverage)
		}
	}
}

// TestCounterMatch: namespaces and casts may differ, sizes must not; what fits
// two components is left out.
func TestCounterMatch(t *testing.T) {
	one, two := &stepKernel{count: 1}, &stepKernel{count: 2}
	shape := func(name string, grid int32) kernelShape {
		return kernelShape{classify.Normalize(name), [3]int32{grid, 1, 1}, [3]int32{128, 1, 1}}
	}
	find := newKernelFinder(map[roofline.Component]map[kernelShape]*stepKernel{
		"mlp.dense":     {shape("void ns::gemm<(int)4>(float*)", 8): one, shape("void ns::gemm<(int)4>(float*)", 9): two, {name: "unsized"}: one},
		"attention.qkv": {shape("void ns::gemm<(int)4>(float*)", 9): one},
	})
	for _, c := range []struct {
		name  string
		grid  int32
		class classify.Class
		want  *stepKernel
	}{
		{"void ns::gemm<4>(float *)", 8, classify.Class{}, one},
		{"gemm<4>(float *)", 8, classify.Class{}, one},
		{"gemm<4>(float *)", 7, classify.Class{}, nil},
		{"void ns::gemm<4>(float *)", 9, classify.Class{}, nil},
		{"void ns::gemm<4>(float *)", 9, classify.Class{Known: true, Component: "mlp.dense"}, two},
		{"void ns::gemm<4>(float *)", 9, classify.Class{Known: true, Component: "lm_head"}, nil},
		{"unsized", 5, classify.Class{}, one},
		{"other", 8, classify.Class{}, nil},
	} {
		if _, got := find.of(&counted{shape: shape(c.name, c.grid), class: c.class}); got != c.want {
			t.Errorf("%s, grid %d, %s: %+v, want %+v", c.name, c.grid, c.class.Component, got, c.want)
		}
	}
}
