package traces_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/roofline"
	"decodegap/traces"
	"decodegap/traces/kineto"
	"decodegap/traces/nsys"
)

// captured reads the one device of a capture, from here or from the corpus.
func captured(t *testing.T, name string) traces.Device {
	t.Helper()
	path := filepath.Join("..", "testdata", "traces", name)
	if _, err := os.Stat(path); err != nil {
		root := os.Getenv("DECODEGAP_CORPUS")
		if root == "" {
			t.Skip("DECODEGAP_CORPUS does not name a folder with traces/captured and traces/real")
		}
		path = filepath.Join(root, "traces", name)
	}
	r, err := traces.Open(path, []traces.Format{kineto.Format})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var c traces.Collector
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		c.Add(e)
	}
	devices := c.Done(r.Meta().Base)
	if len(devices) != 1 {
		t.Fatalf("%d devices, want 1", len(devices))
	}
	return devices[0]
}

// sums says what is wrong with a profile's sums, "" if nothing.
func sums(p traces.StepProfile) string {
	var parts int64
	for _, ns := range p.ByComponent {
		parts += ns
	}
	if got := parts + p.Idle.Total(); got != p.Step.Wall() || parts != p.Step.Busy {
		return fmt.Sprintf("components %d (busy %d) + idle %d = %d ns, wall %d ns", parts, p.Step.Busy, p.Idle.Total(), got, p.Step.Wall())
	}
	return ""
}

