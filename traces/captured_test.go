package traces

import (
	"compress/gzip"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"decodegap/roofline"
)

// captured reads a capture of the corpus as one device's events, with a plain
// JSON decoder and exact decimals: the readers have their own tests.
func captured(t *testing.T, name string) Device {
	t.Helper()
	root := os.Getenv("DECODEGAP_CORPUS")
	if root == "" {
		t.Skip("DECODEGAP_CORPUS does not name a folder with traces/captured and traces/real")
	}
	f, err := os.Open(filepath.Join(root, "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		DistributedInfo struct{ Rank int }
		TraceEvents     []struct {
			Ph, Cat, Name string
			Tid           any
			Ts, Dur       json.Number
			Args          struct {
				Correlation, Stream, Device json.Number
				External                    json.Number `json:"External id"`
			}
		}
	}
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		t.Fatal(err)
	}
	dev := Device{Rank: file.DistributedInfo.Rank}
	for _, e := range file.TraceEvents {
		if e.Ph != "X" {
			continue
		}
		ev := Event{Name: e.Name, Start: nanoseconds(t, e.Ts), Dur: nanoseconds(t, e.Dur), Device: -1}
		corr, _ := e.Args.Correlation.Int64()
		external, _ := e.Args.External.Int64()
		ev.Corr, ev.External = uint64(corr), uint64(external)
		ev.Stream, _ = e.Args.Stream.Int64()
		switch e.Cat {
		case "kernel":
			ev.Kind = Kernel
		case "gpu_memcpy":
			ev.Kind = Memcpy
		case "gpu_memset":
			ev.Kind = Memset
		case "user_annotation":
			ev.Kind = Range
		case "gpu_user_annotation":
			ev.Kind = GPURange
		case "cuda_runtime", "cuda_driver":
			switch {
			case strings.Contains(e.Name, "Synchronize"):
				ev.Kind = Sync
			case strings.Contains(e.Name, "Launch") || strings.Contains(e.Name, "Memcpy") || strings.Contains(e.Name, "Memset"):
				ev.Kind = Launch
			}
		}
		switch {
		case ev.Kind.IsGPU():
			dev.GPU = append(dev.GPU, ev)
		case ev.Kind == Range || ev.Kind == GPURange:
			dev.Ranges = append(dev.Ranges, ev)
		case ev.Kind == Launch:
			ev.Stream = 0
			dev.Launches = append(dev.Launches, ev)
		case ev.Kind == Sync:
			ev.Stream = 0
			dev.Syncs = append(dev.Syncs, ev)
		}
	}
	for _, events := range [][]Event{dev.GPU, dev.Ranges, dev.Launches, dev.Syncs} {
		slices.SortStableFunc(events, func(a, b Event) int { return cmpInt64(a.Start, b.Start) })
	}
	return dev
}

func nanoseconds(t *testing.T, n json.Number) int64 {
	t.Helper()
	if n == "" {
		return 0
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		t.Fatalf("time %q is no number", n)
	}
	r.Mul(r, big.NewRat(1000, 1))
	return new(big.Int).Quo(r.Num(), r.Denom()).Int64()
}

// communication names nothing but collectives.
func communication(dev *Device) func(int) roofline.Component {
	return func(i int) roofline.Component {
		switch n := dev.GPU[i].Name; {
		case strings.Contains(n, "AllReduce"):
			return roofline.AllReduce
		case strings.Contains(n, "AllGather"):
			return roofline.AllGather
		}
		return roofline.Other
	}
}

