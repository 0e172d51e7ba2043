package layout_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"decodegap/roofline"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
	"decodegap/roofline/unit"
)

// machine is a made-up GPU with every ceiling.
func machine(bandwidth float64) roofline.Machine {
	m := roofline.Machine{Name: "test", Ceilings: map[roofline.Resource]roofline.Ceiling{}}
	for r, v := range map[roofline.Resource]float64{
		roofline.DRAMRead: bandwidth, roofline.TensorBF16: 1e15, roofline.TensorFP8: 2e15, roofline.TensorFP4: 4e15, roofline.GraphNode: 5e-7,
	} {
		m.Ceilings[r] = roofline.Ceiling{Resource: r, Value: v, Basis: roofline.Sheet}
	}
	m.AllReduce = func(unit.Bytes, int) (roofline.Ceiling, bool) {
		return roofline.Ceiling{Resource: roofline.AllReduceLatency, Value: 5e-6, Basis: roofline.Sheet}, true
	}
	m.Exchange = func(kind roofline.Component, _ unit.Bytes, _ int) (roofline.Ceiling, bool) {
		return roofline.Ceiling{Resource: roofline.LatencyOf(kind), Value: 4e-6, Basis: roofline.Sheet}, true
	}
	return m
}

// points draws workloads that every catalogue model could be asked for.
func points(t *testing.T, each func(name string, d *roofline.Decoder, e layout.Engine, w roofline.Workload)) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(values ...int) int { return values[rnd.IntN(len(values))] }
	for _, entry := range model.Catalogue() {
		l, err := model.Load(entry.Name, "", model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range layout.All {
			ran := 0
			for tries := 0; tries < 400 && ran < 16; tries++ {
				w := roofline.Workload{
					Batch: pick(1, 2, 3, 7, 32, 129), Context: pick(0, 1, 127, 128, 2048, 2049, 100_000), TP: pick(1, 2, 4, 8), DP: pick(1, 1, 2),
					PP: pick(1, 1, 2), EP: 1, DraftTokens: pick(0, 0, 1, 3), AcceptedTokens: 1, KVType: roofline.BF16, StateType: roofline.FP32,
				}
				if l.Experts > 0 {
					w.EP = pick(1, 1, 2, w.TP*w.DP)
				}
				if l.Indexed {
					w.DenseAttention = pick(0, 1) == 1
				}
				if pick(0, 1) == 1 {
					w.KVType = roofline.FP8
				}
				if _, err := e.Build(l.Decoder, w); err != nil {
					continue // degrees that do not divide
				}
				ran++
				each(fmt.Sprintf("%s %s %+v", entry.Name, e.Name, w), l.Decoder, e, w)
			}
			if ran < 8 {
				t.Errorf("%s with %s: only %d workloads could be built", entry.Name, e.Name, ran)
			}
		}
	}
}