// communication names nothing but collectives.
func communication(dev *traces.Device) func(int) roofline.Component {
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
		by    traces.FoundBy
		bare  traces.FoundBy // with the annotations stripped
		again int            // steps then
	}{
		{"captured/llama70b_tp2_graph_b4_rank0.json.gz", 3, traces.ByAnnotation, traces.ByGraph, 3},
		{"captured/llama70b_tp2_graph_b4_rank1.json.gz", 3, traces.ByAnnotation, traces.ByGraph, 3},
		{"captured/llama8b_graph_b1.json.gz", 3, traces.ByAnnotation, traces.ByGraph, 3},
		{"captured/qwen3moe_graph_b1.json.gz", 3, traces.ByAnnotation, traces.ByGraph, 3},
		{"captured/qwen3moe_eager_b1.json.gz", 3, traces.ByAnnotation, traces.ByRepetition, 3},
		{"captured/qwen3-0.6b_eager_b1_shapes.json.gz", 4, traces.ByAnnotation, traces.ByRepetition, 4},
		{"real/kineto/sglang_qwen3-8b_decode_mi300x.json.gz", 1, traces.ByAnnotation, traces.ByGraph, 1},
		{"real/kineto/vllm_gpt-oss_decode_fullgraph_mi300x.json.gz", 1, traces.ByAnnotation, traces.ByGraph, 1},
		{"real/kineto/vllm_gpt-oss_prefill_eager_tp8_b200.json.gz", 1, traces.ByAnnotation, "", 0},
	}
	for _, tt := range tests {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			dev := captured(t, tt.file)
			s, err := traces.FindSteps(dev)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.All) != tt.steps || s.FoundBy != tt.by {
				t.Errorf("%d steps by %s, want %d by %s", len(s.All), s.FoundBy, tt.steps, tt.by)
			}
			for _, st := range s.All {
				p := traces.Attribute(st, dev, communication(&dev))
				if msg := sums(p); msg != "" {
					t.Errorf("step %d: %s", st.Index, msg)
				}
			}
			dev.Ranges = nil
			bare, err := traces.FindSteps(dev)
			if tt.bare == "" {
				if err == nil {
					t.Errorf("without annotations: %d steps by %s, want none", len(bare.All), bare.FoundBy)
				}
				return
			}
			if err != nil || len(bare.All) != tt.again || bare.FoundBy != tt.bare {
				t.Errorf("without annotations: %d steps by %s, %v; want %d by %s", len(bare.All), bare.FoundBy, err, tt.again, tt.bare)
			}
			// The graph's steps are the annotation's: each starts in one. Where
			// nothing runs before the graph they start together.
			for k := 0; tt.bare == traces.ByGraph && k < min(len(s.All), len(bare.All)); k++ {
				allowed := s.All[k].Wall()
				if strings.Contains(tt.file, "llama70b") {
					allowed = 100_000
				}
				if apart := bare.All[k].Start - s.All[k].Start; apart < -100_000 || apart > allowed {
					t.Errorf("step %d starts %d ns after the annotation's", k, apart)
				}
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
		s, err := traces.FindSteps(dev)
		if err != nil {
			t.Fatal(err)
		}
		p := traces.Attribute(s.Step(), dev, communication(&dev))
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
	var ranks []traces.RankStep
	for _, f := range []string{"captured/llama70b_tp2_graph_b4_rank0.json.gz", "captured/llama70b_tp2_graph_b4_rank1.json.gz"} {
		dev := captured(t, f)
		s, err := traces.FindSteps(dev)
		if err != nil {
			t.Fatal(err)
		}
		p := traces.Attribute(s.Step(), dev, communication(&dev))
		ranks = append(ranks, traces.RankStep{dev, &p, communication(&dev)})
	}
	w := traces.SplitWaits(ranks)
	for k, r := range w.Ranks {
		p := ranks[k].Profile
		if r.Unmatched != 0 || p.CommWait == nil || *p.CommWait < 0 || *p.CommWait > p.CommExposed() {
			t.Fatalf("rank %d: %+v, wait %v of %d exposed", k, r, p.CommWait, p.CommExposed())
		}
		// Every nanosecond of the step's collectives is transfer or waiting.
		var took int64
		n := 0
		for i := p.Step.First; i < p.Step.Last; i++ {
			if e := ranks[k].Device.GPU[i]; e.Start >= p.Step.Start && ranks[k].Component(i).IsComm() {
				took += e.Dur
				n++
			}
		}
		if n < 160 || r.Transfer+r.Waiting != took || r.Transfer <= 0 || r.Waiting <= 0 {
			t.Errorf("rank %d: %d ns transfer and %d ns waiting of %d collectives that take %d ns", k, r.Transfer, r.Waiting, n, took)
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

// Training, vision and multi-device traces have steps or none, but never sums
// that do not close.
func TestEveryCapturedTraceCloses(t *testing.T) {
	root := os.Getenv("DECODEGAP_CORPUS")
	if root == "" {
		t.Skip("DECODEGAP_CORPUS does not name a folder with traces/real")
	}
	files, err := filepath.Glob(filepath.Join(root, "traces", "real", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces in %s (%v)", root, err)
	}
	profiles := 0
	for _, path := range files {
		r, err := traces.Open(path, []traces.Format{kineto.Format, nsys.SQLite})
		if err != nil {
			continue // another format
		}
		var c traces.Collector
		for e, err := range r.Events() {
			if err == nil {
				c.Add(e)
			}
		}
		for _, dev := range c.Done(r.Meta().Base) {
			s, err := traces.FindSteps(dev)
			if err != nil {
				t.Logf("%s: rank %d device %d: %v", filepath.Base(path), dev.Rank, dev.Device, err)
				start, end := dev.Span()
				s = traces.WindowStep(dev, start, end)
			} else {
				t.Logf("%s: rank %d device %d: %d steps by %s %s, %d count, median %.3f ms", filepath.Base(path), dev.Rank, dev.Device,
					len(s.All), s.FoundBy, s.Family, s.Counts, float64(s.Step().Wall())/1e6)
			}
			for _, st := range s.All[:min(len(s.All), 50)] {
				if msg := sums(traces.Attribute(st, dev, communication(&dev))); msg != "" {
					t.Errorf("%s: rank %d device %d step %d: %s", path, dev.Rank, dev.Device, st.Index, msg)
				}
				profiles++
			}
		}
		r.Close()
	}
	if profiles == 0 {
		t.Error("no step of any trace was attributed")
	}
}
