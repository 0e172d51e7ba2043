//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"

	"decodegap/probes"
)

// Activation is the gate of a feed-forward layer.
var Activation = probes.Probe{
	Name:    "cpu/activation",
	Doc:     "SiLU of the gate times the other half, activations in the cache; its time is the result",
	Formula: "none: activations lie in the cache",
	Checked: "all values against float64",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{rowCase(1, 14336), rowCase(1, 3072), rowCase(16, 14336)}
	},
	Prepare: prepareActivation,
}

func prepareActivation(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	shape, err := values(c, "m", "size")
	if err != nil {
		return nil, err
	}
	tokens, size := shape[0], shape[1]
	f := silu
	if c.Shape["gelu"] == 1 {
		f = gelu
	}
	var gate, up, y []float32
	s, err := newChain(ctx, h, c, C.DG_ACTIVATE, 1, func(m maker, s *subject, _ int) ([]op, error) {
		rows, err := s.rows(tokens*size, &gate, &up, &y)
		if err != nil {
			return nil, err
		}
		s.poison = y
		o, err := m.activate(f, tokens, size, size, rows[0], rows[1], rows[2])
		return []op{o}, err
	})
	if err != nil {
		return nil, err
	}
	s.verify = func(context.Context, int) (probes.Correctness, error) {
		return s.compareRows(size, y, func(at int) []float64 {
			out := make([]float64, size)
			for i := range out {
				out[i] = activated(f, float64(gate[at+i]), float64(up[at+i]))
			}
			return out
		}), nil
	}
	return s, nil
}
