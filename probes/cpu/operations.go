//go:build cgo && linux

package cpu

// #cgo LDFLAGS: -lm
// #include "attention.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"decodegap/probes"
)

// op is one operation as the kernels take it. Tests cannot import C.
type op = C.dg_op

// maker makes operations for an instruction set and a number of threads.
// Activations are float32 rows in C memory; every operation ends with a
// barrier, so the next one of a program may read what it wrote.
type maker struct {
	isa     string // empty: the best there is for each kind
	threads int
}

// op is an operation of a kind with nothing else set.
func (m maker) op(kind C.int) (op, error) {
	_, run, err := choose(kind, m.isa)
	return C.dg_op{run: run}, err
}

// attention is decode attention's shape beyond its cache's.
type attention struct {
	heads  int
	window int     // tokens seen, 0: all
	scale  float32 // of the scores, 0: 1/√dim
}

// attentionWritten says why an instruction set has no attention.
func attentionWritten(isa string) error {
	_, _, err := choose(C.DG_ATTENTION_BF16, isa)
	return err
}

// tileBytes is what a thread works with in matrix tiles, for keys and values of
// dim.
func tileBytes(heads, kv, dim int) int64 {
	o := C.dg_op{rows: C.int64_t(heads), n0: C.int64_t(max(1, kv)), cols: C.int64_t(dim), n4: C.int64_t(dim)}
	return 4 * int64(C.dg_tile_work(&o))
}

// fastest names the instruction set of attention where the best one is not the
// fastest, else it is empty. Tiles serve few heads no better than one: one to
// three query heads of a KV head leave them mostly empty, and converting FP8 for
// tiles takes longer than four heads save.
func (a attention) fastest(c *cache) string {
	least := 4
	if c.format == "FP8" {
		least = 5
	}
	if a.heads < least*c.heads && AMX.Has() {
		return AVX512.String()
	}
	return ""
}

func (m maker) attentionOp(kind C.int, a attention, c *cache, s *sequences) (op, error) {
	if m.isa == "" {
		m.isa = a.fastest(c)
	}
	op, err := m.op(kind)
	if err != nil {
		return op, err
	}
	if a.heads < 1 || a.heads%c.heads != 0 {
		return op, fmt.Errorf("%d query heads over %d KV heads", a.heads, c.heads)
	}
	if m.threads > C.DG_PARTS {
		return op, fmt.Errorf("%w: attention in %d parts: %d are the most", probes.ErrUnsupported, m.threads, C.DG_PARTS)
	}
	if a.scale == 0 {
		a.scale = float32(1 / math.Sqrt(float64(c.dim)))
	}
	op.m, op.rows, op.cols = C.int64_t(s.n), C.int64_t(a.heads), C.int64_t(c.dim)
	op.n0, op.n1, op.n2 = C.int64_t(c.heads), C.int64_t(c.page), C.int64_t(a.window)
	op.n3, op.n4 = C.int64_t(s.most), C.int64_t(c.valueDim)
	op.w, op.s, op.x2, op.x3 = c.k.at, c.values(), s.table.at, s.lengths.at
	op.f0, op.f1 = C.float(a.scale*c.kScale), C.float(c.vScale)
	return op, nil
}

// attentionScratch is the bytes that attention needs beside its operands; a
// program may use one scratch for all layers.
func (m maker) attentionScratch(a attention, c *cache, s *sequences) (int64, error) {
	op, err := m.attentionOp(c.kind(C.DG_ATTENTION_BF16, C.DG_ATTENTION_FP8), a, c, s)
	return int64(C.dg_attention_scratch(&op, C.int(m.threads))), err
}

// attention reads the cache once for queries q [sequences][heads][dim] and
// writes out [sequences][heads][value dim]: two operations, the second adds up
// what several threads had of one head.
func (m maker) attention(a attention, c *cache, s *sequences, q, out, scratch unsafe.Pointer) ([]op, error) {
	ops := make([]op, 2)
	for i, kind := range []C.int{c.kind(C.DG_ATTENTION_BF16, C.DG_ATTENTION_FP8), c.kind(C.DG_MERGE_BF16, C.DG_MERGE_FP8)} {
		op, err := m.attentionOp(kind, a, c, s)
		if err != nil {
			return nil, err
		}
		op.x, op.y, op.scratch = q, out, scratch
		ops[i] = op
	}
	return ops, nil
}

// Rotary styles.
const (
	ropeNone        = C.DG_ROPE_NONE
	ropeNeoX        = C.DG_ROPE_NEOX        // pairs (i, i + half)
	ropeInterleaved = C.DG_ROPE_INTERLEAVED // pairs (2i, 2i + 1)
)

// rope is a rotary embedding of a head's first dims values (of a latent's
// last). The zero value rotates nothing.
type rope struct {
	style int
	dims  int
	table unsafe.Pointer // float32 [position][dims]: reference.RotaryTable
}

func (r rope) set(op *C.dg_op, dim int) error {
	if r.style == ropeNone {
		return nil
	}
	if r.dims < 2 || r.dims%2 != 0 || r.dims > dim {
		return fmt.Errorf("rotation of %d of %d values", r.dims, dim)
	}
	op.n2, op.n5, op.x5 = C.int64_t(r.style), C.int64_t(r.dims), r.table
	return nil
}

