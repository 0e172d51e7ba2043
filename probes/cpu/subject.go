//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// subject is one operation over copies of its operands, run in turn.
type subject struct {
	pool    *Pool
	program *program // one operation each
	isa     ISA
	memory  []*memory
	next    int // copy of the next run
	last    int // copy of the last run, -1 before the first

	// poison, if set, is output that is made NaN before a series of runs:
	// what none of them writes is found. poisonInner is what one operation
	// leaves to the next.
	poison, poisonInner []float32

	// verify compares the output of a copy with float64 arithmetic. It may
	// take seconds, and ends with its context.
	verify func(ctx context.Context, copy int) (probes.Correctness, error)
	until  context.Context // of the last runs: after it nobody wants to know
}

// Time runs the kernel n times over the next copies.
func (s *subject) Time(ctx context.Context, n int) ([]float64, error) {
	s.until = ctx
	for _, values := range [][]float32{s.poison, s.poisonInner} {
		for i := range values {
			values[i] = float32(math.NaN())
		}
	}
	ns, _, err := s.pool.run(ctx, s.program, s.next, n, false)
	if err != nil {
		return nil, err
	}
	s.last = (s.next + n - 1) % s.program.programs
	s.next = (s.next + n) % s.program.programs
	out := make([]float64, n)
	for i, v := range ns {
		out[i] = float64(v) * 1e-9
	}
	return out, nil
}

var errNotRun = errors.New("nothing has run yet")

// Verify checks what the last run left, until the context of that run ends.
func (s *subject) Verify() (probes.Correctness, error) {
	if s.last < 0 {
		return probes.Correctness{}, errNotRun
	}
	if err := s.until.Err(); err != nil {
		return probes.Correctness{}, err
	}
	return s.verify(s.until, s.last)
}

// Kernel names what runs.
func (s *subject) Kernel() string {
	if s.pool.Threads() == 1 {
		return s.isa.String() + ", 1 thread"
	}
	return fmt.Sprintf("%s, %d threads", s.isa, s.pool.Threads())
}

// Close frees the operands and the threads.
func (s *subject) Close() {
	s.pool.Close()
	s.program.free()
	for _, m := range s.memory {
		m.free()
	}
}

// cold is how far apart in bytes two uses of one line are, in last-level
// caches: a victim cache and other processes' share included.
const cold = 5

// lastLevel is the host's last-level cache; without a reported size the largest
// in use: 1.2 GB of stacked L3.
func lastLevel(h probes.Host) unit.Bytes {
	if h.LastLevel == 0 {
		return 1152 << 20
	}
	return h.LastLevel
}

// coldCopies is how many operand sets of each bytes keep every run cold: their
// sum reaches five last-level caches.
func coldCopies(h probes.Host, each unit.Bytes) int {
	if each <= 0 {
		return 1
	}
	return int(cold*lastLevel(h)/each) + 2
}

// copies is coldCopies where the budget holds them, else an error.
func copies(h probes.Host, each unit.Bytes) (int, error) {
	n := coldCopies(h, each)
	if unit.Bytes(n)*each > h.Budget {
		return 0, fmt.Errorf("%w: %d operand sets of %s keep a last-level cache of %s cold, the memory budget is %s",
			probes.ErrUnsupported, n, each, lastLevel(h), h.Budget)
	}
	return n, nil
}

// newSubject is a subject of n copies of one operation, its kernel chosen and
// its threads started; the operands are still to be set.
func newSubject(h probes.Host, c probes.Case, kind C.int, n int) (*subject, error) {
	isa, kernel, err := choose(kind, c.ISA)
	if err != nil {
		return nil, err
	}
	s, err := newSubjectOf(h, c, isa, n)
	if err != nil {
		return nil, err
	}
	for i := range n {
		s.op(i).run = kernel
	}
	return s, nil
}

// newSubjectOf is a subject of n copies of one operation, all of it still to
// be set, its threads started.
func newSubjectOf(h probes.Host, c probes.Case, isa ISA, n int) (*subject, error) {
	threads := len(h.CPUs)
	if c.Threads > 0 && c.Threads < threads {
		threads = c.Threads
	}
	pool, err := NewPool(h.CPUs[:threads])
	if err != nil {
		return nil, err
	}
	return &subject{pool: pool, program: newProgram(1, n), isa: isa, last: -1}, nil
}

func (s *subject) op(i int) *C.dg_op { return s.program.op(i) }

// allocate is memory that Close frees; where there is none, all is freed.
func (s *subject) allocate(size int64) (*memory, error) {
	m, err := allocate(size)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.memory = append(s.memory, m)
	return m, nil
}

// spread is allocate for what the threads go over in equal shares, first touched
// by the thread that will.
func (s *subject) spread(ctx context.Context, size int64) (*memory, error) {
	m, err := s.allocate(size)
	if err != nil {
		return nil, err
	}
	if err := s.pool.touch(ctx, m); err != nil {
		s.Close()
		return nil, err
	}
	return m, nil
}

// fill writes random weights with the threads that will read them; where the
// context ends first, all is freed.
func (s *subject) fill(ctx context.Context, all []*Weights) error {
	err := s.pool.FillWeights(ctx, 1, all...)
	if err != nil {
		s.Close()
	}
	return err
}

// choose finds the kernel of a kind: of the named instruction set, or of the
// best that this CPU has and that the kind is written for.
func choose(kind C.int, name string) (ISA, C.dg_kernel, error) {
	for _, isa := range Supported() {
		if name != "" && name != isa.String() {
			continue
		}
		if k := C.dg_find(kind, C.int(isa)); k != nil {
			return isa, k, nil
		}
	}
	if name == "" {
		return 0, nil, fmt.Errorf("%w: no kernel for any instruction set of this CPU", probes.ErrUnsupported)
	}
	return 0, nil, fmt.Errorf("%w: no kernel for %s, or this CPU lacks it", probes.ErrUnsupported, name)
}
