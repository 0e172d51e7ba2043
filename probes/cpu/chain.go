//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"
	"math/rand/v2"
	"unsafe"

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

// values are sizes of a case's shape, which must have them.
func values(c probes.Case, names ...string) ([]int, error) {
	var out []int
	for _, name := range names {
		v, ok := c.Shape[name]
		if !ok || v < 1 {
			return nil, fmt.Errorf("case %q: its shape has no %q", c.Name, name)
		}
		out = append(out, v)
	}
	return out, nil
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

// rows allocates n activations for each of out and returns where they lie.
func (s *subject) rows(n int, out ...*[]float32) ([]unsafe.Pointer, error) {
	var at []unsafe.Pointer
	for i, o := range out {
		m, v, err := s.float32s(n, 2, uint64(i+1))
		if err != nil {
			return nil, err
		}
		*o = v
		at = append(at, m.at)
	}
	return at, nil
}

// weights is n BF16 values around 1.
func (s *subject) weights(n int) (*memory, error) {
	m, err := s.allocate(int64(2 * n))
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(9, 2))
	for i := range n {
		of[uint16](m)[i] = toBF16(0.5 + r.Float32())
	}
	return m, nil
}

// rowBound is the relative error that float32 may leave in a row.
const rowBound = 2e-6

// compareRows holds rows of size values against what want says of the row
// that begins at value at.
func (s *subject) compareRows(size int, got []float32, want func(at int) []float64) probes.Correctness {
	var worst probes.Correctness
	for at := 0; at < len(got); at += size {
		worst = join(worst, compare(got[at:][:size], want(at), rowBound))
	}
	return worst
}
