//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// The shape of kernels/mla.h.
const (
	mlaKey   = 576
	mlaValue = 512
	mlaRow   = 2 * mlaKey // bytes
	mlaPage  = 64         // tokens
)

// mlaScale is that of models whose heads have 128 values and 64 with positions.
var mlaScale = 1 / math.Sqrt(128+64)

// MLA is attention of one new token a sequence over a latent cache.
//
// A cached row of 1152 bytes is multiplied with every head twice: 2·(576+512)
// operations a head. With 128 heads that is 242 a byte, which an H200's tensor
// cores (989·10¹² a second) need as long for as its memory for the bytes: the
// share of the read ceiling cannot reach 1, and mma.sync, at two thirds of what
// wgmma reaches, cannot reach 0.6. With 16 heads, a shard of 8, memory alone
// counts.
//
// Measured on an H200: 0.30 with 128 heads and 64×4096, by wgmma. Without its
// copies or half of its products the kernel is a tenth faster, no more: what is
// left is its groups of warps waiting for each other.
var MLA = probes.Probe{
	Name:    "cuda/attention_mla",
	Doc:     "decode attention over a paged latent cache (MLA, absorbed) in BF16: 576 values a token for 128 heads, or for a shard's 16",
	Formula: "2·576·tokens + 2·(576+512)·batch·heads",
	Checked: "96 query heads or all against float64 on the same bfloat16, all outputs written",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range []struct{ heads, batch, context, unequal int }{
			{128, 64, 4096, 0}, {16, 64, 4096, 0}, {128, 1, 8192, 0}, {16, 1, 8192, 0},
			{128, 16, 8192, 0}, {16, 16, 8192, 0}, {128, 16, 8192, 1}, {16, 16, 8192, 1},
		} {
			b := &paged{lengths: lengths(s.batch, s.context, s.unequal == 1)}
			c := probes.Case{
				Name:   fmt.Sprintf("%d heads, %s", s.heads, batchName(s.batch, s.context, s.unequal == 1)),
				Shape:  map[string]int{"heads": s.heads, "batch": s.batch, "context": s.context, "page": mlaPage, "unequal": s.unequal},
				Format: "BF16",
				Bytes:  unit.Bytes(mlaRow*b.tokens() + 2*(mlaKey+mlaValue)*s.batch*s.heads),
				FLOPs:  unit.FLOPs(2 * (mlaKey + mlaValue) * s.heads * b.tokens()),
			}
			out = append(out, withDependent(h, c)...)
		}
		return out
	},
	Prepare: prepareMLA,
}

func prepareMLA(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	batch, heads := c.Shape["batch"], c.Shape["heads"]
	rows := 64 // heads of a block
	if heads < rows {
		rows = 16
	}
	if heads <= 0 || heads%rows != 0 || batch <= 0 || c.Shape["context"] <= 0 {
		return nil, fmt.Errorf("%w: the kernels are written for 16, 32 or 48 heads, or multiples of 64", probes.ErrUnsupported)
	}
	a := &pagedAttention{
		paged: paged{lengths: lengths(batch, c.Shape["context"], c.Shape["unequal"] == 1), page: mlaPage, tile: mlaPage, sets: 1, lanes: heads / rows},
		heads: heads, rows: rows, key: mlaKey, value: mlaValue,
		source: "bf16_mla", join: fmt.Sprintf("bf16_mla_join_%d", rows/16), joining: mlaValue, variants: mlaVariants(rows),
		behind: []any{float32(mlaScale * math.Log2E)},
	}
	each := int64(a.pages()) * mlaPage * mlaRow
	n, err := copies(h, unit.Bytes(each))
	if err != nil {
		return nil, err
	}
	s := &subject{m: m, copies: n, each: c.Bytes}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	cache, err := s.allocate(h, int64(n)*each)
	if err != nil {
		return nil, err
	}
	if err := m.fill(ctx, "fill_bf16", cache, uint64(cache.Size()/4), float32(1), seed()); err != nil {
		return nil, err
	}
	a.pageOf = a.table()
	for i := range n {
		if err := a.spoil(cache, int64(i)*each, a.pageOf, mlaRow); err != nil {
			return nil, err
		}
	}
	if err := a.allocate(ctx, s, h, 4); err != nil {
		return nil, err
	}
	a.before = func(copy int) []any { return []any{a.q.Address(0), cache.Address(int64(copy) * each)} }
	if err := a.choose(ctx, s, h, c, 1, 0); err != nil {
		return nil, err
	}
	s.verify = func() (probes.Correctness, error) {
		return a.verify(func(yield func(attended)) error {
			for _, sequence := range sampled(batch, 8) {
				var rows []float64
				err := a.read(cache, int64(n-1)*each, a.pageOf, sequence, mlaRow, func(tokens []byte) { rows = append(rows, numbers(words(tokens))...) })
				if err != nil {
					return err
				}
				for _, head := range sampled(heads, 12) {
					yield(attended{sequence, head, rows, rows, mlaKey, mlaScale})
				}
			}
			return nil
		})
	}
	return s, nil
}

// mlaVariants are the kernels for so many heads of a block.
func mlaVariants(rows int) []variant {
	type shape struct{ tokens, stages int }
	shapes, queries, ways := []shape{{64, 2}, {32, 2}}, rows*mlaRow, 2
	if rows == 16 {
		shapes, queries, ways = []shape{{64, 3}, {64, 2}}, 0, 8
	}
	var all []variant
	for _, s := range shapes {
		all = append(all, variant{entry: fmt.Sprintf("bf16_mla_%d_%dx%d", rows/16, s.tokens, s.stages), warps: 8,
			shared: queries + s.stages*s.tokens*mlaRow + rows*128 + (ways+1)*rows*4})
	}
	if rows == 64 {
		all = append(all, variant{source: "bf16_mla_wgmma", entry: "bf16_mla_wgmma", warps: 12, shared: 3*64*mlaRow + rows*128 + rows*32 + 3*rows*4})
	}
	return all
}
