//go:build cgo && linux

package cpu

// #include "weights.h"
import "C"

import (
	"fmt"
	"unsafe"

	"decodegap/probes"
	"decodegap/probes/decode"
	"decodegap/roofline"
)

// fused is several matrices of the same inputs as one operation, the way
// engines run them; they must be stored alike.
func fused(ms ...decode.Matrix) (decode.Matrix, error) {
	all := ms[0]
	for _, m := range ms[1:] {
		if m.Format != all.Format || m.Cols != all.Cols {
			return all, fmt.Errorf("%w: %s and %s weights in one projection", probes.ErrUnsupported, all.Format, m.Format)
		}
		all.Rows += m.Rows
		all.Bytes += m.Bytes
		all.Bias = all.Bias || m.Bias
	}
	return all, nil
}

// project appends a projection with weights of its own, and its bias.
func (b *stepBuilder) project(m decode.Matrix, x, y unsafe.Pointer) (*Weights, *memory, error) {
	w, err := b.weights(m.Format, m.Rows, m.Cols)
	if err != nil {
		return nil, nil, err
	}
	if err := b.linear(m, w, x, y); err != nil || !m.Bias {
		return w, nil, err
	}
	bias, err := b.floats(m.Rows)
	if err != nil {
		return nil, nil, err
	}
	fillActivations(of[float32](bias)[:m.Rows], b.seed)
	for t := range b.options.Batch {
		row := unsafe.Add(y, 4*t*m.Rows)
		op, err := b.make.add(m.Rows, row, bias.at, row)
		if err := b.add(m.Component, op, err); err != nil {
			return nil, nil, err
		}
	}
	return w, bias, nil
}

// attend appends the attention of one layer, from b.normal to b.added.
func (b *stepBuilder) attend(a decode.Attention) error {
	l := stepLayer{}
	qkv, err := fused(a.Q, a.K, a.V)
	if err != nil {
		return err
	}
	if l.qkv, l.bias[0], err = b.project(qkv, b.normal, b.qkv); err != nil {
		return err
	}
	if l.cache, err = newCache(b.shape(a)); err != nil {
		return err
	}
	b.caches = append(b.caches, l.cache)
	b.seed++
	if err := l.cache.fillBy(b.ctx, b.pool, b.seed); err != nil {
		return err
	}
	if a.NormQK {
		l.headNorm = b.normed.at
	}
	// Rotation and the write to the cache are one operation; the floor counts
	// that write with attention.core.
	op, err := b.make.heads(a.Heads, l.cache, b.batch, b.rope, b.qkv, b.q, l.headNorm, stepEpsilon, 0)
	if err := b.add(roofline.Rope, op, err); err != nil {
		return err
	}
	ops, err := b.make.attention(b.attention(a), l.cache, b.batch, b.q, b.attended, b.scratch)
	if err := b.addAll(roofline.AttentionCore, ops, err); err != nil {
		return err
	}
	if l.out, l.bias[1], err = b.project(a.O, b.attended, b.added); err != nil {
		return err
	}
	b.layers = append(b.layers, l)
	return nil
}

// feedForward appends the block behind the second norm.
func (b *stepBuilder) feedForward(d *decode.Layer) error {
	l := &b.layers[len(b.layers)-1]
	if d.Dense == nil {
		return b.mixture(d.Mixture, l)
	}
	return b.gatedBlock(d.Dense, l, false)
}

// gatedBlock appends gate, up, activation and down, onto what is in b.added
// already where onto.
func (b *stepBuilder) gatedBlock(f *decode.FeedForward, l *stepLayer, onto bool) error {
	if f.Gate == nil {
		return fmt.Errorf("%w: a feed-forward block without a gate", probes.ErrUnsupported)
	}
	m, err := fused(*f.Gate, f.Up)
	if err != nil {
		return err
	}
	if l.upGate, l.bias[2], err = b.project(m, b.normal, b.wide); err != nil {
		return err
	}
	size := f.Up.Rows
	op, err := b.make.activate(silu, b.options.Batch, size, m.Rows, b.wide, unsafe.Add(b.wide, 4*size), b.active)
	if err := b.add(activationOf(f.Up.Component), op, err); err != nil {
		return err
	}
	first := len(b.ops)
	if l.down, l.bias[3], err = b.project(f.Down, b.active, b.added); err != nil {
		return err
	}
	if onto {
		b.ops[first].n3 |= C.DG_ADD
	}
	return nil
}

// activationOf is the component of the activation behind a block: its own in
// a shared expert, whose kernels belong together.
func activationOf(c roofline.Component) roofline.Component {
	if c == roofline.MoEShared {
		return c
	}
	return roofline.Activation
}

// mixture appends a layer's router, its routed experts and its shared one.
func (b *stepBuilder) mixture(d *decode.Mixture, l *stepLayer) error {
	if d.SharedGate || d.Expert.Gate == nil || d.Shared != nil && d.Shared.Gate == nil {
		return fmt.Errorf("%w: experts without a gate matrix, or a gated shared expert", probes.ErrUnsupported)
	}
	if d.Expert.Gate.Format != d.Expert.Down.Format || d.Expert.Up.Format != d.Expert.Down.Format {
		return fmt.Errorf("%w: experts in several formats", probes.ErrUnsupported)
	}
	m := b.options.Batch
	var err error
	if l.router, _, err = b.project(d.Router, b.normal, b.scores); err != nil {
		return err
	}
	if l.chosen, err = b.floats(m * d.TopK); err != nil {
		return err
	}
	// Softmax over all, renormalised over the chosen; other scorings cost the same.
	op, err := b.make.route(router{experts: d.Experts, topK: d.TopK, renormalise: true}, m, b.scores, nil, l.chosen.at, b.shares)
	if err := b.add(roofline.MoERouter, op, err); err != nil {
		return err
	}
	if l.experts, err = b.experts(d); err != nil {
		return err
	}
	k, _, err := b.kernel(d.Expert.Down.Format)
	if err != nil {
		return err
	}
	var up, down C.dg_op
	l.experts.ops(&up, &down, k, routed{m: m, top: d.TopK, x: b.normal, y: b.added, experts: l.chosen.at, weights: b.shares,
		inner: b.inner, scratch: b.scratch})
	if err := b.addAll(roofline.MoEExperts, []C.dg_op{up, down}, nil); err != nil {
		return err
	}
	if d.Shared == nil {
		return nil
	}
	return b.gatedBlock(d.Shared, l, true)
}

// experts makes a layer's random experts.
func (b *stepBuilder) experts(d *decode.Mixture) (*Experts, error) {
	f, _, err := stepFormat(d.Expert.Down.Format)
	if err != nil {
		return nil, err
	}
	inter := d.Expert.Up.Rows
	size, err := expertsSize(f, d.Experts, inter, b.plan.Hidden)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", probes.ErrUnsupported, err)
	}
	m, err := b.reserve(size)
	if err != nil {
		return nil, err
	}
	e, err := expertsAt(m.at, f, d.Experts, inter, b.plan.Hidden)
	if err != nil {
		return nil, err
	}
	b.seed += 2
	if err := b.pool.FillWeights(b.ctx, b.seed, e.matrices()...); err != nil {
		return nil, err
	}
	e.up.Global, e.down.Global = e.up.spread(), e.down.spread()
	return e, nil
}
