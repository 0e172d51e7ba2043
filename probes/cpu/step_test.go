//go:build cgo && linux

package cpu

import (
	"errors"
	"testing"

	"decodegap/probes"
	"decodegap/probes/decode"
	"decodegap/roofline"
	"decodegap/roofline/model"
)

// tiny is a plan of two layers with every part a dense step may have.
func tiny(format string, bias bool) *decode.Plan {
	m := func(c roofline.Component, rows, cols int) decode.Matrix {
		return decode.Matrix{Component: c, Rows: rows, Cols: cols, Format: format, Bias: bias}
	}
	gate := m(roofline.MLPDense, 160, 96)
	l := decode.Layer{
		Attention: decode.Attention{
			Q: m(roofline.AttentionQKV, 128, 96), K: m(roofline.AttentionQKV, 64, 96), V: m(roofline.AttentionQKV, 64, 96),
			O: m(roofline.AttentionOut, 96, 128), Heads: 4, KVHeads: 2, HeadDim: 32, NormQK: true,
		},
		Dense: &decode.FeedForward{Gate: &gate, Up: gate, Down: m(roofline.MLPDense, 96, 160)},
	}
	plain := l
	plain.Attention.NormQK, plain.Attention.Window = false, 20
	return &decode.Plan{Name: "tiny", Hidden: 96, Vocab: 333, Layers: []decode.Layer{l, plain},
		Head: decode.Matrix{Component: roofline.LMHead, Rows: 333, Cols: 96, Format: format}}
}

// mixed is tiny with experts in its second layer, a shared one among them.
func mixed(format string) *decode.Plan {
	p := tiny(format, false)
	m := func(c roofline.Component, rows, cols int) decode.Matrix {
		return decode.Matrix{Component: c, Rows: rows, Cols: cols, Format: format}
	}
	gate, shared := m(roofline.MoEExperts, 48, 96), m(roofline.MoEShared, 64, 96)
	l := &p.Layers[1]
	l.Dense, l.Mixture = nil, &decode.Mixture{Router: decode.Matrix{Component: roofline.MoERouter, Rows: 24, Cols: 96, Format: "BF16"}, Experts: 24, TopK: 4,
		Expert: decode.FeedForward{Gate: &gate, Up: gate, Down: m(roofline.MoEExperts, 96, 48)},
		Shared: &decode.FeedForward{Gate: &shared, Up: shared, Down: m(roofline.MoEShared, 96, 64)}}
	return p
}

// TestStep holds whole steps against float64: formats, batches, contexts,
// caches, instruction sets.
func TestStep(t *testing.T) {
	for _, isa := range Supported() {
		for _, format := range []string{"BF16", "NVFP4", "MXFP4", "FP8", "FP8 128x128"} {
			for i, at := range []decode.Point{{Batch: 1}, {Batch: 3, Context: 17, KV: roofline.FP8}, {Batch: 16, Context: 64, KV: roofline.BF16}, {Batch: 2, Context: 5}} {
				o := StepOptions{Point: at, ISA: isa.String(), Copies: 2}
				plan := tiny(format, i == 1)
				if i == 3 {
					plan = mixed(format)
				}
				s, err := NewStep(t.Context(), testHost, plan, o)
				if errors.Is(err, probes.ErrUnsupported) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Time(t.Context(), 3); err != nil {
					t.Fatal(err)
				}
				c, err := s.Verify()
				if err != nil || !c.OK() {
					t.Errorf("%s %s %+v: %+v, %v", isa, format, o, c, err)
				}
				t.Logf("%s %s batch %2d: %.2e", isa, format, o.Batch, c.RelativeL2)
				s.Close()
			}
		}
	}
}

// BenchmarkStep times the step of qwen3-0.6b in NVFP4.
func BenchmarkStep(b *testing.B) {
	f, err := model.ParseFormat("nvfp4")
	if err != nil {
		b.Fatal(err)
	}
	loaded, err := model.Load("qwen3-0.6b", "", model.Options{Assume: &f})
	if err != nil {
		b.Fatal(err)
	}
	p, err := decode.Of(loaded.Decoder)
	if err != nil {
		b.Fatal(err)
	}
	h := probes.Host{CPUs: []int{0, 1}, LastLevel: 300 << 20, Budget: 4 << 30}
	s, err := NewStep(b.Context(), h, p, StepOptions{Point: decode.Point{Batch: 1, Context: 512}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.SetBytes(int64(s.bytes))
	b.ResetTimer()
	if _, err := s.Time(b.Context(), b.N); err != nil {
		b.Fatal(err)
	}
	for c, t := range s.Parts() {
		var sum float64
		for _, v := range t {
			sum += v
		}
		b.ReportMetric(1e3*sum/float64(len(t)), "ms/"+string(c))
	}
}
