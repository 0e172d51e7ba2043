//go:build cgo && linux

package cpu

// #include "weights.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Experts are the weights of a layer's routed experts in memory that somebody
// else owns: of each a gate and an up matrix of inter × hidden, 16 rows of the
// one and 16 of the other in a block, and a down matrix of hidden × inter.
type Experts struct {
	Format               Format
	Count, Inter, Hidden int

	up, down *Weights // all experts' rows, each expert in whole blocks
}

// expertsShape checks a shape and returns the packed rows of one expert.
func expertsShape(f Format, count, inter, hidden int) (up, down int, err error) {
	if count < 1 || inter < 16 || inter%16 != 0 || hidden < 1 || int64(count)*int64(inter+hidden) > 1<<23 {
		return 0, 0, fmt.Errorf("%d experts of %d × %d: the inner size must be a multiple of 16", count, inter, hidden)
	}
	return 2 * inter, (hidden + blockRows - 1) / blockRows * blockRows, nil
}

// expertsSize is the bytes of memory that the experts take.
func expertsSize(f Format, count, inter, hidden int) (int64, error) {
	up, down, err := expertsShape(f, count, inter, hidden)
	return weightsSize(f, count*up, hidden, false) + weightsSize(f, count*down, inter, false), err
}

// expertsAt describes experts in expertsSize bytes of memory, 64-byte aligned.
func expertsAt(at unsafe.Pointer, f Format, count, inter, hidden int) (*Experts, error) {
	up, down, err := expertsShape(f, count, inter, hidden)
	if err != nil {
		return nil, err
	}
	e := &Experts{Format: f, Count: count, Inter: inter, Hidden: hidden}
	if e.up, err = weightsAt(at, f, count*up, hidden, false); err != nil {
		return nil, err
	}
	e.down, err = weightsAt(unsafe.Add(at, weightsSize(f, count*up, hidden, false)), f, count*down, inter, false)
	return e, err
}

// matrices are what FillWeights fills.
func (e *Experts) matrices() []*Weights { return []*Weights{e.up, e.down} }

// bytes is what a number of experts take, without padding.
func (e *Experts) bytes(experts int) int64 {
	return expertBytes(e.Format, experts, e.Inter, e.Hidden)
}

func expertBytes(f Format, experts, inter, hidden int) int64 {
	return int64(experts) * (f.bytes(2*inter, hidden, false) + f.bytes(hidden, inter, false))
}

// routed is y = Σ weight · expert(x) for m tokens, each of top experts.
type routed struct {
	m, top  int
	x, y    unsafe.Pointer // [m][hidden], y float32
	experts unsafe.Pointer // int32 [m][top]
	weights unsafe.Pointer // float32 [m][top]
	inner   unsafe.Pointer // float32 [m·top][inter]
	bf16    bool           // x is bf16, else float32
	add     bool           // y += …
	scratch unsafe.Pointer // expertsScratch bytes
}

// ops sets two operations that follow one another.
func (e *Experts) ops(up, down *C.dg_op, k weightKernel, r routed) {
	inner := linear{m: r.m, x: r.x, y: r.inner, bf16: r.bf16, scratch: r.scratch}
	e.up.op(up, k, inner)
	up.run, up.rows = (C.dg_kernel)(C.dg_experts_up), C.int64_t(e.Inter)
	outer := linear{m: r.m, x: r.inner, y: r.y, add: r.add, scratch: r.scratch}
	e.down.op(down, k, outer)
	down.run, down.rows = (C.dg_kernel)(C.dg_experts_down), C.int64_t(e.Hidden)
	for _, op := range []*C.dg_op{up, down} {
		op.n0, op.n1, op.x2, op.x3 = C.int64_t(r.top), C.int64_t(e.Count), r.experts, r.weights
	}
}

// expertsScratch is the bytes of scratch for m tokens on so many threads.
func (e *Experts) expertsScratch(k weightKernel, m, threads int) int64 {
	m = min(m, MaxTokens)
	return max(k.scratchSize(m, e.Hidden, threads), k.scratchSize(m, e.Inter, threads))
}

// gateRow and upRow are the packed rows of output i of an expert.
func (e *Experts) gateRow(expert, i int) int { return expert*2*e.Inter + i/16*32 + i%16 }
func (e *Experts) upRow(expert, i int) int   { return e.gateRow(expert, i) + 16 }

func (e *Experts) downRow(expert, i int) int { return expert*(e.down.Rows/e.Count) + i }
