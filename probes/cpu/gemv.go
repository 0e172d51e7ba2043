//go:build cgo && linux

package cpu

// #include "weights.h"
import "C"

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// gemvShapes are the cases of every format, the most telling first.
var gemvShapes = []struct{ m, rows, cols int }{
	{1, 8192, 8192}, {1, 4096, 4096}, {4, 8192, 8192}, {16, 8192, 8192},
}

// gemvPlan lists the cases of a format.
func gemvPlan(f Format) func(probes.Host) []probes.Case {
	return func(probes.Host) []probes.Case {
		var cases []probes.Case
		for _, s := range gemvShapes {
			cases = append(cases, gemvCase(f, s.m, s.rows, s.cols))
		}
		return cases
	}
}

func gemvCase(f Format, m, rows, cols int) probes.Case {
	return probes.Case{
		Name:   fmt.Sprintf("M=%d %d×%d", m, rows, cols),
		Shape:  map[string]int{"m": m, "rows": rows, "cols": cols},
		Format: f.String(),
		Bytes:  unit.Bytes(f.bytes(rows, cols, f == FP8) + 4*int64(m)*int64(rows+cols)),
		FLOPs:  unit.FLOPs(2 * float64(m) * float64(rows) * float64(cols)),
	}
}

// gemvCheck is why a format cannot run here, nil if it can.
func gemvCheck(f Format) func(probes.Host) error {
	return func(probes.Host) error {
		_, err := f.kernel("")
		return err
	}
}

// gemvChecked is how the result of every format is checked.
const gemvChecked = "float64 on the same quantised weights: all outputs of small matrices, else 64 rows with the first and the last"

// kernelOf is what multiplies a case's weights.
func kernelOf(c probes.Case) (Format, weightKernel, error) {
	f, err := ParseFormat(c.Format)
	if err != nil {
		return f, weightKernel{}, err
	}
	k, err := f.kernel(c.ISA)
	return f, k, err
}

// prepareGEMV fills rotated copies of a matrix and of its inputs.
func prepareGEMV(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	f, k, err := kernelOf(c)
	if err != nil {
		return nil, err
	}
	m, rows, cols := c.Shape["m"], c.Shape["rows"], c.Shape["cols"]
	if m < 1 || m > MaxTokens {
		return nil, fmt.Errorf("%d tokens: a matrix operation takes 1 to %d", m, MaxTokens)
	}
	block := f == FP8 && c.Shape["per_row"] == 0
	size := weightsSize(f, rows, cols, block)
	n, err := copies(h, unit.Bytes(size))
	if err != nil {
		return nil, err
	}
	s, err := newSubjectOf(h, c, k.isa, n)
	if err != nil {
		return nil, err
	}
	x, err := s.allocate(4 * int64(m) * int64(cols))
	if err != nil {
		return nil, err
	}
	y, err := s.allocate(4 * int64(m) * int64(rows))
	if err != nil {
		return nil, err
	}
	scratch, err := s.allocate(k.scratchSize(m, cols, s.pool.Threads()))
	if err != nil {
		return nil, err
	}
	fillActivations(of[float32](x), 1)
	all := make([]*Weights, n)
	for i := range all {
		at, err := s.allocate(size)
		if err != nil {
			return nil, err
		}
		if all[i], err = weightsAt(at.at, f, rows, cols, block); err != nil {
			s.Close()
			return nil, err
		}
		all[i].Global = 0.5
		all[i].op(s.op(i), k, linear{m: m, x: x.at, y: y.at, scratch: scratch.at})
	}
	if err := s.fill(ctx, all); err != nil {
		return nil, err
	}
	s.poison = of[float32](y)
	s.verify = func(ctx context.Context, copy int) (probes.Correctness, error) {
		c, err := k.compare(ctx, all[copy], m, of[float32](x), of[float32](y))
		return unwritten(c, of[float32](y)), err
	}
	return s, nil
}

// fillActivations writes values as a norm leaves them: about normal, a few
// outliers, representable in bf16.
func fillActivations(x []float32, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 3))
	for i := range x {
		v := random.NormFloat64()
		if random.IntN(256) == 0 {
			v *= 8
		}
		x[i] = math.Float32frombits(math.Float32bits(float32(v)) &^ 0xffff)
	}
}

// sampledRows are the rows that are checked: all of a small matrix, else 64
// with the first and the last.
func sampledRows(rows, cols, m int) []int {
	var out []int
	if rows <= 64 || rows*cols*m <= 1<<20 {
		for r := range rows {
			out = append(out, r)
		}
		return out
	}
	random := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	out = append(out, 0, rows-1)
	for len(out) < 64 {
		out = append(out, random.IntN(rows))
	}
	return out
}

// compare holds outputs against float64.
func (k weightKernel) compare(ctx context.Context, w *Weights, m int, x, y []float32) (probes.Correctness, error) {
	var d probes.Distance
	var values []float64
	for _, row := range sampledRows(w.Rows, w.Cols, m) {
		if err := ctx.Err(); err != nil {
			return probes.Correctness{}, err
		}
		values = w.row(row, values)
		for t := range m {
			d.Add(float64(y[t*w.Rows+row]), dot(values, x[t*w.Cols:][:w.Cols]))
		}
	}
	comment, bound := k.activations()
	return d.Correctness(bound, comment), nil
}
