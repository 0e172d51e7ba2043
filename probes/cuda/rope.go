//go:build cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/probes/reference"
)

// ropeDim is the kernel's head size; eight threads turn one.
const (
	ropeDim  = 128
	ropeEach = 8
)

// RoPE is the rotation of query and key heads.
var RoPE = probes.Probe{
	Name:    "cuda/rope",
	Doc:     "rotary embedding of query and key heads of 128 in BF16; its time is the result",
	Formula: inCache("4·M·(heads + kv_heads)·128 + 4·M·128"),
	Checked: "all values the nearest bfloat16 to float64",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		return headsCases(h, []headsShape{{"NeoX", 1, ""}, {"NeoX", 64, ""}, {"interleaved", 1, ""}, {"NeoX", 16, ""}, {"interleaved", 64, ""}})
	},
	Prepare: prepareHeads,
}

// KVWrite is the rotation with the write of a token's keys and values.
var KVWrite = probes.Probe{
	Name:    "cuda/kv_write",
	Doc:     "rotary embedding of query and key heads of 128, and the write of a token's keys and values into its page; its time is the result",
	Formula: inCache("2·M·(2·heads + 2·kv_heads)·128 + 2·M·kv_heads·128·(2 or 1) + 4·M·128"),
	Checked: "queries, stored keys and values the nearest to float64 that their format has",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		return headsCases(h, []headsShape{{"NeoX", 1, "BF16"}, {"NeoX", 1, "FP8"}, {"NeoX", 64, "BF16"}, {"NeoX", 64, "FP8"}, {"NeoX", 16, "BF16"}, {"interleaved", 1, "BF16"}, {"interleaved", 16, "FP8"}})
	},
	Prepare: prepareHeads,
}

// headsShape is 32 query heads on 8 of keys and values for m tokens, of which
// the cache has a format, or none is written.
type headsShape struct {
	style string
	m     int
	cache string
}

func headsCases(h probes.Host, shapes []headsShape) []probes.Case {
	var out []probes.Case
	for _, s := range shapes {
		c := probes.Case{
			Name:   fmt.Sprintf("%s, M=%d, 32/8 heads × %d", s.style, s.m, ropeDim),
			Shape:  map[string]int{"m": s.m, "heads": 32, "kv_heads": 8, "head_dim": ropeDim},
			Format: s.cache,
		}
		if s.cache != "" {
			c.Name = s.cache + ", " + c.Name
		}
		if s.style == "interleaved" {
			c.Shape["interleaved"] = 1
		}
		out = append(out, both(h, c)...)
	}
	return out
}

// The cache of the cases, as engines have it: tokens of a page, the most
// tokens of a sequence, and what a stored E4M3 stands for.
const (
	pageTokens = 16
	positions  = 4096
	keyScale   = 1. / 32
	valueScale = 1. / 16
)

// heads is a case's operands.
type heads struct {
	m, heads, kv int
	interleaved  bool
	format       string   // of the cache, "" where none is written
	x            []uint16 // queries, keys and values of each token
	position     []uint32
	slot         []uint32 // of the cache, in tokens
	memory       *driver.Memory
	store        int64 // bytes of all keys, or all values, behind the queries
}

func prepareHeads(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	s, err := newSmall(h, c)
	if err != nil {
		return nil, err
	}
	g := &heads{m: c.Shape["m"], heads: c.Shape["heads"], kv: c.Shape["kv_heads"], interleaved: c.Shape["interleaved"] == 1, format: c.Format}
	if c.Shape["head_dim"] != ropeDim {
		return nil, fmt.Errorf("%w: the rotation is written for heads of %d", probes.ErrUnsupported, ropeDim)
	}
	entry, all := "rope", g.heads+g.kv
	if g.format != "" {
		entry, all = "kv_write", g.heads+2*g.kv
	}
	entry += "_" + map[bool]string{false: "neox", true: "interleaved"}[g.interleaved]
	if g.format != "" {
		entry += "_" + strings.ToLower(g.format)
	}
	qkv, x := s.bf16s(g.m * (g.heads + 2*g.kv) * ropeDim)
	g.x = x
	// Each sequence at a place of its own; pages in no order, one a sequence.
	pages := 2 * g.m
	for i, page := range rand.Perm(pages)[:g.m] {
		g.position = append(g.position, uint32(rand.IntN(positions)))
		g.slot = append(g.slot, uint32(page*pageTokens+(i+int(g.position[i]))%pageTokens))
	}
	table := make([]float32, positions*ropeDim)
	reference.RotaryTable(table, positions, ropeDim, reference.RotaryBase)
	turns, at, slots := upload(s, table, 4), upload(s, g.position, 4), upload(s, g.slot, 4)
	queries := 2 * g.m * (g.heads + g.kv) * ropeDim
	if g.format != "" {
		queries = 2 * g.m * g.heads * ropeDim
		g.store = int64(pages * pageTokens * g.kv * ropeDim * map[string]int{"BF16": 2, "FP8": 1}[g.format])
	}
	g.memory = s.room(queries + 2*int(g.store))
	s.output = g.memory
	var variants []variant
	for _, threads := range []int{64, 128, 256} {
		variants = append(variants, variant{entry: entry, warps: threads / 32, resident: 1, blocks: (g.m*all*ropeEach + threads - 1) / threads})
	}
	return s.ready(ctx, "rope", orders(variants), func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		l := v.launch(k, v.blocks, qkv.Address(0), at.Address(0), turns.Address(0), g.memory.Address(0), uint32(g.m), uint32(g.heads), uint32(g.kv))
		if g.format != "" {
			l.Arg(slots.Address(0), g.memory.Address(int64(queries)), g.memory.Address(int64(queries)+g.store), uint32(pageTokens), float32(1/keyScale), float32(1/valueScale))
		}
		return []*driver.Launch{l}
	}, g.verify)
}

