package assemble

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"decodegap/roofline"
	"decodegap/roofline/gap"
	"decodegap/roofline/hardware"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
	"decodegap/roofline/unit"
)

// TestLedgerAddsUp: whatever the layout, the ledger's bytes are the point's,
// and its times the floors'.
func TestLedgerAddsUp(t *testing.T) {
	dev, err := hardware.Find("H100 SXM")
	if err != nil {
		t.Fatal(err)
	}
	alpha := unit.FromMillis(0.002)
	m, err := NewMachine(dev, MachineOptions{LinkLatency: &alpha})
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, entry := range model.Catalogue() {
		l, err := model.Load(entry.Name, "", model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range layout.All {
			for _, at := range [][3]int{{1, 1, 1}, {2, 1, 1}, {1, 1, 3}, {2, 1, 4}, {2, 2, 1}, {2, 2, 2}, {1, 4, 3}} {
				for _, draft := range []bool{false, true} {
					w := roofline.Workload{Batch: 6, Context: 3000, TP: at[0], EP: 1, DP: at[1], PP: at[2], AcceptedTokens: 1,
						KVType: roofline.BF16, StateType: roofline.FP32}
					s := gap.Scenario{Decoder: l.Decoder, Engine: e, Workload: w, Machine: m.Roofline}
					if draft {
						if s.Draft = l.Draft; s.Draft == nil {
							continue
						}
						s.Workload.DraftTokens, s.Workload.AcceptedTokens = 2, 1.7
					}
					p, err := NewPoint(s, nil)
					if err != nil {
						continue // degrees that do not divide
					}
					ran++
					checkLedger(t, fmt.Sprintf("%s, %s, tp·dp·pp %v, draft %v", entry.Name, e.Name, at, draft), p)
				}
			}
		}
	}
	if ran < 500 {
		t.Errorf("only %d points could be laid out", ran)
	}
}

func checkLedger(t *testing.T, name string, p *Point) {
	t.Helper()
	o := p.Operating()
	var weights, kv, flops, all, rows, wait float64
	launches := 0
	for _, r := range p.Components() {
		weights, kv, flops = weights+r.WeightBytes, kv+r.KVBytes, flops+r.FLOPs
		all += r.Ms
		launches += r.Launches
		switch {
		case r.Component == string(roofline.P2P):
			wait = r.Ms
		case !strings.HasPrefix(r.Component, "comm.") && r.Component != string(roofline.Draft):
			rows += r.Ms
		}
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Max(math.Abs(want), 1e-6) {
			t.Errorf("%s: %s is %.12g in the ledger and %.12g in all", name, what, got, want)
		}
	}
	near("weight bytes", weights, o.WeightBytesLayout)
	near("cache bytes", kv, o.KVReadBytes+o.KVWriteBytes)
	near("FLOPs", flops, o.FLOPs)
	f := map[string]float64{}
	for _, x := range o.Floors {
		f[x.Kind] = x.MsPerToken * o.AcceptedTokens
		if x.Kind == "layout" {
			near("memory time", (weights+kv)/float64(p.Scenario.Machine.Ceilings[roofline.DRAMRead].Value)*1000, x.MemoryMs)
			if x.PipelineMs != nil {
				f["pipeline"] = *x.PipelineMs
			}
		}
		if x.Kind == "latency" {
			near("latency floor", all+x.LaunchMs, f["latency"])
			near("latency floor less exchanges and launches", f["latency"]-x.CommMs-x.LaunchMs, f["layout"])
			near("launches", float64(launches)*p.Scenario.Machine.Ceilings[roofline.GraphNode].Value*1000, x.LaunchMs)
		}
	}
	if o.DraftTokens == 0 { // a draft's exchanges are in its row
		near("layout floor", rows+f["pipeline"], f["layout"])
	}
	if o.PP > 1 != (f["pipeline"] > 0) && p.Scenario.Engine.Name != "ideal" || wait < f["pipeline"]*(1-1e-9) {
		t.Errorf("%s: waits %v ms for other stages, %v in the ledger", name, f["pipeline"], wait)
	}
}

// TestBusiestStage: with stages the per-GPU figures are those of the stage
// that has the head, or the odd layers where they weigh more.
func TestBusiestStage(t *testing.T) {
	l, err := model.Load("llama-3.1-70b", "", model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	layer, head := 855_638_016*2.0+2*8192*2, 128256*8192*2.0+8192*2
	for _, c := range []struct {
		engine string
		pp     int
		want   float64
	}{
		{"vllm", 4, 20*layer + head}, {"vllm", 3, 26*layer + head}, {"sglang", 3, 27*layer + head}, {"trtllm", 3, 26*layer + head},
	} {
		e, err := layout.Find(c.engine)
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Build(l.Decoder, roofline.Workload{Batch: 1, TP: 1, EP: 1, DP: 1, PP: c.pp, AcceptedTokens: 1, KVType: roofline.BF16})
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(s.Weights()); math.Abs(got-c.want) > 8192*2 { // an embedding row
			t.Errorf("%s, %d stages: a GPU reads %.0f bytes, want %.0f", c.engine, c.pp, got, c.want)
		}
	}
}

// TestExchangesHaveALatency: exchanges that no measurement is known of are
// timed as the all-reduce that moves the same bytes, and say so.
func TestExchangesHaveALatency(t *testing.T) {
	dev, err := hardware.Find("H100 SXM")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMachine(dev, MachineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for kind, same := range map[roofline.Component]unit.Bytes{roofline.AllGather: 32768, roofline.ReduceScatter: 32768, roofline.AllToAll: 262144.0 / 7} {
		got, ok := m.Roofline.Latency(roofline.Collective{Kind: kind, Count: 1, Bytes: 262144, GPUs: 8})
		want, known := m.Roofline.AllReduce(same, 8)
		if !ok || !known || got.Value != want.Value || got.Resource != roofline.LatencyOf(kind) || !strings.Contains(got.Source, "no "+string(kind)+" is in the catalogue") {
			t.Errorf("%s: got %+v, %v, want %v s", kind, got, ok, want.Value)
		}
	}
	if _, ok := m.Roofline.Latency(roofline.Collective{Kind: roofline.AllGather, Count: 1, Bytes: 262144, GPUs: 96}); ok {
		t.Error("a latency over 96 GPUs, of which nothing is known")
	}
}

// TestRungsOfStages: with pipeline stages the rungs of latency are what the
// latency floor adds to the layout floor, and waiting is a rung of its own.
func TestRungsOfStages(t *testing.T) {
	l, err := model.Load("llama-3.1-70b", "", model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dev, err := hardware.Find("H100 SXM")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMachine(dev, MachineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPoint(gap.Scenario{Decoder: l.Decoder, Engine: layout.VLLM, Machine: m.Roofline,
		Workload: roofline.Workload{Batch: 6, Context: 4096, TP: 2, EP: 1, DP: 1, PP: 4, AcceptedTokens: 1, KVType: roofline.BF16}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ledger := gap.Attribute(gap.Evidence{Ideal: p.Ideal, Layout: p.Layout, Latency: p.Latency, Workload: p.Scenario.Workload,
		Measured: unit.FromMillis(30), Engine: "vllm", Repeated: p.repeated()})
	sums := map[gap.Cause]float64{}
	waits := ""
	for _, r := range ledger.Rungs {
		sums[r.Cause] += r.Time.Millis()
		if r.Cause == gap.Replication && r.Component == roofline.P2P {
			waits = r.Text
		}
	}
	for cause, want := range map[gap.Cause]float64{
		gap.Replication: (p.Layout.Total - p.Ideal.Total).Millis(), gap.Latency: (p.Latency.Total - p.Layout.Total).Millis(),
	} {
		if math.Abs(sums[cause]-want) > 1e-5 { // rounded to nanoseconds
			t.Errorf("%s: rungs of %.6f ms, want %.6f", cause, sums[cause], want)
		}
	}
	if !strings.Contains(waits, "3 other pipeline stages") {
		t.Errorf("the wait is called %q", waits)
	}
}
