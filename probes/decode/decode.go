// Package decode lays a model out as what a decode step runs: the layers in
// their order, each matrix with its rows and columns. The attainable step is
// built from it. It refuses a model with a part it has no place for, naming
// the part: a step that leaves work out would look faster than any that can be.
package decode

import (
	"fmt"
	"strings"

	"decodegap/probes"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Matrix is a projection: Rows outputs of Cols inputs, stored in Format.
type Matrix struct {
	Component  roofline.Component
	Rows, Cols int
	Format     string // "NVFP4", "BF16", …
	Bytes      unit.Bytes
	Bias       bool // a vector of Rows is added to the outputs
}

// Attention is grouped-query attention of one layer.
type Attention struct {
	Q, K, V, O              Matrix
	Heads, KVHeads, HeadDim int
	Window                  int  // sliding window in tokens, 0 for none
	NormQK                  bool // queries and keys are normalised by head
}

// FeedForward is a dense block, or the shared expert of a mixture.
type FeedForward struct {
	Gate     *Matrix // nil without a gate
	Up, Down Matrix
}

// Mixture is a layer's routed experts; each has the matrices of Expert.
type Mixture struct {
	Router        Matrix
	Experts, TopK int
	Expert        FeedForward
	Shared        *FeedForward
	SharedGate    bool
}

// Layer is one decoder block: attention, then a dense block or a mixture.
type Layer struct {
	Attention Attention
	Dense     *FeedForward
	Mixture   *Mixture
}

// Plan is a decode step.
type Plan struct {
	Name          string
	Hidden, Vocab int
	Layers        []Layer
	Head          Matrix
}

// Point is the operating point of a step.
type Point struct {
	Batch   int
	Context int            // tokens in the cache of every sequence before the step
	KV      roofline.DType // of the cache: BF16 or FP8
}

// Of lays out a decoder. An error wraps probes.ErrUnsupported and names the
// part that has no place.
func Of(d *roofline.Decoder) (*Plan, error) {
	p := &Plan{Name: d.Name, Hidden: d.Hidden, Vocab: d.Vocab}
	at := byLayer(d)
	for i := range d.Layers {
		l, err := layer(d, at[i])
		if err != nil {
			return nil, fmt.Errorf("%w: layer %d of %s %w", probes.ErrUnsupported, i, d.Name, err)
		}
		p.Layers = append(p.Layers, l)
	}
	for _, t := range at[roofline.Ends].tensors {
		if t.Role == roofline.RoleHead && t.Matrix {
			p.Head = Matrix{Component: roofline.LMHead, Rows: d.Vocab, Cols: d.Hidden, Format: t.Format, Bytes: t.Bytes}
		}
	}
	if p.Head.Rows == 0 {
		return nil, fmt.Errorf("%w: %s has no output head", probes.ErrUnsupported, d.Name)
	}
	return p, nil
}

// Matrices lists all that one step may read, all experts included.
func (p *Plan) Matrices() []Matrix {
	var all []Matrix
	for _, l := range p.Layers {
		all = append(all, l.Attention.Q, l.Attention.K, l.Attention.V, l.Attention.O)
		if l.Dense != nil {
			all = append(all, l.Dense.Matrices()...)
		}
		if m := l.Mixture; m != nil {
			all = append(all, m.Router)
			for range m.Experts {
				all = append(all, m.Expert.Matrices()...)
			}
			if m.Shared != nil {
				all = append(all, m.Shared.Matrices()...)
			}
		}
	}
	return append(all, p.Head)
}

// Matrices lists the block's matrices: gate if any, up, down.
func (f FeedForward) Matrices() []Matrix {
	if f.Gate == nil {
		return []Matrix{f.Up, f.Down}
	}
	return []Matrix{*f.Gate, f.Up, f.Down}
}

// Formats lists the weight formats of a step, in the order they are met.
func (p *Plan) Formats() []string {
	var out []string
	for _, m := range p.Matrices() {
		if !strings.Contains("\n"+strings.Join(out, "\n")+"\n", "\n"+m.Format+"\n") {
			out = append(out, m.Format)
		}
	}
	return out
}
