//go:build cgo && linux

package cpu

// #include "weights.h"
import "C"

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"decodegap/probes/decode"
	"decodegap/probes/reference"
	"decodegap/roofline"
)

// stepBuilder lays out one copy after another; all have the same values, so
// that their logits must be the same bits.
type stepBuilder struct {
	*Step
	ctx  context.Context
	make maker
	seed uint64

	ops []C.dg_op // of the copy at hand
	at  []roofline.Component

	first, behind int // operations of the layers that are checked, and of all layers

	// Activations, shared by all copies and layers.
	sums            [2]unsafe.Pointer // the residual stream, in turn
	turn            int
	normal, qkv, q  unsafe.Pointer
	attended, added unsafe.Pointer
	wide, active    unsafe.Pointer
	scores, shares  unsafe.Pointer // of a router: logits, weights of the chosen
	inner           unsafe.Pointer // between an expert's matrices
	scratch         unsafe.Pointer
}

func (b *stepBuilder) build() error {
	b.make = maker{isa: width(b.options.ISA), threads: b.pool.Threads()}
	b.times = map[roofline.Component][]float64{}
	if err := b.shared(); err != nil {
		return err
	}
	for i := range b.copies {
		b.ops, b.at, b.seed, b.turn = nil, nil, 1, 0
		b.layers = nil
		if err := b.copy(); err != nil {
			return err
		}
		if i == 0 {
			b.program.free()
			b.program = newProgram(len(b.ops), b.copies)
			b.components = b.at
		}
		for k, op := range b.ops {
			*b.program.op(i*len(b.ops) + k) = op
		}
	}
	b.cut = newProgram(b.first+len(b.ops)-b.behind, 1)
	for k, op := range append(slices.Clone(b.ops[:b.first]), b.ops[b.behind:]...) {
		*b.cut.op(k) = op
	}
	return nil
}

// floats allocates n float32 values.
func (b *stepBuilder) floats(n int) (*memory, error) { return b.reserve(int64(4 * n)) }

// shared allocates what all layers use in turn.
func (b *stepBuilder) shared() error {
	p, m := b.plan, b.options.Batch
	lengths := make([]int, m)
	for i := range lengths {
		lengths[i] = b.options.Context + 1
	}
	var err error
	if b.batch, err = newSequences(lengths, stepPage, 1); err != nil {
		return err
	}
	most := sizesOf(p)
	for _, a := range []struct {
		to   *unsafe.Pointer
		size int
	}{
		{&b.sums[0], p.Hidden}, {&b.sums[1], p.Hidden}, {&b.normal, p.Hidden}, {&b.qkv, most.heads}, {&b.q, most.heads},
		{&b.attended, most.heads}, {&b.added, p.Hidden}, {&b.wide, 2 * most.wide}, {&b.active, most.wide},
		{&b.scores, most.experts}, {&b.shares, most.chosen}, {&b.inner, most.inner},
	} {
		m, err := b.floats(m * a.size)
		if err != nil {
			return err
		}
		*a.to = m.at
	}
	if b.hidden, err = b.floats(m * p.Hidden); err != nil {
		return err
	}
	fillActivations(of[float32](b.hidden)[:m*p.Hidden], 11)
	if b.logits, err = b.floats(m * p.Vocab); err != nil {
		return err
	}
	if b.ids, err = b.floats(m); err != nil {
		return err
	}
	// Norm weights are ones: BF16, two bytes each, read like any others.
	if b.normed, err = b.reserve(int64(2 * max(p.Hidden, 2*most.dim))); err != nil {
		return err
	}
	for i := range of[uint16](b.normed) {
		of[uint16](b.normed)[i] = 0x3f80
	}
	table, err := b.floats((b.options.Context + 1) * most.dim)
	if err != nil {
		return err
	}
	for at := 0; at <= b.options.Context; at += ropeRows {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		reference.RotaryRows(of[float32](table)[at*most.dim:], at, min(ropeRows, b.options.Context+1-at), most.dim, stepRopeBase)
	}
	b.rope = rope{style: ropeNeoX, dims: most.dim, table: table.at}
	return b.scratchOf()
}

// ropeRows is how many positions of the rotary table are filled between two
// looks at the context.
const ropeRows = 1 << 12

// scratchOf allocates the largest scratch of any operation.
func (b *stepBuilder) scratchOf() error {
	size := b.make.argmaxScratch(b.options.Batch)
	for _, m := range b.plan.Matrices() {
		k, _, err := b.kernel(m.Format)
		if err != nil {
			return err
		}
		size = max(size, k.scratchSize(b.options.Batch, m.Cols, b.pool.Threads()))
	}
	for _, l := range b.plan.Layers {
		c := b.shape(l.Attention)
		c.k = &memory{} // only its shape is asked for
		s, err := b.make.attentionScratch(b.attention(l.Attention), &c, b.batch)
		if err != nil {
			return err
		}
		size = max(size, s)
	}
	m, err := b.reserve(size)
	if err == nil {
		b.scratch = m.at
	}
	return err
}

