//go:build cgo && linux

package cpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"decodegap/probes"
	"decodegap/probes/decode"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// TestUnwrittenIsFound: an output that the kernel left out fails the check,
// even where no sampled row shows it.
func TestUnwrittenIsFound(t *testing.T) {
	const rows, cols = 1100, 1024
	s, err := prepareGEMV(t.Context(), host(2), gemvCase(BF16Weights, 1, rows, cols))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := prepareExperts(t.Context(), host(2), expertsCase(NVFP4, 1, 2, 4, 64, 96))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	sampled := sampledRows(rows, cols, 1)
	row := 0
	for slices.Contains(sampled, row) {
		row++
	}
	inner := 0
	for slices.Contains(sampledValues(64), inner) {
		inner++
	}
	for _, c := range []struct {
		name string
		s    *subject
		out  *float32
	}{
		{"a row of a matrix", s.(*subject), &s.(*subject).poison[row]},
		{"an output of experts", e.(*subject), &e.(*subject).poison[1]},
		{"an inner value of experts", e.(*subject), &e.(*subject).poisonInner[inner]},
	} {
		if _, err := c.s.Time(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if got, err := c.s.Verify(); err != nil || !got.OK() {
			t.Fatalf("%s: %+v, %v before", c.name, got, err)
		}
		*c.out = float32(math.NaN())
		if got, err := c.s.Verify(); err == nil && got.OK() {
			t.Errorf("%s was not written: %+v", c.name, got)
		}
	}
}

// TestWindowedCache: a case with a window holds what the window sees, or the
// memory budget would be passed by the rest.
func TestWindowedCache(t *testing.T) {
	s := &sequences{page: 16, window: 30}
	if n := s.pages([]int{100, 31, 5}); n != 3+2+1 {
		t.Errorf("%d pages", n)
	}
	for _, c := range AttentionGQA.Plan(testHost) {
		_, shape, _, err := attentionShape(c)
		if err != nil || shape.size() > c.Bytes+unit.Bytes(2*c.Shape["kv_heads"]*c.Shape["head_dim"]*2*c.Shape["page"]) {
			t.Errorf("%s: a cache of %s for %s that are read, %v", c.Name, shape.size(), c.Bytes, err)
		}
	}
}

// TestStepWindowCold: what a window hides from a step keeps nothing cold.
func TestStepWindowCold(t *testing.T) {
	h := testHost
	h.LastLevel, h.Budget = 8<<20, 1<<40
	plan := tiny("BF16", false)
	for i := range plan.Layers {
		plan.Layers[i].Attention.Window = 16
	}
	short, err := stepCopies(h, plan, StepOptions{Point: decode.Point{Batch: 1, Context: 15, KV: roofline.BF16}})
	if err != nil {
		t.Fatal(err)
	}
	long, err := stepCopies(h, plan, StepOptions{Point: decode.Point{Batch: 1, Context: 1 << 15, KV: roofline.BF16}})
	if err != nil || long < short-1 {
		t.Errorf("%d models in turn for a long context, %d for the window alone: %v", long, short, err)
	}
}

// TestStepMemory: a step is refused where its copies and what they share are
// more than the budget, however absurd its context, and fits where they are not.
func TestStepMemory(t *testing.T) {
	h := testHost
	plan := tiny("BF16", false)
	at := decode.Point{Batch: 2, Context: 100, KV: roofline.BF16}
	held, err := stepSum(plan, StepOptions{Point: at}, resident)
	if err != nil {
		t.Fatal(err)
	}
	n, shared := unit.Bytes(coldCopies(h, held)), stepShared(plan, StepOptions{Point: at}, len(h.CPUs))
	h.Budget = n*held + shared
	if err := stepFits(h, plan, at); err != nil {
		t.Errorf("a step that fits: %v", err)
	}
	h.Budget--
	if err := stepFits(h, plan, at); !errors.Is(err, probes.ErrUnsupported) {
		t.Errorf("a byte too little: %v", err)
	}
	h.Budget = 1 << 40
	at.Batch, at.Context = MaxTokens, 1<<24
	plan.Layers[0].Attention.KVHeads = 1 << 20
	if err := stepFits(h, plan, at); !errors.Is(err, probes.ErrUnsupported) {
		t.Errorf("an absurd cache: %v", err)
	}
	// What a step takes beside weights and caches is no more than was counted.
	s, err := NewStep(t.Context(), testHost, tiny("BF16", false), StepOptions{Point: decode.Point{Batch: 2, Context: 100}, Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var taken, operands int64
	for _, m := range s.memory {
		taken += m.size
	}
	for _, l := range s.layers {
		for _, w := range []*Weights{l.qkv, l.out, l.upGate, l.down} {
			operands += weightsSize(w.Format, w.Rows, w.Cols, w.Block)
		}
	}
	operands += weightsSize(s.head.Format, s.head.Rows, s.head.Cols, false)
	counted := stepShared(s.plan, s.options, s.pool.Threads())
	if rest := unit.Bytes(taken - operands); rest > counted {
		t.Errorf("%s beside weights and caches, %s were counted", rest, counted)
	}
}

// TestStepAt: an operating point that no step is run at is refused before
// anything is allocated or timed.
func TestStepAt(t *testing.T) {
	for _, at := range []decode.Point{{Batch: 0}, {Batch: MaxTokens + 1}, {Batch: 1, Context: 1<<24 + 1}} {
		if err := AttainableStep(tiny("BF16", false), at, probes.Case{}).Check(testHost); !errors.Is(err, probes.ErrUnsupported) {
			t.Errorf("%+v: %v", at, err)
		}
	}
}

// TestCancelledFill: filling operands ends with the context, not with the last
// of them.
func TestCancelledFill(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := testHost
	for name, prepare := range map[string]prepareFunc{"read": prepareRead, "copy": Copy.Prepare, "triad": Triad.Prepare} {
		c := streamCase(2, 1<<20)
		if s, err := prepare(ctx, h, c); !errors.Is(err, context.Canceled) {
			if err == nil {
				s.Close()
			}
			t.Errorf("%s: %v", name, err)
		}
	}
	kv, err := newCache(cache{format: "BF16", heads: 1, dim: 64, pages: 1, page: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer kv.free()
	if err := kv.fill(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a cache: %v", err)
	}
}
