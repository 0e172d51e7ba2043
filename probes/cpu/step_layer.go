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
	l.cache.fill(b.seed)
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
	f := d.Dense
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
	if err := b.add(roofline.Activation, op, err); err != nil {
		return err
	}
	l.down, l.bias[3], err = b.project(f.Down, b.active, b.added)
	return err
}

// mixture refuses: a step without its experts would look faster than any.
func (b *stepBuilder) mixture(*decode.Mixture, *stepLayer) error {
	return fmt.Errorf("%w: a mixture of experts in a step", probes.ErrUnsupported)
}
