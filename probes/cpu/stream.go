//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"
	"math/rand/v2"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// streamBytes is one array of the copy and triad probes.
const streamBytes = 128 << 20

// Copy reads one array and writes another.
var Copy = probes.Probe{
	Name:    "cpu/copy",
	Doc:     "copies memory with stores past the caches",
	Formula: "2·bytes of an array",
	Checked: "every word, exactly",
	Check:   func(probes.Host) error { return nil },
	Plan:    streamPlan(2),
	Prepare: func(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
		return prepareStream(ctx, h, c, C.DG_COPY, 2)
	},
}

// Triad is the measure that other bandwidth programs report.
var Triad = probes.Probe{
	Name:    "cpu/triad",
	Doc:     "y = x + f·w in float32 with stores past the caches",
	Formula: "3·bytes of an array",
	Checked: "every value, in float64",
	Check:   func(probes.Host) error { return nil },
	Plan:    streamPlan(3),
	Prepare: func(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
		return prepareStream(ctx, h, c, C.DG_TRIAD, 3)
	},
}

func streamPlan(arrays int) func(probes.Host) []probes.Case {
	return func(probes.Host) []probes.Case { return []probes.Case{streamCase(arrays, streamBytes)} }
}

func streamCase(arrays, size int) probes.Case {
	return probes.Case{
		Name: fmt.Sprintf("%s, all threads", unit.Bytes(size)), Shape: map[string]int{"bytes": size},
		Bytes: unit.Bytes(arrays * size), Written: unit.Bytes(size),
	}
}

// prepareStream makes rotated copies of an output and of one or two inputs.
func prepareStream(ctx context.Context, h probes.Host, c probes.Case, kind C.int, arrays int) (probes.Subject, error) {
	size := int64(c.Shape["bytes"])
	n, err := copies(h, unit.Bytes(int64(arrays)*size))
	if err != nil {
		return nil, err
	}
	s, err := newSubject(h, c, kind, n)
	if err != nil {
		return nil, err
	}
	const factor = 3
	x, w, y := make([]*memory, n), make([]*memory, n), make([]*memory, n)
	random := rand.New(rand.NewPCG(5, 6))
	for i := range n {
		for _, m := range []*[]*memory{&x, &w, &y}[3-arrays:] {
			if (*m)[i], err = s.spread(ctx, size); err != nil {
				return nil, err
			}
		}
		inputs := []*memory{w[i]}
		if kind == C.DG_TRIAD {
			inputs = append(inputs, x[i])
		}
		for _, m := range inputs {
			if err := fillStream(ctx, of[float32](m), random); err != nil {
				s.Close()
				return nil, err
			}
		}
		op := s.op(i)
		op.bytes, op.f0, op.y = C.int64_t(size), factor, y[i].at
		if kind == C.DG_TRIAD {
			op.x, op.w = x[i].at, w[i].at
		} else {
			op.x = w[i].at
		}
	}
	s.verify = func(ctx context.Context, i int) (probes.Correctness, error) {
		var d probes.Distance
		out, from := of[float32](y[i]), of[float32](w[i])
		for k := range out {
			if k%looksEvery == 0 && ctx.Err() != nil {
				return probes.Correctness{}, ctx.Err()
			}
			want := float64(from[k])
			if kind == C.DG_TRIAD {
				want = float64(of[float32](x[i])[k]) + factor*want
			}
			d.Add(float64(out[k]), want)
		}
		return d.Correctness(1e-6, "float32 arithmetic"), nil
	}
	return s, nil
}

// fillStream writes random values, repeated with a length that no line, page
// or part shares.
func fillStream(ctx context.Context, values []float32, random *rand.Rand) error {
	const period = 1<<16 - 1
	for i := range min(period, len(values)) {
		values[i] = random.Float32()
	}
	for k := period; k < len(values); {
		if err := ctx.Err(); err != nil {
			return err
		}
		k += copy(values[k:], values[:period])
	}
	return nil
}
