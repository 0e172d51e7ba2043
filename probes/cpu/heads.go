//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"decodegap/probes"
	"decodegap/probes/reference"
)

// RoPE is the rotation of query and key heads.
var RoPE = probes.Probe{
	Name:    "cpu/rope",
	Doc:     "rotary embedding of query heads, activations in the cache; its time is the result",
	Formula: "none: activations lie in the cache",
	Checked: "all values against float64",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{
			headsCase("NeoX", 1, 40, 0, 128, ""), headsCase("interleaved", 1, 128, 0, 64, ""), headsCase("NeoX", 16, 40, 0, 128, ""),
		}
	},
	Prepare: prepareHeads,
}

// KVWrite is what lies between a projection and attention: query and key
// norms, rotation, and the write of keys and values into the paged cache.
var KVWrite = probes.Probe{
	Name:    "cpu/kv_write",
	Doc:     "norm and rotation of heads, and the write of a token's keys and values into its page; its time is the result",
	Formula: "none: activations and the pages at hand lie in the cache",
	Checked: "queries and stored keys and values against float64",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{
			headsCase("NeoX", 1, 32, 8, 128, "BF16"), headsCase("NeoX", 1, 32, 8, 128, "FP8"), headsCase("NeoX", 16, 32, 8, 128, "BF16"),
		}
	},
	Prepare: prepareHeads,
}

func headsCase(style string, m, heads, kv, dim int, format string) probes.Case {
	c := probes.Case{
		Name:   fmt.Sprintf("%s, M=%d, %d heads × %d", style, m, heads, dim),
		Shape:  map[string]int{"m": m, "heads": heads, "head_dim": dim},
		Format: format,
	}
	if kv > 0 {
		c.Name = fmt.Sprintf("%s, %s, M=%d, %d/%d heads × %d", format, style, m, heads, kv, dim)
		c.Shape["kv_heads"] = kv
	}
	if style == "interleaved" {
		c.Shape["interleaved"] = 1
	}
	return c
}

// headsAt is the length of every sequence in the probes of heads.
const headsAt = 1000

func prepareHeads(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	shape, err := values(c, "m", "heads", "head_dim")
	if err != nil {
		return nil, err
	}
	tokens, heads, dim, kv := shape[0], shape[1], shape[2], c.Shape["kv_heads"]
	r := rope{style: ropeNeoX, dims: dim}
	if c.Shape["interleaved"] == 1 {
		r.style = ropeInterleaved
	}
	lengths := make([]int, tokens)
	for i := range lengths {
		lengths[i] = headsAt
	}
	each := heads + 2*kv
	var x, q []float32
	var norm *memory
	var seqs *sequences
	var store *cache
	kind := C.int(C.DG_ROPE)
	if kv > 0 {
		kind = (&cache{format: c.Format}).kind(C.DG_HEADS_BF16, C.DG_HEADS_FP8)
	}
	s, err := newChain(ctx, h, c, kind, 1, func(m maker, s *subject, _ int) ([]op, error) {
		var xAt, qAt *memory
		if xAt, x, err = s.float32s(tokens*each*dim, 2, 1); err != nil {
			return nil, err
		}
		if qAt, q, err = s.float32s(tokens*heads*dim, 2, 2); err != nil {
			return nil, err
		}
		table, rows, err := s.float32s(headsAt*dim, 1, 3)
		if err != nil {
			return nil, err
		}
		reference.RotaryTable(rows, headsAt, dim, reference.RotaryBase)
		r.table = table.at
		if norm, err = s.weights(2 * dim); err != nil {
			return nil, err
		}
		if seqs, err = newSequences(lengths, pageTokens, 4); err != nil {
			return nil, err
		}
		s.memory = append(s.memory, seqs.table, seqs.lengths)
		s.poison = q
		if kv == 0 {
			at := closely(xAt.at, heads, dim)
			o, err := m.rope(r, seqs, heads, dim, at, closely(qAt.at, heads, dim))
			return []op{o}, err
		}
		if store, err = newCache(cache{format: c.Format, heads: kv, dim: dim, page: pageTokens, pages: seqs.pages(lengths)}); err != nil {
			return nil, err
		}
		s.memory = append(s.memory, store.k, store.v)
		o, err := m.heads(heads, store, seqs, r, xAt.at, qAt.at, norm.at, 1e-6, 0)
		return []op{o}, err
	})
	if err != nil {
		return nil, err
	}
	s.verify = func(context.Context, int) (probes.Correctness, error) {
		head := func(token, head int, weights []uint16) []float64 {
			v := widen(x[(token*each+head)*dim:][:dim])
			if kv > 0 {
				v = reference.Normalised(v, weights, 1e-6, 0)
			}
			return rotated(v, r, headsAt-1, reference.RotaryBase)
		}
		w := of[uint16](norm)
		worst := s.compareRows(dim, q, func(at int) []float64 {
			return head(at/dim/heads, at/dim%heads, w[:dim])
		})
		for i := range tokens * kv {
			token, n := i/kv, i%kv
			row := seqs.row(store, token, n, headsAt-1)
			key := head(token, heads+n, w[dim:])
			value := widen(x[(token*each+heads+kv+n)*dim:][:dim])
			if err := store.holds(store.k, row, key); err != nil {
				return worst, fmt.Errorf("key %d of token %d: %w", n, token, err)
			}
			if err := store.holds(store.v, row, value); err != nil {
				return worst, fmt.Errorf("value %d of token %d: %w", n, token, err)
			}
			worst.Values += 2 * dim
		}
		return worst, nil
	}
	return s, nil
}

// closely are heads that lie close.
func closely(at unsafe.Pointer, heads, dim int) rows { return rows{at, heads * dim, dim} }
