package layout_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"decodegap/roofline"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
)

// floorCase is one line of testdata/cases/floor_cases.jsonl: what one decode
// step must move, counted by an independent reference.
type floorCase struct {
	ID        string  `json:"id"`
	Model     string  `json:"model"`
	SideFile  *string `json:"hf_quant_config"`
	TP        int     `json:"tp"`
	EP        int     `json:"ep"`
	Batch     int     `json:"batch"`
	Context   int     `json:"context"`
	KV        string  `json:"kv_dtype"`
	State     *string `json:"state_dtype"`
	Draft     int     `json:"spec_draft_tokens"`
	DSA       *string `json:"dsa"`
	Engine    string  `json:"engine_layout"`
	Expect    expect  `json:"expect"`
	Tolerance struct {
		Params float64 `json:"params_rel"`
		Bytes  float64 `json:"bytes_rel"`
		FLOPs  float64 `json:"flops_rel"`
	} `json:"tolerance"`
}

type expect struct {
	ParamsTotal  float64            `json:"params_total"`
	ParamsActive float64            `json:"params_active_read"`
	WeightsIdeal float64            `json:"weight_bytes_ideal_per_gpu"`
	Weights      float64            `json:"weight_bytes_layout_per_gpu"`
	KVRead       float64            `json:"kv_read_bytes_per_gpu"`
	KVWrite      float64            `json:"kv_write_bytes_per_gpu"`
	KVReadIdeal  float64            `json:"kv_read_bytes_ideal_per_gpu"`
	KVWriteIdeal float64            `json:"kv_write_bytes_ideal_per_gpu"`
	FLOPs        float64            `json:"flops_per_gpu"`
	Distinct     *float64           `json:"distinct_experts"`
	Busiest      *float64           `json:"experts_busiest_rank"`
	Count        int                `json:"allreduce_count"`
	Each         float64            `json:"allreduce_bytes_each"`
	Component    map[string]float64 `json:"by_component"`
	Ideal        map[string]float64 `json:"by_component_ideal"`
}

// TestCases compares every case whose model is in the catalogue with the
// reference, component by component.
func TestCases(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "testdata", "cases", "floor_cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	ran := 0
	for lines.Scan() {
		var c floorCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) { runCase(t, c) })
		ran++
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if ran < 47 {
		t.Errorf("%d cases ran, want at least 47", ran)
	}
}

func runCase(t *testing.T, c floorCase) {
	m, err := model.Load(c.Model, "", model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := roofline.Workload{Batch: c.Batch, Context: c.Context, TP: c.TP, EP: c.EP, DP: 1, PP: 1,
		DraftTokens: c.Draft, AcceptedTokens: 1, KVType: roofline.DType(c.KV), StateType: roofline.FP32,
		DenseAttention: c.DSA != nil && *c.DSA == "dense"}
	if c.State != nil && *c.State == "bfloat16" {
		w.StateType = roofline.BF16
	}
	engine, err := layout.Find(c.Engine)
	if err != nil {
		t.Fatal(err)
	}
	step, err := engine.Build(m.Decoder, w)
	if err != nil {
		t.Fatal(err)
	}
	ideal, err := layout.Ideal.Build(m.Decoder, w)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want, tol float64) {
		t.Helper()
		if math.Abs(got-want) > tol*math.Abs(want)+1 {
			t.Errorf("%s: got %.0f, want %.0f", what, got, want)
		}
	}
	e := c.Expect
	near("params_total", float64(m.Params()), e.ParamsTotal, c.Tolerance.Params/10)
	near("params_active_read", float64(m.ActiveParams()), e.ParamsActive, c.Tolerance.Params/10)
	near("weights ideal", float64(ideal.Weights()), e.WeightsIdeal, 1e-6)
	near("weights", float64(step.Weights()), e.Weights, 1e-6)
	near("kv read", float64(step.KVRead()), e.KVRead, 1e-6)
	near("kv write", float64(step.KVWrite()), e.KVWrite, 1e-6)
	near("kv read ideal", float64(ideal.KVRead()), e.KVReadIdeal, 1e-6)
	near("kv write ideal", float64(ideal.KVWrite()), e.KVWriteIdeal, 1e-6)
	near("flops", float64(step.FLOPs()), e.FLOPs, 1e-6)
	if e.Distinct != nil {
		near("distinct experts", step.Distinct*1e6, *e.Distinct*1e6, 1e-6)
		near("busiest rank", step.Busiest*1e6, *e.Busiest*1e6, 1e-6)
	}
	count, each := step.AllReduces()
	if count != e.Count || float64(each) != e.Each {
		t.Errorf("all-reduces: got %d of %.0f bytes, want %d of %.0f", count, float64(each), e.Count, e.Each)
	}
	compareComponents(t, "layout", step, e.Component)
	compareComponents(t, "ideal", ideal, e.Ideal)
}

func compareComponents(t *testing.T, name string, step roofline.Step, want map[string]float64) {
	t.Helper()
	got := map[string]float64{}
	for _, op := range step.Ops {
		got[string(op.Component)] += float64(op.Memory())
		if op.Comm != nil {
			got["comm"] += float64(op.Comm.Count) * float64(op.Comm.Bytes)
		}
	}
	for k, v := range want {
		if math.Abs(got[k]-v) > 1e-6*v+2 {
			t.Errorf("%s %s: got %.0f, want %.0f", name, k, got[k], v)
		}
	}
	for k, v := range got {
		if _, ok := want[k]; !ok && v > 0 {
			t.Errorf("%s %s: got %.0f, want none", name, k, v)
		}
	}
}
