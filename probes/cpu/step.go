//go:build cgo && linux

package cpu

// #include "weights.h"
import "C"

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"decodegap/probes"
	"decodegap/probes/decode"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// StepOptions say how a step is run.
type StepOptions struct {
	decode.Point
	ISA     string // empty: the best there is for each operation
	Threads int    // 0: all of the host's
	Copies  int    // of all weights and caches, 0: as many as keep them cold
}

// Step is one whole decode step of a model as a program on this processor:
// every layer with its own weights and its own cache, run in a loop. It is not
// a sum of parts: it is a step that exists.
type Step struct {
	*subject
	plan       *decode.Plan
	options    StepOptions
	components []roofline.Component // of each operation
	cut        *program             // the first layers and the head of the last copy
	times      map[roofline.Component][]float64
	bytes      unit.Bytes // packed, of one copy
	copies     int

	layers  []stepLayer // of the last copy built
	caches  []*cache    // of all copies
	head    *Weights
	logits  *memory
	hidden  *memory // the tokens' embeddings
	ids     *memory
	batch   *sequences
	normed  *memory // BF16 weights of all norms
	kernels map[Format]weightKernel
	rope    rope
}

// stepLayer is the operands of one layer, kept for the reference.
type stepLayer struct {
	qkv, out *Weights
	bias     [4]*memory // of qkv, out, up with gate, down; nil without
	upGate   *Weights   // of the dense block, or the shared expert
	down     *Weights
	router   *Weights // with experts alone
	experts  *Experts
	chosen   *memory // int32 [batch][top k]
	cache    *cache
	norms    [2]unsafe.Pointer
	headNorm unsafe.Pointer // query norm then key norm, nil without
}

// The constants of the step's arithmetic. They do not change what is read.
const (
	stepEpsilon  = 1e-6
	stepRopeBase = 1e6
	stepPage     = 16 // tokens of a cache page, as vLLM's default
)

// NewStep lays a plan out in memory. It refuses, with an error that wraps
// probes.ErrUnsupported, what no kernel is written for and what does not fit.
func NewStep(ctx context.Context, h probes.Host, plan *decode.Plan, o StepOptions) (*Step, error) {
	if err := stepAt(o.Point); err != nil {
		return nil, err
	}
	one, err := stepBytes(plan, o)
	if err != nil {
		return nil, err
	}
	n := o.Copies
	if n == 0 {
		if n, err = stepCopies(h, plan, o); err != nil {
			return nil, err
		}
	}
	b := &stepBuilder{ctx: ctx, Step: &Step{plan: plan, options: o, bytes: one, copies: n, kernels: map[Format]weightKernel{}}}
	if b.subject, err = newSubjectOf(h, probes.Case{ISA: o.ISA, Threads: o.Threads}, Scalar, n); err != nil {
		return nil, err
	}
	if err := b.build(); err != nil {
		b.Close()
		return nil, err
	}
	b.verify = func(ctx context.Context, _ int) (probes.Correctness, error) { return b.check(ctx) }
	return b.Step, nil
}

// stepAt refuses operating points that no step is run at.
func stepAt(at decode.Point) error {
	if at.Batch < 1 || at.Batch > MaxTokens {
		return fmt.Errorf("%w: a step of %d sequences: 1 to %d are", probes.ErrUnsupported, at.Batch, MaxTokens)
	}
	if at.Context < 0 || at.Context > 1<<24 {
		return fmt.Errorf("%w: a context of %d tokens: 0 to %d are", probes.ErrUnsupported, at.Context, 1<<24)
	}
	return nil
}

// Close frees everything.
func (s *Step) Close() {
	if s.batch != nil {
		s.batch.free()
	}
	for _, c := range s.caches {
		c.free()
	}
	if s.cut != nil {
		s.cut.free()
	}
	s.subject.Close()
}

// Time runs n steps and returns the seconds of each.
func (s *Step) Time(ctx context.Context, n int) ([]float64, error) {
	s.until = ctx
	whole, each, err := s.pool.run(ctx, s.program, s.next, n, true)
	if err != nil {
		return nil, err
	}
	s.last = (s.next + n - 1) % s.program.programs
	s.next = (s.next + n) % s.program.programs
	out := make([]float64, n)
	size := s.program.size
	for i, v := range whole {
		out[i] = float64(v) * 1e-9
		sums := map[roofline.Component]float64{}
		for k, ns := range each[i*size:][:size] {
			sums[s.components[k]] += float64(ns) * 1e-9
		}
		for c, t := range sums {
			s.times[c] = append(s.times[c], t)
		}
	}
	return out, nil
}

// Parts are the seconds of each component in every step since the last call,
// barriers included: they add up to the steps' times.
func (s *Step) Parts() map[roofline.Component][]float64 {
	t := s.times
	s.times = map[roofline.Component][]float64{}
	return t
}

// Copies is how many whole models are read in turn.
func (s *Step) Copies() int { return s.copies }

// Kernel names what runs.
func (s *Step) Kernel() string {
	names := ""
	for _, f := range s.plan.Formats() {
		if k, err := ParseFormat(f); err == nil {
			names += fmt.Sprintf("%s %s, ", k, s.kernels[k].isa)
		}
	}
	return fmt.Sprintf("%s%d threads", names, s.pool.Threads())
}

// stepFormat is the packed format of a stored one: the same bytes, scales
// included, to 0.1 %.
func stepFormat(name string) (f Format, block bool, err error) {
	switch name {
	case "BF16", "NVFP4", "MXFP4":
		f, err = ParseFormat(name)
		return f, false, err
	case "FP8":
		return FP8, false, nil
	case "FP8 128x128":
		return FP8, true, nil
	case "left out": // a router whose bytes an assumed format leaves out
		return BF16Weights, false, nil
	}
	return 0, false, fmt.Errorf("%w: no kernel for weights in %s", probes.ErrUnsupported, name)
}

// spread is the factor that gives a random matrix outputs of about the size of
// its inputs, so that no layer overflows or dies out.
func (w *Weights) spread() float32 {
	w.Global = 1
	var square float64
	var row []float64
	rows := min(w.Rows, 8)
	for r := range rows {
		row = w.row(r*(w.Rows/rows), row)
		for _, v := range row {
			square += v * v
		}
	}
	return float32(1 / math.Sqrt(square/float64(rows)))
}

// reserve is memory that Close frees.
func (s *Step) reserve(size int64) (*memory, error) {
	m, err := allocate(size)
	if err == nil {
		s.memory = append(s.memory, m)
	}
	return m, err
}

func (k weightKernel) format() Format { return Format(k.c.format) }
