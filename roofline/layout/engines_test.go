package layout_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"decodegap/roofline"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
	"decodegap/roofline/unit"
)

func decoder(t *testing.T, name string) *roofline.Decoder {
	t.Helper()
	l, err := model.Load(name, "", model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l.Decoder
}

func workload(change func(*roofline.Workload)) roofline.Workload {
	w := roofline.Workload{Batch: 1, TP: 1, EP: 1, DP: 1, PP: 1, AcceptedTokens: 1, KVType: roofline.BF16, StateType: roofline.FP32}
	change(&w)
	return w
}

func build(t *testing.T, e layout.Engine, d *roofline.Decoder, w roofline.Workload) roofline.Step {
	t.Helper()
	s, err := e.Build(d, w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: got %.3f, want %.3f", what, got, want)
	}
}

// TestRolesOfEngines fixes what each engine splits by KV head and repeats.
func TestRolesOfEngines(t *testing.T) {
	mla := []roofline.Role{roofline.RoleQA, roofline.RoleKVA, roofline.RoleIndexQ, roofline.RoleIndexK, roofline.RoleIndexWeights}
	moe := []roofline.Role{roofline.RoleRouter, roofline.RoleSharedGate}
	small := []roofline.Role{roofline.RoleOBias, roofline.RoleNorm}
	draft := []roofline.Role{roofline.RoleDraft}
	kv := []roofline.Role{roofline.RoleK, roofline.RoleV}
	for _, c := range []struct {
		engine     layout.Engine
		byHead     []roofline.Role
		replicated []roofline.Role
		overAll    []roofline.Role // dp > 1
		byToken    []roofline.Role // dp > 1 and ep > 1
	}{
		{layout.Ideal, nil, nil, nil, nil},
		{layout.SGLang, kv, slices.Concat(mla, moe, small, draft), []roofline.Role{roofline.RoleMLP, roofline.RoleShared, roofline.RoleHead}, nil},
		{layout.VLLM, kv, slices.Concat(mla, moe, small, draft), nil, []roofline.Role{roofline.RoleShared}},
		{layout.TRTLLM, kv, slices.Concat(mla, moe, small), nil, nil},
		{layout.LlamaCPP, slices.Concat(kv, []roofline.Role{roofline.RoleQ, roofline.RoleO, roofline.RoleSinks}),
			slices.Concat(moe, small, []roofline.Role{roofline.RoleShared}), nil, nil},
	} {
		got := map[layout.Shard][]roofline.Role{}
		for _, r := range c.engine.Listed() {
			got[r.Shard] = append(got[r.Shard], r.Role)
			if r.Source == "" {
				t.Errorf("%s: %s names no source", c.engine.Name, r.Role)
			}
		}
		for shard, want := range map[layout.Shard][]roofline.Role{
			layout.Split: nil, layout.ByKVHead: c.byHead, layout.Replicated: c.replicated, layout.OverAll: c.overAll, layout.ByToken: c.byToken,
		} {
			slices.Sort(got[shard])
			slices.Sort(want)
			if !slices.Equal(got[shard], want) {
				t.Errorf("%s, %v: got %v, want %v", c.engine.Name, shard, got[shard], want)
			}
		}
	}
}

func TestDifferencesNameTheirSource(t *testing.T) {
	for _, e := range layout.All {
		if !e.Even && len(e.Differences) == 0 {
			t.Errorf("%s: no differences listed", e.Name)
		}
		for _, d := range e.Differences {
			if !strings.HasSuffix(d, ".") || !strings.Contains(d, "(") {
				t.Errorf("%s: %q is no sentence with a source", e.Name, d)
			}
		}
	}
}

// exchanges are the step's exchanges by kind, in order.
func exchanges(s roofline.Step) map[roofline.Component][]roofline.Collective {
	out := map[roofline.Component][]roofline.Collective{}
	for _, o := range s.Ops {
		if o.Comm != nil {
			out[o.Component] = append(out[o.Component], *o.Comm)
		}
	}
	return out
}

// TestExchangesOfDataParallelExperts counts them for a model of 78 layers, 3 of
// them dense, with hidden size 6144.
func TestExchangesOfDataParallelExperts(t *testing.T) {
	d := decoder(t, "glm-5")
	if d.Layers != 78 || d.Hidden != 6144 || d.Experts != 256 || d.TopK != 8 {
		t.Fatalf("glm-5 is not what this test counts: %d layers, hidden %d, %d experts, top %d", d.Layers, d.Hidden, d.Experts, d.TopK)
	}
	const row = 6144 * 2
	reduce := func(n int, b unit.Bytes, gpus int) roofline.Collective {
		return roofline.Collective{Kind: roofline.AllReduce, Count: n, Bytes: b, GPUs: gpus}
	}
	gather := func(n int, b unit.Bytes, gpus int) roofline.Collective {
		return roofline.Collective{Kind: roofline.AllGather, Count: n, Bytes: b, GPUs: gpus}
	}
	scatter := func(n int, b unit.Bytes, gpus int) roofline.Collective {
		return roofline.Collective{Kind: roofline.ReduceScatter, Count: n, Bytes: b, GPUs: gpus}
	}
	for _, c := range []struct {
		name   string
		engine layout.Engine
		change func(*roofline.Workload)
		want   []roofline.Collective
	}{
		{"one GPU", layout.VLLM, func(*roofline.Workload) {}, nil},
		{"tensor parallel", layout.VLLM, func(w *roofline.Workload) { w.TP, w.Batch = 8, 4 },
			[]roofline.Collective{reduce(157, 4*row, 8)}},
		{"experts on one replica", layout.VLLM, func(w *roofline.Workload) { w.TP, w.EP, w.Batch = 8, 8, 4 },
			[]roofline.Collective{reduce(157, 4*row, 8)}},
		{"data parallel attention", layout.VLLM, func(w *roofline.Workload) { w.DP, w.EP, w.Batch = 8, 8, 16 },
			[]roofline.Collective{gather(75, 16*row, 8), scatter(75, 16*row, 8)}},
		// 157 − 75: two of the dense layers, one of each MoE layer's attention, one of the embedding.
		{"both", layout.VLLM, func(w *roofline.Workload) { w.TP, w.DP, w.EP, w.Batch = 2, 4, 8, 16 },
			[]roofline.Collective{reduce(82, 4*row, 2), gather(75, 16*row, 8), gather(75, 4*row, 2), scatter(75, 16*row, 8)}},
		// Dense layers and head meet all tokens too: 157 − 78 all-reduces, 78 + 1 gathers.
		{"dense layers over all GPUs", layout.SGLang, func(w *roofline.Workload) { w.TP, w.DP, w.Batch = 2, 4, 16 },
			[]roofline.Collective{reduce(79, 4*row, 2), gather(79, 16*row, 8), gather(78, 4*row, 2), scatter(78, 16*row, 8)}},
		{"experts by tensor parallelism", layout.TRTLLM, func(w *roofline.Workload) { w.DP, w.Batch = 8, 16 },
			[]roofline.Collective{gather(75, 16*row, 8), scatter(75, 16*row, 8)}},
		{"whole table", layout.TRTLLM, func(w *roofline.Workload) { w.TP = 8 },
			[]roofline.Collective{reduce(156, row, 8)}},
	} {
		got := exchanges(build(t, c.engine, d, workload(c.change)))
		var flat []roofline.Collective
		for _, kind := range []roofline.Component{roofline.AllReduce, roofline.AllGather, roofline.ReduceScatter, roofline.AllToAll} {
			flat = append(flat, got[kind]...)
		}
		if !slices.Equal(flat, c.want) {
			t.Errorf("%s, %s:\n got %v\nwant %v", c.engine.Name, c.name, flat, c.want)
		}
	}
}

func TestAllToAllSendsToRanksThatHoldAnExpert(t *testing.T) {
	hit := roofline.RanksHit(8, 256, 8)
	s := build(t, layout.TRTLLM, decoder(t, "glm-5"), workload(func(w *roofline.Workload) { w.DP, w.EP, w.Batch = 8, 8, 16 }))
	got := exchanges(s)
	if len(got) != 1 || len(got[roofline.AllToAll]) != 1 {
		t.Fatalf("got %v, want all-to-alls only", got)
	}
	a := got[roofline.AllToAll][0]
	if a.Count != 150 || a.GPUs != 8 {
		t.Errorf("got %d over %d GPUs, want 150 over 8", a.Count, a.GPUs)
	}
	near(t, "bytes one GPU sends", float64(a.Bytes), 2*6144*2*hit*7/8)
}

func TestUnknownExchangeLeavesNoLatencyFloor(t *testing.T) {
	d := decoder(t, "glm-5")
	s := build(t, layout.VLLM, d, workload(func(w *roofline.Workload) { w.DP, w.EP, w.Batch = 8, 8, 16 }))
	m := machine(3e12)
	m.Exchange = nil
	if _, err := roofline.Compute(s, m, roofline.Layout); err != nil {
		t.Errorf("the layout floor needs no latency: %v", err)
	}
	_, err := roofline.Compute(s, m, roofline.Latency)
	var missing *roofline.MissingError
	if !errors.As(err, &missing) || missing.Resource != roofline.AllGatherLatency || !strings.Contains(err.Error(), "75 exchanges of 196608 bytes over 8 GPUs") {
		t.Errorf("got %v, want a missing all-gather latency that names its messages", err)
	}
	m.AllReduce = nil
	_, err = roofline.Compute(build(t, layout.VLLM, d, workload(func(w *roofline.Workload) { w.TP = 8 })), m, roofline.Latency)
	if !errors.As(err, &missing) || missing.Resource != roofline.AllReduceLatency || !strings.Contains(err.Error(), "--allreduce-latency for 12288 bytes over 8 GPUs") {
		t.Errorf("got %v, want a missing all-reduce latency", err)
	}
}

// weights is what the busiest rank reads of a component's weights.
func weights(s roofline.Step, c roofline.Component) float64 {
	var sum float64
	for _, o := range s.Ops {
		if o.Component == c {
			sum += float64(o.Weights)
		}
	}
	return sum
}

func flops(s roofline.Step, c roofline.Component) float64 {
	var sum float64
	for _, o := range s.Ops {
		if o.Component == c {
			sum += float64(o.FLOPs())
		}
	}
	return sum
}

func TestDataParallelSharding(t *testing.T) {
	d := decoder(t, "deepseek-v3") // 3 dense layers, a shared expert, an untied head
	whole := build(t, layout.VLLM, d, workload(func(w *roofline.Workload) { w.Batch = 16 }))
	on := func(e layout.Engine, change func(*roofline.Workload)) roofline.Step {
		return build(t, e, d, workload(func(w *roofline.Workload) { w.Batch = 16; change(w) }))
	}
	mixed := func(w *roofline.Workload) { w.TP, w.DP, w.EP = 2, 4, 8 }
	noEP := func(w *roofline.Workload) { w.TP, w.DP = 2, 4 }
	for _, c := range []struct {
		name         string
		engine       layout.Engine
		change       func(*roofline.Workload)
		component    roofline.Component
		bytes, flops float64 // parts of one GPU's
	}{
		{"SGLang's dense layers", layout.SGLang, mixed, roofline.MLPDense, 8, 8},
		{"SGLang's shared expert", layout.SGLang, mixed, roofline.MoEShared, 8, 8},
		{"SGLang's head", layout.SGLang, mixed, roofline.LMHead, 8, 8},
		{"vLLM's dense layers", layout.VLLM, mixed, roofline.MLPDense, 2, 8},
		{"vLLM's head", layout.VLLM, mixed, roofline.LMHead, 2, 8},
		{"vLLM's shared expert with EP", layout.VLLM, mixed, roofline.MoEShared, 1, 8},
		{"vLLM's shared expert without EP", layout.VLLM, noEP, roofline.MoEShared, 2, 8},
		{"TensorRT-LLM's shared expert", layout.TRTLLM, func(w *roofline.Workload) { w.DP = 8 }, roofline.MoEShared, 1, 8},
	} {
		s := on(c.engine, c.change)
		near(t, c.name+", bytes", weights(s, c.component)*c.bytes, weights(whole, c.component))
		near(t, c.name+", FLOPs", flops(s, c.component)*c.flops, flops(whole, c.component))
	}

	// Without experts data-parallel replicas have nothing in common.
	dense := decoder(t, "llama-3.1-8b")
	w := workload(func(w *roofline.Workload) { w.DP, w.TP, w.Batch = 2, 2, 4 })
	s := build(t, layout.SGLang, dense, w)
	alone := build(t, layout.SGLang, dense, workload(func(w *roofline.Workload) { w.TP, w.Batch = 2, 2 }))
	if s.Weights() != alone.Weights() || len(exchanges(s)) != 1 {
		t.Errorf("dense replicas: got %v and %v, want %v and all-reduces only", s.Weights(), exchanges(s), alone.Weights())
	}
}

func TestLlamaCPP(t *testing.T) {
	d := decoder(t, "qwen3-30b-a3b") // 32 query heads, 4 KV heads
	one := build(t, layout.LlamaCPP, d, workload(func(*roofline.Workload) {}))
	tp8 := workload(func(w *roofline.Workload) { w.TP, w.Context = 8, 4096 })
	s, other := build(t, layout.LlamaCPP, d, tp8), build(t, layout.VLLM, d, tp8)
	for _, c := range []roofline.Component{roofline.AttentionQKV, roofline.AttentionOut} {
		near(t, string(c)+" on 8 GPUs", weights(s, c)*4, weights(one, c)) // by KV head
	}
	near(t, "scores of the queries of one KV head", flops(s, roofline.AttentionCore), 2*flops(other, roofline.AttentionCore))
	if s.KVRead() != other.KVRead() {
		t.Errorf("cache: got %v, want %v", s.KVRead(), other.KVRead())
	}
	// 2048 values in FP32; no sum after the embedding.
	want := roofline.Collective{Kind: roofline.AllReduce, Count: 96, Bytes: 8192, GPUs: 8}
	if got := exchanges(s)[roofline.AllReduce]; len(got) != 1 || got[0] != want {
		t.Errorf("all-reduces: got %v, want %v", got, want)
	}
	large := build(t, layout.LlamaCPP, d, workload(func(w *roofline.Workload) { w.TP, w.Batch = 2, 16 }))
	if got := exchanges(large)[roofline.AllReduce][0].Bytes; got != 16*2048*2 {
		t.Errorf("a large all-reduce goes in BF16: got %v", got)
	}

	// A tied head is whole on every GPU.
	tied := decoder(t, "gemma-3-27b")
	head := weights(build(t, layout.LlamaCPP, tied, workload(func(*roofline.Workload) {})), roofline.LMHead)
	near(t, "tied head", weights(build(t, layout.LlamaCPP, tied, workload(func(w *roofline.Workload) { w.TP = 4 })), roofline.LMHead), head)

	// Stages take the whole batch in turn; the one with the head has 15 of 32 layers.
	d = decoder(t, "llama-3.1-8b")
	slots := workload(func(w *roofline.Workload) { w.PP, w.Batch, w.Context = 2, 8, 1024 })
	if got, want := build(t, layout.LlamaCPP, d, slots).KVRead(), 2*15*build(t, layout.VLLM, d, slots).KVRead()/16; got != want {
		t.Errorf("cache read in two stages: got %v, want %v", got, want)
	}
}

// TestResident: caches of all slots stay in a stage, whatever one step reads.
func TestResident(t *testing.T) {
	d := decoder(t, "llama-3.1-8b")
	at := func(e layout.Engine, change func(*roofline.Workload)) (float64, float64) {
		w, c, err := e.Resident(d, workload(func(w *roofline.Workload) { w.Batch, w.Context = 8, 1024; change(w) }))
		if err != nil {
			t.Fatal(err)
		}
		return float64(w), float64(c)
	}
	weights, caches := at(layout.VLLM, func(*roofline.Workload) {})
	table := float64(d.Vocab) * float64(d.Hidden) * 2
	for _, c := range []struct {
		name            string
		engine          layout.Engine
		change          func(*roofline.Workload)
		weights, caches float64
	}{
		{"two stages, the second with the final norm", layout.VLLM, func(w *roofline.Workload) { w.PP = 2 }, weights/2 + float64(d.Hidden), caches / 2},
		{"two replicas", layout.VLLM, func(w *roofline.Workload) { w.DP = 2 }, weights, caches / 2},
		{"table on the host", layout.LlamaCPP, func(*roofline.Workload) {}, weights - table, caches},
	} {
		w, k := at(c.engine, c.change)
		near(t, c.name+", weights", w, c.weights)
		near(t, c.name+", caches", k, c.caches)
	}
}

func TestEngineLimits(t *testing.T) {
	for _, c := range []struct {
		engine layout.Engine
		model  string
		change func(*roofline.Workload)
		want   string
	}{
		{layout.LlamaCPP, "qwen3-30b-a3b", func(w *roofline.Workload) { w.TP, w.EP = 4, 4 }, "--ep 4: llama.cpp has no expert parallelism"},
		{layout.LlamaCPP, "qwen3-30b-a3b", func(w *roofline.Workload) { w.DP = 2 }, "--dp 2: llama.cpp has no data parallelism"},
		{layout.LlamaCPP, "llama-3.1-8b", func(w *roofline.Workload) { w.TP, w.PP = 2, 2 }, "one split mode at a time"},
		{layout.LlamaCPP, "deepseek-v3", func(w *roofline.Workload) { w.TP = 8 }, "does not run DeepseekV3ForCausalLM: use --pp 8"},
		{layout.TRTLLM, "qwen3-30b-a3b", func(w *roofline.Workload) { w.TP, w.DP = 2, 4 }, "use --tp 1 --dp 8"},
	} {
		_, err := c.engine.Build(decoder(t, c.model), workload(c.change))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: got error %v, want %q", c.engine.Name, c.model, err, c.want)
		}
		if _, _, err := c.engine.Resident(decoder(t, c.model), workload(c.change)); err == nil {
			t.Errorf("%s with %s: resident bytes of what cannot run", c.engine.Name, c.model)
		}
	}
	if _, err := layout.Ideal.Build(decoder(t, "qwen3-30b-a3b"), workload(func(w *roofline.Workload) { w.TP, w.EP = 8, 4 })); err != nil {
		t.Errorf("the ideal layout has no limits of its own: %v", err)
	}
}

