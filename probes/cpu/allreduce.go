//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"

	"decodegap/probes"
)

// AllReduce is the sum of what each thread holds, to every thread.
var AllReduce = probes.Probe{
	Name:    "cpu/allreduce",
	Doc:     "sum over threads of a vector that each holds a part of, to every thread, in one and in two steps; its time is the result",
	Formula: "none: vectors lie in the cache",
	Checked: "every thread's sum against float64, and all of them bit for bit",
	Check: func(h probes.Host) error {
		if len(h.CPUs) < 2 {
			return fmt.Errorf("%w: one CPU has nothing to exchange", probes.ErrUnsupported)
		}
		return nil
	},
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{
			reduceCase(1, 4096), reduceCase(2, 4096), reduceCase(1, 65536), reduceCase(2, 65536),
		}
	},
	Prepare: prepareAllReduce,
}

func reduceCase(shots, size int) probes.Case {
	return probes.Case{
		Name:  fmt.Sprintf("%s-shot, %d float32", [...]string{1: "one", 2: "two"}[shots], size),
		Shape: map[string]int{"shots": shots, "size": size},
	}
}

func prepareAllReduce(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	shape, err := values(c, "shots", "size")
	if err != nil {
		return nil, err
	}
	size, stride := shape[1], (shape[1]+15)/16*16
	var x, y []float32
	threads := 0
	s, err := newChain(ctx, h, c, C.DG_REDUCE, 1, func(m maker, s *subject, _ int) ([]op, error) {
		threads = m.threads
		rows, err := s.rows(stride*threads, &x, &y)
		if err != nil {
			return nil, err
		}
		s.poison = y
		if shape[0] == 1 {
			return m.reduce(size, stride, rows[0], nil, rows[1])
		}
		slices, err := s.allocate(int64(4 * stride))
		if err != nil {
			return nil, err
		}
		return m.reduce(size, stride, rows[0], slices.at, rows[1])
	})
	if err != nil {
		return nil, err
	}
	s.verify = func(context.Context, int) (probes.Correctness, error) {
		want := make([]float64, size)
		for p := range threads {
			for i := range want {
				want[i] += float64(x[p*stride+i])
			}
		}
		var worst probes.Correctness
		for p := range threads {
			got := y[p*stride:][:size]
			worst = join(worst, compare(got, want, rowBound))
			for i := range got {
				if got[i] != y[i] {
					return worst, fmt.Errorf("thread %d has %g at %d, thread 0 %g", p, got[i], i, y[i])
				}
			}
		}
		return worst, nil
	}
	return s, nil
}
