//go:build cgo && linux

package cpu

// #include "weights.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"
)

// Weights is a rows × cols matrix in one of the packed formats, in memory
// outside the Go heap that somebody else owns.
type Weights struct {
	Format     Format
	Rows, Cols int
	Block      bool    // FP8: a scale for each 128×128, else for each row
	Global     float32 // what every product is multiplied with

	at     unsafe.Pointer
	scales []float32 // FP8, behind the weights
}

// weightsSize is the bytes of memory that a matrix takes, a multiple of 64.
func weightsSize(f Format, rows, cols int, block bool) int64 {
	size := f.packed(rows, cols)
	if f == FP8 {
		size += (4*int64(fp8Scales(f, rows, cols, block)) + 63) / 64 * 64
	}
	return size
}

// fp8Scales counts scales, those of padding included.
func fp8Scales(f Format, rows, cols int, block bool) int {
	if block {
		return (rows + 127) / 128 * f.chunks(cols)
	}
	return (rows + blockRows - 1) / blockRows * blockRows
}

// weightsAt describes the matrix in weightsSize bytes of memory, 64-byte
// aligned. Zero bytes are zero weights.
func weightsAt(at unsafe.Pointer, f Format, rows, cols int, block bool) (*Weights, error) {
	if rows < 1 || cols < 1 || rows > 1<<24 || cols > 1<<20 {
		return nil, fmt.Errorf("weights of %d × %d: rows must be 1…2²⁴, cols 1…2²⁰", rows, cols)
	}
	w := &Weights{Format: f, Rows: rows, Cols: cols, Block: block, Global: 1, at: at}
	if f == FP8 {
		w.scales = unsafe.Slice((*float32)(unsafe.Add(at, f.packed(rows, cols))), fp8Scales(f, rows, cols, block))
	}
	return w, nil
}

// fill sets an operation that writes random weights, the same for one seed.
func (w *Weights) fill(op *C.dg_op, seed uint64) {
	op.run = (C.dg_kernel)(C.dg_fill)
	op.rows, op.cols = C.int64_t(w.Rows), C.int64_t(w.Cols)
	op.n0, op.n1 = C.int64_t(w.Format), C.int64_t(seed)
	op.y = w.at
	if w.Format == FP8 {
		op.y2 = unsafe.Pointer(&w.scales[0])
	}
	if w.Block {
		op.n2 = 128
	}
}

// FillWeights fills matrices on the pool's threads, which so are the first to
// touch the memory they will read.
func (p *Pool) FillWeights(ctx context.Context, seed uint64, all ...*Weights) error {
	g := newProgram(1, len(all))
	defer g.free()
	for i, w := range all {
		w.fill(g.op(i), seed+uint64(i))
	}
	_, _, err := p.run(ctx, g, 0, len(all), false)
	return err
}

// linear is y = x · wᵀ for m tokens of Cols inputs and Rows outputs, rows of x
// and y dense, y float32.
type linear struct {
	m       int
	x, y    unsafe.Pointer
	bf16    bool // x is bf16, else float32
	add     bool // y += …
	scratch unsafe.Pointer
}

// op sets an operation. scratch is scratchSize bytes, which operations of one
// program may share: each makes its inputs ready anew.
func (w *Weights) op(op *C.dg_op, k weightKernel, l linear) {
	op.run = (C.dg_kernel)(C.dg_gemv)
	op.how = k.c
	op.m, op.rows, op.cols = C.int64_t(l.m), C.int64_t(w.Rows), C.int64_t(w.Cols)
	op.w, op.x, op.y, op.scratch = w.at, l.x, l.y, l.scratch
	op.f0 = C.float(w.Global)
	if w.Format == FP8 {
		op.s = unsafe.Pointer(&w.scales[0])
		if w.Block {
			op.n0 = 128
		}
	}
	if l.bf16 {
		op.n3 |= C.DG_X_BF16
	}
	if l.add {
		op.n3 |= C.DG_ADD
	}
}

// scratchSize is the bytes of scratch that an operation of m tokens and cols
// inputs needs on so many threads.
func (k weightKernel) scratchSize(m, cols, threads int) int64 {
	return int64(threads) * int64(C.dg_gemv_scratch(k.c, C.int64_t(m), C.int64_t(cols)))
}