func (b *stepBuilder) kernel(format string) (weightKernel, bool, error) {
	f, block, err := stepFormat(format)
	if err != nil {
		return weightKernel{}, false, err
	}
	if k, ok := b.kernels[f]; ok {
		return k, block, nil
	}
	k, err := f.kernel(b.options.ISA)
	if err == nil {
		b.kernels[f] = k
	}
	return k, block, err
}

func (b *stepBuilder) shape(a decode.Attention) cache {
	c := cache{format: "BF16", heads: a.KVHeads, dim: a.HeadDim, valueDim: a.HeadDim, page: stepPage}
	c.kScale, c.vScale = 1, 1
	if b.options.KV == roofline.FP8 {
		c.format = "FP8"
	}
	c.pages = b.batch.n * ((b.options.Context + stepPage) / stepPage)
	return c
}

func (b *stepBuilder) attention(a decode.Attention) attention {
	return attention{heads: a.Heads, window: a.Window}
}

// add appends an operation of a component.
func (b *stepBuilder) add(c roofline.Component, op C.dg_op, err error) error {
	if err != nil {
		return fmt.Errorf("%s of %s: %w", c, b.plan.Name, err)
	}
	b.ops, b.at = append(b.ops, op), append(b.at, c)
	return nil
}

func (b *stepBuilder) addAll(c roofline.Component, ops []C.dg_op, err error) error {
	for _, op := range ops {
		if err := b.add(c, op, err); err != nil {
			return err
		}
	}
	return err
}

// weights makes a random matrix of rows × cols.
func (b *stepBuilder) weights(format string, rows, cols int) (*Weights, error) {
	k, block, err := b.kernel(format)
	if err != nil {
		return nil, err
	}
	f := k.format()
	m, err := b.reserve(weightsSize(f, rows, cols, block))
	if err != nil {
		return nil, err
	}
	w, err := weightsAt(m.at, f, rows, cols, block)
	if err != nil {
		return nil, err
	}
	b.seed++
	if err := b.pool.FillWeights(b.ctx, b.seed, w); err != nil {
		return nil, err
	}
	w.Global = w.spread()
	return w, nil
}

// linear appends y = x·wᵀ, with a random bias where biased.
func (b *stepBuilder) linear(m decode.Matrix, w *Weights, x, y unsafe.Pointer) error {
	var op C.dg_op
	k, _, err := b.kernel(m.Format)
	if err != nil {
		return err
	}
	w.op(&op, k, linear{m: b.options.Batch, x: x, y: y, scratch: b.scratch})
	return b.add(m.Component, op, nil)
}

// norm appends y = RMSNorm(sum of the stream and of what a block added).
func (b *stepBuilder) norm(added unsafe.Pointer) error {
	from, to := b.sums[b.turn], b.sums[1-b.turn]
	if added == nil { // the first norm reads the embeddings as they are
		op, err := b.make.norm(b.options.Batch, b.plan.Hidden, b.hidden.at, nil, b.normed.at, b.normal, to, stepEpsilon, 0)
		b.turn = 1 - b.turn
		return b.add(roofline.Norm, op, err)
	}
	op, err := b.make.norm(b.options.Batch, b.plan.Hidden, from, added, b.normed.at, b.normal, to, stepEpsilon, 0)
	b.turn = 1 - b.turn
	return b.add(roofline.Norm, op, err)
}

// copy builds all operations over operands of their own.
func (b *stepBuilder) copy() error {
	var added unsafe.Pointer
	for i := range b.plan.Layers {
		l := &b.plan.Layers[i]
		if err := b.norm(added); err != nil {
			return err
		}
		if err := b.attend(l.Attention); err != nil {
			return err
		}
		if err := b.norm(b.added); err != nil {
			return err
		}
		if err := b.feedForward(l); err != nil {
			return err
		}
		added = b.added
		if b.behind = len(b.ops); i < verifiedLayers {
			b.first = b.behind
		}
	}
	if err := b.norm(added); err != nil {
		return err
	}
	var err error
	h := b.plan.Head
	if b.head, err = b.weights(h.Format, h.Rows, h.Cols); err != nil {
		return err
	}
	if err := b.linear(h, b.head, b.normal, b.logits.at); err != nil {
		return err
	}
	ops, err := b.make.argmax(b.options.Batch, b.plan.Vocab, b.logits.at, b.ids.at, b.scratch)
	return b.addAll(roofline.Sampling, ops, err)
}

// width is the instruction set of operations that no set of matrix
// instructions changes.
func width(isa string) string {
	switch isa {
	case VNNI.String(), BF16.String(), AMX.String():
		return AVX512.String()
	}
	return isa
}