// TestAnyExpertParallelDegreeOfVLLM: degrees that vLLM does not have are laid
// out as in the engine that has them, and said to be hypothetical.
func TestAnyExpertParallelDegreeOfVLLM(t *testing.T) {
	d := decoder(t, "qwen3-30b-a3b")
	for _, c := range []struct {
		tp, dp, ep   int
		hypothetical bool
	}{{8, 1, 1, false}, {8, 1, 2, true}, {8, 1, 4, true}, {8, 1, 8, false}, {2, 4, 2, true}, {2, 4, 4, true}, {2, 4, 8, false}} {
		w := workload(func(w *roofline.Workload) { w.TP, w.DP, w.EP, w.Batch = c.tp, c.dp, c.ep, 16 })
		got, other := build(t, layout.VLLM, d, w), build(t, layout.SGLang, d, w)
		near(t, "experts' bytes", weights(got, roofline.MoEExperts), weights(other, roofline.MoEExperts))
		said := layout.VLLM.Hypothetical(d, w)
		if (len(said) == 1) != c.hypothetical || c.hypothetical && !strings.Contains(said[0], "over all tp·dp = 8 GPUs") {
			t.Errorf("%+v: got caveats %q", c, said)
		}
		if said := layout.SGLang.Hypothetical(d, w); said != nil {
			t.Errorf("%+v: SGLang has any degree, got %q", c, said)
		}
	}
}