func floorOf(t *testing.T, d *roofline.Decoder, e layout.Engine, w roofline.Workload, m roofline.Machine, kind roofline.Kind) roofline.Floor {
	t.Helper()
	if kind == roofline.Ideal {
		e = layout.Ideal
	}
	s, err := e.Build(d, w)
	if err != nil {
		t.Fatal(err)
	}
	f, err := roofline.Compute(s, m, kind)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// slack is what rounding may take from an inequality.
const slack = 1 + 1e-9

func TestFloorsAreOrdered(t *testing.T) {
	m := machine(3e12)
	points(t, func(name string, d *roofline.Decoder, e layout.Engine, w roofline.Workload) {
		ideal := floorOf(t, d, e, w, m, roofline.Ideal).Total
		layoutFloor := floorOf(t, d, e, w, m, roofline.Layout).Total
		latency := floorOf(t, d, e, w, m, roofline.Latency).Total
		if !(ideal > 0) || ideal > layoutFloor*slack || layoutFloor > latency*slack {
			t.Errorf("%s: ideal %v, layout %v, latency %v are not in order", name, ideal, layoutFloor, latency)
		}
	})
}

func TestMonotone(t *testing.T) {
	slow, fast := machine(3e12), machine(6e12)
	points(t, func(name string, d *roofline.Decoder, e layout.Engine, w roofline.Workload) {
		base := floorOf(t, d, e, w, slow, roofline.Layout)
		if f := floorOf(t, d, e, w, fast, roofline.Layout); f.Total > base.Total*slack || f.Memory > base.Memory/2*slack {
			t.Errorf("%s: twice the bandwidth gives %v after %v", name, f.Total, base.Total)
		}
		longer := w
		longer.Context += 8192 * 16 // a multiple of the chunk: chunked layers read no less
		if f := floorOf(t, d, e, longer, slow, roofline.Layout); f.Total < base.Total/slack {
			t.Errorf("%s: a longer context gives %v after %v", name, f.Total, base.Total)
		}
		more := w
		more.Batch *= 2
		if f := floorOf(t, d, e, more, slow, roofline.Layout); f.Total < base.Total/slack {
			t.Errorf("%s: twice the batch gives %v after %v", name, f.Total, base.Total)
		}
	})
}

func TestOneGPULayoutIsIdeal(t *testing.T) {
	points(t, func(name string, d *roofline.Decoder, e layout.Engine, w roofline.Workload) {
		if w.GPUs() > 1 {
			return
		}
		own, _ := e.Build(d, w)
		ideal, _ := layout.Ideal.Build(d, w)
		if own.Weights() != ideal.Weights() || own.KVRead() != ideal.KVRead() || own.KVWrite() != ideal.KVWrite() || own.FLOPs() != ideal.FLOPs() {
			t.Errorf("%s: layout of one GPU is not ideal: %v %v %v, %v %v %v", name, own.Weights(), own.KVRead(), own.FLOPs(), ideal.Weights(), ideal.KVRead(), ideal.FLOPs())
		}
	})
}

func TestEmptyContextReadsNoCache(t *testing.T) {
	points(t, func(name string, d *roofline.Decoder, e layout.Engine, w roofline.Workload) {
		w.Context = 0
		s, err := e.Build(d, w)
		if err != nil {
			t.Fatal(err)
		}
		state := d.StateHeads > 0
		if read := s.KVRead(); (read > 0) != state {
			t.Errorf("%s: an empty context reads %v of cache; recurrent state: %v", name, read, state)
		}
	})
}

func TestRefusals(t *testing.T) {
	load := func(name string) *roofline.Decoder {
		l, err := model.Load(name, "", model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return l.Decoder
	}
	good := roofline.Workload{Batch: 1, TP: 1, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: roofline.BF16, StateType: roofline.FP32}
	for _, c := range []struct {
		model  string
		change func(*roofline.Workload)
		want   string
	}{
		{"llama-3.1-8b", func(w *roofline.Workload) { w.TP = 3 }, "--tp 3 does not divide the 32 attention heads"},
		{"phi-4", func(w *roofline.Workload) { w.TP = 4 }, "neither divides the 10 KV heads"},
		{"llama-3.1-8b", func(w *roofline.Workload) { w.EP = 2 }, "has no experts"},
		{"qwen3-30b-a3b", func(w *roofline.Workload) { w.TP, w.EP = 4, 3 }, "--ep 3 does not divide the 128 experts"},
		{"qwen3-30b-a3b", func(w *roofline.Workload) { w.TP, w.EP = 2, 4 }, "tp·dp = 2"},
		{"llama-3.1-8b", func(w *roofline.Workload) { w.Batch = 0 }, "--batch 0"},
		{"llama-3.1-8b", func(w *roofline.Workload) { w.Context = -1 }, "--context -1"},
		{"llama-3.1-8b", func(w *roofline.Workload) { w.PP = 33 }, "only 32 layers"},
		{"llama-3.1-8b", func(w *roofline.Workload) { w.DenseAttention = true }, "no sparse-attention index"},
		{"llama-3.1-8b", func(w *roofline.Workload) { w.KVType = "fp7" }, "unknown type"},
	} {
		w := good
		c.change(&w)
		_, err := layout.VLLM.Build(load(c.model), w)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: got error %v, want %q", c.model, w, err, c.want)
		}
	}
}

// TestCacheTypesInBlocks: a cache's scales are read with its values.
func TestCacheTypesInBlocks(t *testing.T) {
	d := decoder(t, "llama-3.1-8b")
	for kv, perValue := range map[roofline.DType]float64{
		roofline.BF16: 2, roofline.INT8: 1, roofline.NVFP4: 9.0 / 16, roofline.Q8_0: 34.0 / 32, roofline.Q5_1: 24.0 / 32,
		roofline.Q5_0: 22.0 / 32, roofline.Q4_1: 20.0 / 32, roofline.Q4_0: 18.0 / 32, roofline.IQ4NL: 18.0 / 32,
	} {
		w := roofline.Workload{Batch: 3, Context: 1000, TP: 1, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: kv, StateType: roofline.FP32}
		step, err := layout.LlamaCPP.Build(d, w)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := float64(step.KVRead()), 32*3*1000*2*8*128*perValue; got != want {
			t.Errorf("%s: %v B read, want %v", kv, got, want)
		}
	}
}
