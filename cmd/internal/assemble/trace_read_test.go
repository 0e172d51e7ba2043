package assemble

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"decodegap/roofline"
	"decodegap/traces/all"
	"decodegap/traces/classify"
)

// TestReadAllKeepsTheOrder holds that files that are read at the same time
// give what they give one after the other.
func TestReadAllKeepsTheOrder(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "testdata", "traces")
	graph, moe := filepath.Join(folder, "captured", "llama8b_graph_b1.json.gz"), filepath.Join(folder, "captured", "qwen3moe_graph_b1.json.gz")
	paths := []string{moe, filepath.Join(folder, "no such file"), graph, folder, filepath.Join(folder, "kineto", "merged.json"), filepath.Join(folder, "captured", "llama70b_tp2_graph_b4_rank0.json.gz"), filepath.Join(folder, "captured", "llama70b_tp2_graph_b4_rank1.json.gz")}
	one := Trace{Formats: all.All, Many: true, Totalled: true}
	var want []error
	for _, p := range paths {
		want = append(want, one.Read(context.Background(), p))
	}
	several := Trace{Formats: all.All, Many: true, Totalled: true}
	got := several.ReadAll(context.Background(), paths)
	for i := range paths {
		if (got[i] == nil) != (want[i] == nil) || got[i] != nil && got[i].Error() != want[i].Error() {
			t.Errorf("%s: %v, want %v", paths[i], got[i], want[i])
		}
	}
	if got[0] != nil || got[1] == nil || got[3] == nil {
		t.Errorf("errors %v; want some at 1 and 3 only", got)
	}
	if a, b := one.Document(), several.Document(); !reflect.DeepEqual(a, b) {
		t.Errorf("read at once:\n%+v\none by one:\n%+v", b, a)
	}
	if !reflect.DeepEqual(one.Totals(), several.Totals()) {
		t.Error("totals differ")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for i, err := range (&Trace{Formats: all.All}).ReadAll(ctx, paths) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end: %v", paths[i], err)
		}
	}
}

// TestKernelMedian holds that medians are exact, or left out where there are
// too many durations.
func TestKernelMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	class := classify.Class{Component: roofline.Norm}
	for n := 1; n < 60; n++ {
		var k kernelSums
		var durs []int64
		for range n {
			d := r.Int64N(20)
			durs = append(durs, d)
			k.add("norm", d, class)
		}
		slices.Sort(durs)
		row := k.list()[0]
		if want := float64(durs[(n-1)/2]+durs[n/2]) / 2e3; row.MedianUs == nil || *row.MedianUs != want || row.Count != int64(n) {
			t.Fatalf("median of %v: %v, want %v", durs, row.MedianUs, want)
		}
	}
	var k kernelSums
	for i := range int64(maxDurations + 10) {
		k.add("wide", i, class)
		k.add("narrow", i%3, class)
	}
	for _, row := range k.list() {
		if (row.MedianUs == nil) != (row.Name == "wide") || row.Count != maxDurations+10 {
			t.Errorf("%s: median %v of %d", row.Name, row.MedianUs, row.Count)
		}
	}
	if k.durations != 3 {
		t.Errorf("%d durations are kept, want 3", k.durations)
	}
}
