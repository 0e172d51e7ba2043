//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"strings"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/probes/reference"
)

// Norm is RMSNorm with the addition before it, and what engines do with it in
// the same kernel: quantise it for the next product.
var Norm = probes.Probe{
	Name:    "cuda/norm",
	Doc:     "residual addition and RMSNorm in BF16, written as BF16, as E4M3 with a scale for each row, or as NVFP4; its time is the result",
	Formula: inCache("6·M·size + 2·size + M·size·(2, 1 or 9/16)"),
	Checked: "sums exactly, every value the nearest to float64 that its format has by its scale, every scale",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range []struct {
			format  string
			m, size int
		}{
			{"BF16", 1, 4096}, {"BF16", 64, 4096}, {"FP8", 1, 4096}, {"NVFP4", 1, 4096}, {"FP8", 64, 4096}, {"NVFP4", 64, 4096},
			{"BF16", 1, 8192}, {"BF16", 64, 8192}, {"BF16", 1, 7168}, {"NVFP4", 16, 7168}, {"FP8", 16, 7168}, {"BF16", 16, 4096},
		} {
			out = append(out, both(h, rowCase(s.format, s.m, s.size))...)
		}
		return out
	},
	Prepare: prepareNorm,
}

// rowCase is m rows of size values written in a format.
func rowCase(format string, m, size int) probes.Case {
	return probes.Case{Name: fmt.Sprintf("%s, M=%d × %d", format, m, size), Shape: map[string]int{"m": m, "size": size}, Format: format}
}

// normEpsilon is that of RMSNorm in most models.
const normEpsilon = 1e-6

func prepareNorm(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	s, err := newSmall(h, c)
	if err != nil {
		return nil, err
	}
	rows, size := c.Shape["m"], c.Shape["size"]
	var all []variant
	for _, vectors := range []int{1, 2, 4} {
		// Threads are whole warps, each of whole blocks of NVFP4 scales.
		if threads := size / 8 / vectors; threads*8*vectors == size && threads%32 == 0 && threads > 0 && threads <= 1024/vectors {
			all = append(all, variant{entry: fmt.Sprintf("norm_%s_%d", strings.ToLower(c.Format), vectors), warps: threads / 32, resident: 1, blocks: rows})
		}
	}
	x, xs := s.bf16s(rows * size)
	residual, residuals := s.bf16s(rows * size)
	w, ws := s.bf16s(size)
	o := s.rowOutput(c.Format, rows, size, 2*rows*size)
	return s.ready(ctx, "norm", orders(all), func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		l := v.launch(k, rows, append([]any{x.Address(0), residual.Address(0), w.Address(0), o.memory.Address(0)}, append(o.args(), float32(normEpsilon), global)...)...)
		return []*driver.Launch{l}
	}, func() (probes.Correctness, error) {
		sums, err := read[uint16](o.memory, 0, rows*size)
		if err != nil {
			return probes.Correctness{}, err
		}
		for i, got := range sums {
			if want := reference.ToBF16(float32(bf16(xs[i])) + float32(bf16(residuals[i]))); got != want {
				return probes.Correctness{}, fmt.Errorf("row %d, value %d: the sum is %g, expected %g", i/size, i%size, bf16(got), bf16(want))
			}
		}
		d := &distance{}
		err = o.check(func(row int) []float64 {
			return reference.Normalised(widen(sums[row*size:][:size]), ws, normEpsilon, 0)
		}, d)
		return d.correctness(rowBounds[c.Format], "all values the nearest, sums exact"), err
	})
}

// widen is bfloat16 in float64.
func widen(x []uint16) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = bf16(v)
	}
	return out
}
