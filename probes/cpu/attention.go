//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"
	"maps"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// AttentionGQA is decode attention of grouped queries.
var AttentionGQA = probes.Probe{
	Name:    "cpu/attention_gqa",
	Doc:     "decode attention of grouped queries over a paged KV cache, pages in random order",
	Formula: "batch·(2·tokens·kv_heads·head_dim·size + 8·heads·head_dim + 4·pages)",
	Checked: "sampled heads against float64 on the stored keys and values",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{
			gqaCase("BF16", 32, 8, 128, 8192, 1, 0),
			gqaCase("FP8", 32, 8, 128, 8192, 1, 0),
			gqaCase("BF16", 16, 8, 128, 4096, 1, 0),
			gqaCase("BF16", 64, 8, 128, 1024, 8, 0),
			gqaCase("FP8", 64, 8, 128, 1024, 8, 0),
			gqaCase("BF16", 32, 8, 128, 32768, 1, 4096),
		}
	},
	Prepare: prepareAttention,
}

// AttentionMLA is decode attention over latents, the projections absorbed.
var AttentionMLA = probes.Probe{
	Name:    "cpu/attention_mla",
	Doc:     "decode attention of absorbed multi-head latent attention over a paged cache of latents",
	Formula: "batch·(tokens·(rank + rope)·size + 4·heads·(2·rank + rope) + 4·pages)",
	Checked: "sampled heads against float64 on the stored latents",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{
			mlaCase("BF16", 16, 8192, 1),
			mlaCase("FP8", 16, 8192, 1),
			mlaCase("BF16", 128, 8192, 1),
			mlaCase("FP8", 128, 8192, 1),
		}
	},
	Prepare: prepareAttention,
}

// pageTokens are the tokens of a page in the probes.
const pageTokens = 16

func gqaCase(format string, heads, kv, dim, tokens, batch, window int) probes.Case {
	name := fmt.Sprintf("%s, %d/%d heads × %d, %d tokens", format, heads, kv, dim, tokens)
	shape := map[string]int{"heads": heads, "kv_heads": kv, "head_dim": dim, "tokens": tokens, "batch": batch, "page": pageTokens}
	if batch > 1 {
		name += fmt.Sprintf(", batch %d", batch)
	}
	if window > 0 {
		name += fmt.Sprintf(", window %d", window)
		shape["window"] = window
	}
	return attentionCost(probes.Case{Name: name, Shape: shape, Format: format})
}

func mlaCase(format string, heads, tokens, batch int) probes.Case {
	return attentionCost(probes.Case{
		Name: fmt.Sprintf("%s, %d heads, rank 512 + 64, %d tokens", format, heads, tokens),
		Shape: map[string]int{"heads": heads, "kv_heads": 1, "head_dim": 576, "rank": 512,
			"tokens": tokens, "batch": batch, "page": 4 * pageTokens},
		Format: format,
	})
}

// attentionCost sets the bytes and operations of a case from its shape: what
// is touched, not what is allocated.
func attentionCost(c probes.Case) probes.Case {
	s := maps.Clone(c.Shape)
	seen := s["tokens"]
	if s["window"] > 0 {
		seen = min(seen, s["window"])
	}
	size := 2
	if c.Format == "FP8" {
		size = 1
	}
	valueDim, row := s["head_dim"], 2*s["head_dim"]
	if s["rank"] > 0 {
		valueDim, row = s["rank"], s["head_dim"]
	}
	pages := (s["tokens"]-1)/s["page"] - (s["tokens"]-seen)/s["page"] + 1
	c.Bytes = unit.Bytes(s["batch"] * (seen*s["kv_heads"]*row*size + 4*s["heads"]*(s["head_dim"]+valueDim) + 4*pages))
	c.FLOPs = unit.FLOPs(2 * s["batch"] * s["heads"] * seen * (s["head_dim"] + valueDim))
	return c
}

