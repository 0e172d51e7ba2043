//go:build cgo && linux

package cpu

// #include "kernels.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"decodegap/probes"
)

// needsTwo is the reason of what one thread alone has not.
func needsTwo(h probes.Host) error {
	if len(h.CPUs) < 2 {
		return fmt.Errorf("%w: one CPU waits for none", probes.ErrUnsupported)
	}
	return nil
}

// Barrier is what ends every operation of a step.
var Barrier = probes.Probe{
	Name:    "cpu/barrier",
	Doc:     "threads that spin waiting for each other: the least time between two operations",
	Formula: "none",
	Checked: "that every barrier was passed",
	Check:   needsTwo,
	Plan:    func(probes.Host) []probes.Case { return []probes.Case{{Name: "all threads"}} },
	Prepare: prepareBarrier,
}

// Wake is what a step begins with where its threads slept.
var Wake = probes.Probe{
	Name:    "cpu/wake",
	Doc:     "sleeping threads woken through a condition variable, until all of them run",
	Formula: "none",
	Checked: "that every thread ran",
	Check:   needsTwo,
	Plan:    func(probes.Host) []probes.Case { return []probes.Case{{Name: "all threads"}} },
	Prepare: prepareWake,
}

// barriers are as many as take long against reading the clock.
const barriers = 1000

// barrierSubject spreads the time of a program over its barriers.
type barrierSubject struct{ *subject }

// Time passes n barriers or more, whole programs of them, and returns their
// mean n times.
func (s barrierSubject) Time(ctx context.Context, n int) ([]float64, error) {
	t, err := s.subject.Time(ctx, (n+barriers-1)/barriers)
	if err != nil {
		return nil, err
	}
	var sum float64
	for _, v := range t {
		sum += v
	}
	return slices.Repeat([]float64{sum / float64(len(t)*barriers)}, n), nil
}

func (s barrierSubject) Kernel() string { return fmt.Sprintf("%d threads", s.pool.Threads()) }

func prepareBarrier(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	c.ISA = "" // there is nothing to compute
	s, err := newChain(ctx, h, c, C.DG_NOTHING, 1, func(m maker, _ *subject, _ int) ([]op, error) {
		ops := make([]op, barriers)
		for i := range ops {
			ops[i].run = C.dg_find(C.DG_NOTHING, C.DG_SCALAR)
		}
		return ops, nil
	})
	if err != nil {
		return nil, err
	}
	// A run that ended short of its last barrier is an error of Time.
	s.verify = func(context.Context, int) (probes.Correctness, error) { return exact(true), nil }
	return barrierSubject{s}, nil
}

// wakeSubject times the pool's own start.
type wakeSubject struct {
	*subject
	timed bool
}

// wakePause is long enough for the threads to be asleep.
const wakePause = 200_000 // nanoseconds

func (s *wakeSubject) Time(ctx context.Context, n int) ([]float64, error) {
	ns := (*C.int64_t)(C.malloc(C.size_t(8 * n)))
	defer C.free(unsafe.Pointer(ns))
	out := make([]float64, 0, n)
	defer s.pool.watch(ctx)()
	got := int(C.dg_pool_wake(s.pool.c, C.int(n), wakePause, ns, s.pool.cancel))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if got != n {
		return nil, fmt.Errorf("%d of %d wake-ups", got, n)
	}
	for _, v := range int64s(ns, n) {
		out = append(out, float64(v)*1e-9)
	}
	s.timed = true
	return out, nil
}

func (s *wakeSubject) Verify() (probes.Correctness, error) {
	if !s.timed {
		return probes.Correctness{}, errNotRun
	}
	return exact(true), nil // all threads met at the barrier, or Time had not ended
}

func (s *wakeSubject) Kernel() string { return fmt.Sprintf("%d threads", s.pool.Threads()) }

func prepareWake(_ context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	s, err := newSubjectOf(h, c, Scalar, 1)
	if err != nil {
		return nil, err
	}
	if s.pool.Threads() < 2 {
		s.Close()
		return nil, fmt.Errorf("%w: one thread wakes no other", probes.ErrUnsupported)
	}
	return &wakeSubject{subject: s}, nil
}