// heads takes projected heads [sequences][heads + 2·KV heads][dim] (queries,
// keys, values): queries go to q, keys and values into the cache at each
// sequence's last token. norm, if not nil, holds the BF16 weights of the
// query norm, then of the key norm, dim each, to which offset is added.
func (m maker) heads(heads int, c *cache, s *sequences, r rope, qkv, q, norm unsafe.Pointer, epsilon, offset float32) (op, error) {
	op, err := m.op(c.kind(C.DG_HEADS_BF16, C.DG_HEADS_FP8))
	if err != nil {
		return op, err
	}
	if c.latent {
		return op, fmt.Errorf("heads into a cache of latents")
	}
	op.rows, op.n0 = C.int64_t(heads), C.int64_t(c.heads)
	op.x, op.y, op.x4, op.y3 = qkv, q, norm, c.v.at
	op.f1 = C.float(1 / c.vScale)
	c.append(&op, s, epsilon, offset)
	return op, r.set(&op, c.dim)
}

// append sets what writing the last token of each sequence needs.
func (c *cache) append(op *C.dg_op, s *sequences, epsilon, offset float32) {
	op.m, op.cols, op.n1, op.n3 = C.int64_t(s.n), C.int64_t(c.dim), C.int64_t(c.page), C.int64_t(s.most)
	op.x2, op.x3, op.y2 = s.table.at, s.lengths.at, c.k.at
	op.f0, op.f2, op.f3 = C.float(1/c.kScale), C.float(epsilon), C.float(offset)
}

// latent takes compressed rows [sequences][dim]: the first values are
// normalised with the BF16 weights norm, the rest rotated, and both appended.
func (m maker) latent(c *cache, s *sequences, r rope, x, norm unsafe.Pointer, epsilon, offset float32) (op, error) {
	op, err := m.op(c.kind(C.DG_LATENT_BF16, C.DG_LATENT_FP8))
	if err != nil {
		return op, err
	}
	if !c.latent || norm == nil {
		return op, fmt.Errorf("a latent row needs a cache of latents and the weights of its norm")
	}
	op.x, op.x4, op.n4 = x, norm, C.int64_t(c.valueDim)
	c.append(&op, s, epsilon, offset)
	return op, r.set(&op, c.dim-c.valueDim)
}

// rows says where heads lie: so many values from token to token and from head
// to head.
type rows struct {
	at          unsafe.Pointer
	token, head int
}

// rope rotates heads of dim values from x to y, which may be the same.
func (m maker) rope(r rope, s *sequences, heads, dim int, x, y rows) (op, error) {
	op, err := m.op(C.DG_ROPE)
	op.m, op.rows, op.cols = C.int64_t(s.n), C.int64_t(heads), C.int64_t(dim)
	op.n0, op.n1, op.n3, op.n4 = C.int64_t(x.token), C.int64_t(x.head), C.int64_t(y.token), C.int64_t(y.head)
	op.x, op.y, op.x3 = x.at, y.at, s.lengths.at
	if err == nil {
		err = r.set(&op, dim)
	}
	return op, err
}

// norm is RMSNorm of tokens rows of size values: y = (x + add)·r·(w + offset),
// and sum = x + add. add and sum may be nil; sum must be neither x nor add,
// since every thread reads all of them.
func (m maker) norm(tokens, size int, x, add, w, y, sum unsafe.Pointer, epsilon, offset float32) (op, error) {
	op, err := m.op(C.DG_NORM)
	if err == nil && sum != nil && (sum == x || sum == add) {
		err = fmt.Errorf("the sum of a norm over its own input")
	}
	op.m, op.cols = C.int64_t(tokens), C.int64_t(size)
	op.x, op.x2, op.w, op.y, op.y2 = x, add, w, y, sum
	op.f0, op.f1 = C.float(epsilon), C.float(offset)
	return op, err
}

// add is y = a + b over n values; y may be a or b.
func (m maker) add(n int, a, b, y unsafe.Pointer) (op, error) {
	op, err := m.op(C.DG_SUM)
	op.m, op.cols, op.x, op.x2, op.y = 1, C.int64_t(n), a, b, y
	return op, err
}

// Activations of a gate.
const (
	silu = C.DG_SILU
	gelu = C.DG_GELU // in its tanh form
)

// activate is y = f(gate)·up, f being silu or gelu; rows of gate and of up
// begin stride values apart: 2·size where they are halves of one row.
func (m maker) activate(f, tokens, size, stride int, gate, up, y unsafe.Pointer) (op, error) {
	op, err := m.op(C.DG_ACTIVATE)
	op.m, op.cols, op.n0, op.n1 = C.int64_t(tokens), C.int64_t(size), C.int64_t(stride), C.int64_t(f)
	op.x, op.x2, op.y = gate, up, y
	return op, err
}

// embed is y[token] = row ids[token] of the BF16 table, ids being int32.
func (m maker) embed(tokens, size int, table, ids, y unsafe.Pointer) (op, error) {
	op, err := m.op(C.DG_EMBED)
	op.m, op.cols, op.w, op.x, op.y = C.int64_t(tokens), C.int64_t(size), table, ids, y
	return op, err
}
