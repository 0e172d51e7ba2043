//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"
	"math/rand/v2"

	"decodegap/probes"
)

// chainFunc allocates one copy of the operands and makes its operations.
type chainFunc func(m maker, s *subject, copy int) ([]op, error)

// newChain is a subject whose every run is the operations that set returns for
// a copy; kind is the operation that names the instruction set. Where set
// fails all is freed, by set itself if an allocation of the subject failed.
func newChain(ctx context.Context, h probes.Host, c probes.Case, kind C.int, n int, set chainFunc) (*subject, error) {
	isa, _, err := choose(kind, c.ISA)
	if err != nil {
		return nil, err
	}
	s, err := newSubjectOf(h, c, isa, 1)
	if err != nil {
		return nil, err
	}
	m := maker{c.ISA, s.pool.Threads()}
	for i := range n {
		if err := ctx.Err(); err != nil {
			s.Close()
			return nil, err
		}
		ops, err := set(m, s, i)
		if err != nil {
			s.Close()
			return nil, err
		}
		if i == 0 {
			s.program.free()
			s.program = newProgram(len(ops), n)
		}
		for k, op := range ops {
			*s.op(i*len(ops) + k) = op
		}
	}
	return s, nil
}

// float32s is n activations of a subject, between ±most.
func (s *subject) float32s(n int, most float32, seed uint64) (*memory, []float32, error) {
	m, err := s.allocate(int64(4 * n))
	if err != nil {
		return nil, nil, err
	}
	v := of[float32](m)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range v {
		v[i] = (2*r.Float32() - 1) * most
	}
	return m, v, nil
}

// value is a size of a case's shape, which must have it.
func value(c probes.Case, name string) (int, error) {
	v, ok := c.Shape[name]
	if !ok || v < 1 {
		return 0, fmt.Errorf("case %q: its shape has no %q", c.Name, name)
	}
	return v, nil
}

// duplicate writes one memory over another of its size, by all threads, so
// that each touches first about what it reads later.
func (p *Pool) duplicate(ctx context.Context, to, from *memory) error {
	g := newProgram(1, 1)
	defer g.free()
	o := g.op(0)
	o.run = C.dg_find(C.DG_COPY, C.DG_SCALAR)
	o.bytes = C.int64_t((from.size + 63) / 64 * 64) // allocations are whole pages
	o.x, o.y = from.at, to.at
	_, _, err := p.run(ctx, g, 0, 1, false)
	return err
}