func TestCapturedSteps(t *testing.T) {
	tests := []struct {
		file  string
		steps int
		by    FoundBy
		bare  FoundBy // with the annotations stripped
		again int     // steps then
	}{
		{"captured/llama70b_tp2_graph_b4_rank0.json.gz", 3, ByAnnotation, ByGraph, 3},
		{"captured/llama70b_tp2_graph_b4_rank1.json.gz", 3, ByAnnotation, ByGraph, 3},
		{"captured/llama8b_graph_b1.json.gz", 3, ByAnnotation, ByGraph, 3},
		{"captured/qwen3moe_graph_b1.json.gz", 3, ByAnnotation, ByGraph, 3},
		{"captured/qwen3moe_eager_b1.json.gz", 3, ByAnnotation, ByRepetition, 3},
		{"captured/qwen3-0.6b_eager_b1_shapes.json.gz", 4, ByAnnotation, ByRepetition, 4},
		{"real/kineto/sglang_qwen3-8b_decode_mi300x.json.gz", 1, ByAnnotation, ByGraph, 1},
		{"real/kineto/vllm_gpt-oss_decode_fullgraph_mi300x.json.gz", 1, ByAnnotation, ByGraph, 1},
		{"real/kineto/vllm_gpt-oss_prefill_eager_tp8_b200.json.gz", 1, ByAnnotation, "", 0},
	}
	for _, tt := range tests {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			dev := captured(t, tt.file)
			s, err := FindSteps(dev)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.All) != tt.steps || s.FoundBy != tt.by {
				t.Errorf("%d steps by %s, want %d by %s", len(s.All), s.FoundBy, tt.steps, tt.by)
			}
			for _, st := range s.All {
				p := Attribute(st, dev, communication(&dev))
				if msg := checkSums(p); msg != "" {
					t.Errorf("step %d: %s", st.Index, msg)
				}
			}
			dev.Ranges = nil
			bare, err := FindSteps(dev)
			if tt.bare == "" {
				if err == nil {
					t.Errorf("without annotations: %d steps by %s, want none", len(bare.All), bare.FoundBy)
				}
				return
			}
			if err != nil || len(bare.All) != tt.again || bare.FoundBy != tt.bare {
				t.Errorf("without annotations: %d steps by %s, %v; want %d by %s", len(bare.All), bare.FoundBy, err, tt.again, tt.bare)
			}
		})
	}
}

// The figures stated in the corpus's INDEX.md: unprofiled times aside, busy
// time and cause of what is idle.
func TestCapturedIdle(t *testing.T) {
	tests := []struct {
		file             string
		wallLo, wallHi   float64 // ms
		busyLo, busyHi   float64
		launchBound      float64 // share of the step, at least
		kernels, replays int
	}{
		{"captured/qwen3moe_eager_b1.json.gz", 198, 228, 10.3, 10.7, 0.90, 4198, 0},
		{"captured/qwen3-0.6b_eager_b1_shapes.json.gz", 73, 89, 3.4, 3.6, 0.90, 1646, 0},
		{"captured/llama8b_graph_b1.json.gz", 9.1, 9.7, 5.65, 5.75, 0.30, 774, 1},
	}
	for _, tt := range tests {
		dev := captured(t, tt.file)
		s, err := FindSteps(dev)
		if err != nil {
			t.Fatal(err)
		}
		p := Attribute(s.Step(), dev, communication(&dev))
		wall, busy := float64(p.Step.Wall())/1e6, float64(p.Step.Busy)/1e6
		if wall < tt.wallLo || wall > tt.wallHi || busy < tt.busyLo || busy > tt.busyHi {
			t.Errorf("%s: %.3f ms, busy %.3f; want %v to %v, %v to %v", tt.file, wall, busy, tt.wallLo, tt.wallHi, tt.busyLo, tt.busyHi)
		}
		if share := float64(p.Idle.LaunchBound) / float64(p.Step.Wall()); share < tt.launchBound {
			t.Errorf("%s: %.3f of the step launch-bound, want %v; idle %+v", tt.file, share, tt.launchBound, p.Idle)
		}
		if p.Kernels != tt.kernels || p.GraphReplays != tt.replays {
			t.Errorf("%s: %d kernels, %d replays; want %d, %d", tt.file, p.Kernels, p.GraphReplays, tt.kernels, tt.replays)
		}
	}
}

func TestCapturedWaiting(t *testing.T) {
	var ranks []RankStep
	for _, f := range []string{"captured/llama70b_tp2_graph_b4_rank0.json.gz", "captured/llama70b_tp2_graph_b4_rank1.json.gz"} {
		dev := captured(t, f)
		s, err := FindSteps(dev)
		if err != nil {
			t.Fatal(err)
		}
		p := Attribute(s.Step(), dev, communication(&dev))
		ranks = append(ranks, RankStep{dev, &p, communication(&dev)})
	}
	w := SplitWaits(ranks)
	for k, r := range w.Ranks {
		p := ranks[k].Profile
		if r.Unmatched != 0 || p.CommWait == nil || *p.CommWait < 0 || *p.CommWait > p.CommExposed() {
			t.Fatalf("rank %d: %+v, wait %v of %d exposed", k, r, p.CommWait, p.CommExposed())
		}
	}
	// Rank 1 began its first step 1.85 ms before rank 0 and waited for it.
	if ns := w.Ranks[1].TotalWaiting - w.Ranks[0].TotalWaiting; ns < 1_850_000 || ns > 2_100_000 {
		t.Errorf("rank 1 waited %d ns longer than rank 0 in all, want about 1.9 ms", ns)
	}
	if len(w.Notes) != 0 || w.Longest != 1 || w.Straggler != 0 {
		t.Errorf("longest %d, straggler %d, notes %v; want 1, 0, none", w.Longest, w.Straggler, w.Notes)
	}
}