// attentionShape is what a case asks for.
func attentionShape(c probes.Case) (a attention, kv cache, lengths []int, err error) {
	size, err := values(c, "heads", "kv_heads", "head_dim", "tokens", "batch", "page")
	if err != nil {
		return
	}
	lengths = make([]int, size[4])
	for i := range lengths {
		lengths[i] = size[3]
	}
	a = attention{heads: size[0], window: c.Shape["window"]}
	kv = cache{
		format: c.Format, heads: size[1], dim: size[2], valueDim: c.Shape["rank"], latent: c.Shape["rank"] > 0,
		page: size[5],
	}
	kv.pages = (&sequences{page: kv.page, window: a.window}).pages(lengths)
	return a, kv, lengths, nil
}

// attentionBound is the relative error that float32 sums over any context may
// have. Matrix tiles keep it too: there each query's value and each weight is
// the sum of two bf16, within 2⁻¹⁸ = 4e-6, where the attention kernels of
// engines round both to one, within 2⁻⁹.
const attentionBound = 1e-5

func prepareAttention(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	a, shape, lengths, err := attentionShape(c)
	if err != nil {
		return nil, err
	}
	if c.ISA == "" {
		c.ISA = a.fastest(&shape)
	}
	// Queries and outputs stay in the cache: the copies are of keys and values.
	n, err := copies(h, shape.size())
	if err != nil {
		return nil, err
	}
	var q, out, scratch *memory
	var queries []float32
	var all []*cache
	var seqs *sequences
	s, err := newChain(ctx, h, c, shape.kind(C.DG_ATTENTION_BF16, C.DG_ATTENTION_FP8), n, func(m maker, s *subject, i int) ([]op, error) {
		kv, err := newCache(shape)
		if err != nil {
			return nil, err
		}
		s.memory = append(s.memory, kv.k)
		if kv.v != nil {
			s.memory = append(s.memory, kv.v)
		}
		if i == 0 {
			if err := kv.fillBy(ctx, s.pool, 1); err != nil {
				return nil, err
			}
			if seqs, err = newWindowed(lengths, kv.page, a.window, 2); err != nil {
				return nil, err
			}
			s.memory = append(s.memory, seqs.table, seqs.lengths)
			if q, queries, err = s.float32s(len(lengths)*a.heads*kv.dim, 1, 3); err != nil {
				return nil, err
			}
			if out, s.poison, err = s.float32s(len(lengths)*a.heads*kv.valueDim, 1, 4); err != nil {
				return nil, err
			}
			size, err := m.attentionScratch(a, kv, seqs)
			if err != nil {
				return nil, err
			}
			if scratch, err = s.allocate(size); err != nil {
				return nil, err
			}
		} else if err := s.pool.duplicate(ctx, kv.k, all[0].k); err != nil {
			return nil, err
		} else if kv.v != nil {
			if err := s.pool.duplicate(ctx, kv.v, all[0].v); err != nil {
				return nil, err
			}
		}
		all = append(all, kv)
		return m.attention(a, kv, seqs, q.at, out.at, scratch.at)
	})
	if err != nil {
		return nil, err
	}
	s.verify = func(ctx context.Context, copy int) (probes.Correctness, error) {
		got := of[float32](out)
		var worst probes.Correctness
		rows := len(lengths) * a.heads
		step := max(1, rows/6) // a head costs tokens·(dim + value dim) steps
		for row := 0; row < rows; row = nextSample(row, step, rows) {
			if err := ctx.Err(); err != nil {
				return probes.Correctness{}, err
			}
			want := attend(a, all[copy], seqs, row/a.heads, row%a.heads, queries[row*shape.dim:][:shape.dim])
			worst = join(worst, compare(got[row*len(want):][:len(want)], want, attentionBound))
		}
		return unwritten(worst, got), nil
	}
	return s, nil
}

// nextSample walks rows in steps and ends with the last row.
func nextSample(row, step, rows int) int {
	if row < rows-1 && row+step > rows-1 {
		return rows - 1
	}
	return row + step
}

// unwritten makes a comparison of samples fail where any value is no number.
func unwritten(c probes.Correctness, out []float32) probes.Correctness {
	for _, v := range out {
		if v != v {
			c.Comment = "an output is no number or was not written"
			c.RelativeL2 = c.Bound + 1
		}
	}
	return c
}
