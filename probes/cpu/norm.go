//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"

	"decodegap/probes"
	"decodegap/probes/reference"
)

// Norm is RMSNorm with the addition before it.
var Norm = probes.Probe{
	Name:    "cpu/norm",
	Doc:     "residual addition and RMSNorm of activations in the cache; its time is the result",
	Formula: "none: activations lie in the cache",
	Checked: "all values against float64",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{rowCase(1, 4096), rowCase(1, 1024), rowCase(1, 8192), rowCase(16, 4096)}
	},
	Prepare: prepareNorm,
}

// rowCase is m rows of size values.
func rowCase(m, size int) probes.Case {
	return probes.Case{Name: fmt.Sprintf("M=%d × %d", m, size), Shape: map[string]int{"m": m, "size": size}}
}

func prepareNorm(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	shape, err := values(c, "m", "size")
	if err != nil {
		return nil, err
	}
	tokens, size := shape[0], shape[1]
	var x, add, y []float32
	var w *memory
	s, err := newChain(ctx, h, c, C.DG_NORM, 1, func(m maker, s *subject, _ int) ([]op, error) {
		rows, err := s.rows(tokens*size, &x, &add, &y, new([]float32))
		if err != nil {
			return nil, err
		}
		if w, err = s.weights(size); err != nil {
			return nil, err
		}
		s.poison = y
		o, err := m.norm(tokens, size, rows[0], rows[1], w.at, rows[2], rows[3], 1e-6, 0)
		return []op{o}, err
	})
	if err != nil {
		return nil, err
	}
	s.verify = func(context.Context, int) (probes.Correctness, error) {
		return s.compareRows(size, y, func(at int) []float64 {
			sum := make([]float64, size)
			for i := range sum {
				sum[i] = float64(x[at+i] + add[at+i])
			}
			return reference.Normalised(sum, of[uint16](w), 1e-6, 0)
		}), nil
	}
	return s, nil
}