// verify checks every head, and that nothing else of the pages was written.
func (g *heads) verify() (probes.Correctness, error) {
	turned := g.heads + g.kv
	if g.format != "" {
		turned = g.heads
	}
	q, err := read[uint16](g.memory, 0, g.m*turned*ropeDim)
	if err != nil {
		return probes.Correctness{}, err
	}
	store, err := read[byte](g.memory, int64(2*len(q)), 2*int(g.store))
	if err != nil {
		return probes.Correctness{}, err
	}
	d := &distance{}
	stored := 0
	for token := range g.m {
		for head := range g.heads + 2*g.kv {
			want := widen(g.x[(token*(g.heads+2*g.kv)+head)*ropeDim:][:ropeDim])
			largest := largestOf(want)
			if head < g.heads+g.kv {
				want = reference.Rotated(want, ropeDim, g.interleaved, int(g.position[token]), reference.RotaryBase)
			}
			// A turn's error is that of its larger value.
			slack := 4e-7 * largest
			if head < turned {
				for i, w := range want {
					got := bf16(q[(token*turned+head)*ropeDim+i])
					if !(math.Abs(got-w) <= bf16Half*math.Abs(w)+slack) {
						return probes.Correctness{}, fmt.Errorf("token %d, head %d, value %d is %g, expected %g", token, head, i, got, w)
					}
					d.add(got, w)
				}
				continue
			}
			if g.format == "" {
				continue
			}
			part, scale, kv := store[:g.store], keyScale, head-g.heads
			if kv >= g.kv {
				part, scale, kv = store[g.store:], valueScale, kv-g.kv
			}
			slot := int(g.slot[token])
			row := ((slot/pageTokens*g.kv+kv)*pageTokens + slot%pageTokens) * ropeDim
			for i, w := range want {
				got, err := storedValue(g.format, part, row+i, w, scale, slack)
				if err != nil {
					return probes.Correctness{}, fmt.Errorf("token %d, head %d, value %d of the cache: expected %g: %w", token, head, i, w, err)
				}
				d.add(got, w)
				stored++
			}
		}
	}
	// Poison everywhere else.
	untouched := 0
	for _, v := range store {
		if v == poison {
			untouched++
		}
	}
	if size := stored * int(g.store) / max(1, len(g.slot)*2*pageTokens*g.kv*ropeDim); untouched < len(store)-size {
		return probes.Correctness{}, errors.New("the cache was written beside the tokens' slots")
	}
	bound := rowBounds["BF16"]
	if g.format == "FP8" {
		bound = rowBounds["FP8"]
	}
	return d.correctness(bound, "all values the nearest; no other slot written"), nil
}

// storedValue is a value of the cache, if it is the nearest that the format has.
func storedValue(format string, store []byte, at int, want, scale, slack float64) (float64, error) {
	if format == "FP8" {
		v, err := e4m3Codes.nearest(int(store[at]), want, scale)
		if err != nil && math.Abs(want) < scale { // among sub-normal numbers the turn's own error counts
			m := int(store[at] & 0x7f)
			if m < len(e4m3Codes) && math.Abs(math.Abs(want)-e4m3Codes[m]*scale) <= scale/1024+slack {
				return math.Copysign(e4m3Codes[m]*scale, want), nil
			}
		}
		return v, err
	}
	got := bf16(uint16(store[2*at]) | uint16(store[2*at+1])<<8)
	if !(math.Abs(got-want) <= bf16Half*math.Abs(want)+slack) {
		return got, fmt.Errorf("%g is not the nearest", got)
	}
	return got, nil
}
