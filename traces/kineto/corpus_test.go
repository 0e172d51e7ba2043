package kineto_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/traces"
)

// TestCorpus holds the reader to the counts and times of real traces, which
// stand in GROUND_TRUTH.json beside them. The folder is not part of the
// repository.
func TestCorpus(t *testing.T) {
	root := os.Getenv("DECODEGAP_CORPUS")
	if root == "" {
		t.Skip("DECODEGAP_CORPUS names no folder with real traces")
	}
	files := 0
	for _, folder := range []string{"captured", "real"} {
		text, err := os.ReadFile(filepath.Join(root, "traces", folder, "GROUND_TRUTH.json"))
		if err != nil {
			t.Fatal(err)
		}
		var truth map[string]struct {
			Format  string
			Events  int64
			GPU     int64 `json:"gpu_events"`
			Kernels struct {
				N   int64
				Sum int64 `json:"sum_ns"`
			}
			Devices map[string]struct {
				Busy int64 `json:"busy_ns"`
				Span int64 `json:"span_ns"`
			}
		}
		if err := json.Unmarshal(text, &truth); err != nil {
			t.Fatal(err)
		}
		for name, want := range truth {
			if want.Format != "chrome-trace-json" || strings.Contains(name, "naturally_cut") {
				continue
			}
			content, err := os.ReadFile(filepath.Join(root, "traces", folder, name))
			if err != nil {
				t.Fatal(err)
			}
			files++
			got := read(t, content)
			var lines traces.Timelines
			for _, e := range got.events {
				lines.Add(e)
			}
			var ops, kernels, sum, busy, wantBusy int64
			for _, l := range lines.Done() {
				ops += l.Ops
				kernels += l.Kernels
				sum += l.KernelTime
				busy += l.Busy
			}
			for _, d := range want.Devices {
				wantBusy += d.Busy
			}
			if got.meta.Events != want.Events || ops != want.GPU || kernels != want.Kernels.N || sum != want.Kernels.Sum || busy != wantBusy || len(got.damage) > 0 {
				t.Errorf("%s: %d events, %d operations, %d kernels, sum %d ns, busy %d ns, damage %v; want %d, %d, %d, %d, %d",
					name, got.meta.Events, ops, kernels, sum, busy, got.damage, want.Events, want.GPU, want.Kernels.N, want.Kernels.Sum, wantBusy)
			}
		}
	}
	if files == 0 {
		t.Error("no file checked")
	}
}