// TestModelsRememberExpertCounts: the points of a sweep share them, and a copy
// of the decoder with other formats does too.
func TestModelsRememberExpertCounts(t *testing.T) {
	d := decoder(t, "deepseek-v3")
	if d.Counts == nil || d.Draft.Counts == nil {
		t.Error("every floor of every point computes its expert counts anew")
	}
	w := workload(func(w *roofline.Workload) { w.TP, w.EP, w.Batch = 8, 8, 16 })
	if got, want := build(t, layout.VLLM, d, w).Busiest, roofline.BusiestRankExperts(256, 8, 16, 8); got != want {
		t.Errorf("busiest rank: got %v experts, want %v", got, want)
	}
}

// TestDraftProjection: the projection of an MTP layer is whole on every rank,
// and split in the ideal layout and in an assumed format.
func TestDraftProjection(t *testing.T) {
	d := decoder(t, "deepseek-v3").Draft
	one := weights(build(t, layout.VLLM, d, workload(func(*roofline.Workload) {})), roofline.Draft)
	if want := 2.0 * 7168 * 7168; one < want { // FP8 or wider
		t.Fatalf("the projection has %v bytes, want %v or more", one, want)
	}
	for _, c := range []struct {
		engine layout.Engine
		parts  float64
	}{{layout.VLLM, 1}, {layout.SGLang, 1}, {layout.TRTLLM, 8}, {layout.Ideal, 8}, {layout.VLLM.EvenMatrices(), 8}} {
		s := build(t, c.engine, d, workload(func(w *roofline.Workload) { w.TP = 8 }))
		near(t, c.engine.Name, weights(s, roofline.Draft)*c.parts, one)
	}
}

// TestEvenMatrices: an evenly split engine repeats no matrix.
func TestEvenMatrices(t *testing.T) {
	for _, e := range layout.All {
		for _, name := range []string{"gemma-3-27b", "qwen3-30b-a3b"} {
			d := decoder(t, name)
			w := workload(func(w *roofline.Workload) { w.TP = 8 })
			got, ideal := build(t, e.EvenMatrices(), d, w), build(t, layout.Ideal, d, w)
			for _, c := range []roofline.Component{roofline.AttentionQKV, roofline.AttentionOut, roofline.MoERouter, roofline.MLPDense, roofline.LMHead} {
				if weights(got, c) != weights(ideal, c) {
					t.Errorf("%s, %s, %s: got %.0f, want %.0f", e.Name, name, c, weights(got, c), weights(ideal, c))
				}
			}
		}
	}
}
