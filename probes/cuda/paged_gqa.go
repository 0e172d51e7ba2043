//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/unit"
)

// PagedGQA is GQA where the cache lies in pages, in BF16 or FP8, over all
// tokens or over a sliding window.
var PagedGQA = probes.Probe{
	Name:    "cuda/attention_paged",
	Doc:     "decode attention over a cache in pages, BF16 or FP8, whole or a sliding window, 32 query heads on 8 of keys and values of 128",
	Formula: "2·element·tokens·kv_heads·128 + 2·2·batch·heads·128",
	Checked: "64 query heads or all against float64 on the same bfloat16 or E4M3, all outputs written",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range []struct {
			format                                string
			page, batch, context, unequal, window int
		}{
			{"BF16", 16, 16, 8192, 0, 0}, {"FP8", 64, 16, 8192, 0, 0}, {"BF16", 64, 16, 8192, 0, 0}, {"FP8", 16, 16, 8192, 0, 0},
			{"BF16", 16, 16, 12345, 0, 4096}, {"FP8", 64, 16, 12345, 0, 4096}, {"BF16", 64, 16, 8192, 1, 0}, {"FP8", 16, 16, 8192, 1, 0},
			{"FP8", 64, 1, 8192, 0, 0}, {"BF16", 16, 1, 8192, 0, 0},
		} {
			b := &paged{lengths: lengths(s.batch, s.context, s.unequal == 1), window: s.window}
			c := probes.Case{
				Name: fmt.Sprintf("%s, pages of %d, %s", s.format, s.page, batchName(s.batch, s.context, s.unequal == 1)),
				Shape: map[string]int{"batch": s.batch, "context": s.context, "heads": gqaGroup * gqaHeads, "kv_heads": gqaHeads, "dim": gqaDim,
					"page": s.page, "unequal": s.unequal},
				Format: s.format,
				Bytes:  unit.Bytes(2*gqaElement(s.format)*b.tokens()*gqaHeads*gqaDim + 4*s.batch*gqaGroup*gqaHeads*gqaDim),
				FLOPs:  unit.FLOPs(4 * gqaGroup * gqaHeads * b.tokens() * gqaDim),
			}
			if s.window > 0 {
				c.Name += fmt.Sprintf(", window %d", s.window)
				c.Shape["window"] = s.window
			}
			out = append(out, withDependent(h, c)...)
		}
		return out
	},
	Prepare: preparePaged,
}

// gqaElement is the bytes of a key's or value's number.
func gqaElement(format string) int {
	if format == "FP8" {
		return 1
	}
	return 2
}

// e4m3Scale is a tensor's: with it the random codes have values of about one.
const e4m3Scale = 1. / 32

func preparePaged(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	batch, page, window := c.Shape["batch"], c.Shape["page"], c.Shape["window"]
	if page != 16 && page != 64 || batch <= 0 || c.Shape["context"] <= 0 || c.Shape["kv_heads"] != gqaHeads || c.Shape["heads"] != gqaHeads*gqaGroup {
		return nil, fmt.Errorf("%w: the kernels are written for pages of 16 or 64 tokens", probes.ErrUnsupported)
	}
	token := gqaElement(c.Format) * gqaHeads * gqaDim // bytes of its keys
	scale := 1.
	entry, fill, more, shapes := "bf16_gqa", "fill_bf16", []any{float32(1), seed()}, []int{3, 2}
	if c.Format == "FP8" {
		scale = e4m3Scale
		entry, fill, more, shapes = "e4m3_gqa", "fill_e4m3", []any{seed()}, []int{6, 4}
	}
	a := &pagedAttention{
		paged: paged{lengths: lengths(batch, c.Shape["context"], c.Shape["unequal"] == 1), page: page, tile: page, sets: gqaHeads, lanes: 1, window: window},
		heads: gqaHeads * gqaGroup, rows: gqaGroup, key: gqaDim, value: gqaDim,
		source: "paged_gqa", join: "paged_gqa_join", joining: gqaDim / 4,
		behind: []any{uint32(gqaHeads), float32(scale * math.Log2E / math.Sqrt(gqaDim)), float32(scale)},
	}
	for _, stages := range shapes {
		a.variants = append(a.variants, variant{entry: fmt.Sprintf("%s_%d_8x%d", entry, page, stages), warps: 8,
			shared: 8*stages*gqaStage*gqaElement(c.Format)/2 + 2*8*gqaSlot*4})
	}
	each := int64(a.pages() * page * token) // keys, or values
	n, err := copies(h, unit.Bytes(float64(c.Bytes)))
	if err != nil {
		return nil, err
	}
	s := &subject{m: m, copies: n, each: c.Bytes}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	kv, err := s.allocate(h, 2*int64(n)*each)
	if err != nil {
		return nil, err
	}
	if err := m.fill(ctx, fill, kv, uint64(kv.Size()/4), more...); err != nil {
		return nil, err
	}
	a.pageOf = a.table()
	for i := range 2 * n {
		if err := a.spoil(kv, int64(i)*each, a.pageOf, token); err != nil {
			return nil, err
		}
	}
	if err := a.allocate(ctx, s, h, 4); err != nil {
		return nil, err
	}
	a.before = func(copy int) []any {
		return []any{a.q.Address(0), kv.Address(2 * int64(copy) * each), kv.Address((2*int64(copy) + 1) * each)}
	}
	waves := (batch*gqaHeads + m.device.GPU().SMs - 1) / m.device.GPU().SMs
	if err := a.choose(ctx, s, h, c, waves, 2); err != nil {
		return nil, err
	}
	s.verify = func() (probes.Correctness, error) {
		return a.verify(func(yield func(attended)) error {
			for _, set := range sampled(batch*gqaHeads, 16) {
				sequence, head := set/gqaHeads, set%gqaHeads
				keys, err := a.head(kv, 2*int64(n-1)*each, sequence, head, token, scale)
				if err != nil {
					return err
				}
				values, err := a.head(kv, (2*int64(n-1)+1)*each, sequence, head, token, scale)
				if err != nil {
					return err
				}
				for q := range gqaGroup {
					yield(attended{sequence, head*gqaGroup + q, keys, values, gqaDim, 1 / math.Sqrt(gqaDim)})
				}
			}
			return nil
		})
	}
	return s, nil
}

// head reads the rows of one head, tokens of so many bytes.
func (a *pagedAttention) head(kv *driver.Memory, at int64, sequence, head, token int, scale float64) ([]float64, error) {
	var rows []float64
	width := token / gqaHeads
	err := a.read(kv, at, a.pageOf, sequence, token, func(tokens []byte) {
		for ; len(tokens) > 0; tokens = tokens[token:] {
			row := tokens[head*width:][:width]
			if width == gqaDim {
				for _, code := range row {
					rows = append(rows, scale*e4m3(code))
				}
			} else {
				rows = append(rows, numbers(words(row))...)
			}
		}
	})
	return rows, err
}
