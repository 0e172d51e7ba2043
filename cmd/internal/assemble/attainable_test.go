package assemble

import (
	"math"
	"strings"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/probes/all"
	"decodegap/roofline"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
)

// TestAttainable takes a step's case from the floor and its result back into a
// document, whose parts add up to the step and to its floor.
func TestAttainable(t *testing.T) {
	nvfp4, err := model.ParseFormat("nvfp4")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load("qwen3-0.6b", "", model.Options{Assume: &nvfp4})
	if err != nil {
		t.Fatal(err)
	}
	w := roofline.Workload{Batch: 1, Context: 512, TP: 1, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: roofline.BF16, StateType: roofline.FP32}
	a, err := NewAttainable(loaded.Decoder, layout.Ideal, w, all.Step)
	if err != nil {
		t.Fatal(err)
	}
	// By hand: 440.4 M weights in 28 layers of 15.73 M and a head of 155.6 M at
	// 9/16 byte, 65,536+64 B norms, one embedding row, 512+1 tokens of cache.
	weights := (28*(1024*(2048+2*1024)+2048*1024+3*1024*3072) + 151936*1024) * 9 / 16
	norms := 2 * (28*(2*1024+2*128) + 1024)
	row := 2 * 1024
	cache := 513 * 28 * 2 * 8 * 128 * 2
	if got, want := float64(a.total), float64(weights+norms+row+cache); got != want {
		t.Errorf("the floor counts %.0f bytes, by hand %.0f", got, want)
	}
	result := probes.Result{Probe: a.Probe.Name, Outcome: probes.Measured, Verdict: probes.Good, Kernel: "k",
		Time: probes.Summarize([]float64{0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02}), Share: probes.Summarize([]float64{0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8}),
		Parts: map[roofline.Component]float64{roofline.MLPDense: 0.015, roofline.Rope: 0.005}, Checked: probes.Correctness{Values: 1, Bound: 1}}
	run := &probes.Run{Results: []probes.Result{result}, Read: probes.Summarize([]float64{2e10}), ReadVerdict: probes.Good, ReadProbe: "cpu/read"}
	doc := Ceilings(run, nil, a, probes.Host{OS: "linux", Arch: "amd64", Cores: 1, Threads: 2}, "v", time.Unix(0, 0), time.Minute)
	if err := doc.Check(); err != nil {
		t.Fatal(err)
	}
	s := StepOf(doc, loaded.Decoder, layout.Ideal, w)
	if s == nil {
		t.Fatal("the step is not found again")
	}
	if s.Ms != 20 || math.Abs(s.FloorMs-16) > 1e-9 || math.Abs(s.OverFloor-1.25) > 1e-9 {
		t.Errorf("%+v", s)
	}
	for _, other := range []roofline.Workload{
		{Batch: 2, Context: 512, TP: 1, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: roofline.BF16},
		{Batch: 1, Context: 513, TP: 1, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: roofline.BF16},
		{Batch: 1, Context: 512, TP: 1, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: roofline.FP8},
		{Batch: 1, Context: 512, TP: 2, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: roofline.BF16},
	} {
		if StepOf(doc, loaded.Decoder, layout.Ideal, other) != nil {
			t.Errorf("the step of another point is taken for %+v", other)
		}
	}
	full, err := model.Load("qwen3-0.6b", "", model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if StepOf(doc, full.Decoder, layout.Ideal, w) != nil {
		t.Error("the step in NVFP4 is taken for the one in BF16")
	}
}

// TestAttainableRefuses names what has no kernel as the reason, with nothing
// measured.
func TestAttainableRefuses(t *testing.T) {
	loaded, err := model.Load("glm-5-nvfp4", "", model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := roofline.Workload{Batch: 1, TP: 1, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: roofline.BF16, StateType: roofline.FP32}
	a, err := NewAttainable(loaded.Decoder, layout.Ideal, w, all.Step)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Probe.Check(probes.Host{}); err == nil || !strings.Contains(err.Error(), "latent") {
		t.Errorf("%v", err)
	}
}
