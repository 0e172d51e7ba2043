//go:build cgo && linux

package cuda

import (
	"context"
	"strings"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/probes/reference"
)

// Activation is the gate of a feed-forward layer.
var Activation = probes.Probe{
	Name:    "cuda/activation",
	Doc:     "SiLU of the gate times the other half of a BF16 row, written as BF16, as E4M3 with a scale for each row, or as NVFP4; its time is the result",
	Formula: inCache("4·M·size + M·size·(2, 1 or 9/16)"),
	Checked: "every value the nearest to float64 that its format has by its scale, every scale",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, c := range []probes.Case{
			rowCase("BF16", 1, 14336), rowCase("BF16", 64, 14336), rowCase("FP8", 1, 14336), rowCase("NVFP4", 1, 14336),
			rowCase("BF16", 16, 14336), rowCase("FP8", 64, 14336), rowCase("NVFP4", 64, 14336),
		} {
			out = append(out, both(h, c)...)
		}
		return out
	},
	Prepare: prepareActivation,
}

func prepareActivation(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	s, err := newSmall(h, c)
	if err != nil {
		return nil, err
	}
	rows, size := c.Shape["m"], c.Shape["size"]
	var all []variant
	add := func(entry string, vectors, threads, most int) {
		if threads%32 == 0 && threads > 0 && threads <= most && size%(threads*vectors*8) == 0 {
			all = append(all, variant{entry: "swiglu_" + entry, warps: threads / 32, resident: 1, blocks: rows * size / (threads * vectors * 8)})
		}
	}
	if c.Format == "FP8" { // whole rows, of which one scale is
		add("fp8_2", 2, size/16, 1024)
		add("fp8_4", 4, size/32, 512)
		all = append(all, clusters(h, "swiglu_fp8_cluster", rows, size)...)
	} else {
		for _, threads := range []int{64, 128, 256} {
			add(strings.ToLower(c.Format), 1, threads, 1024)
		}
	}
	x, xs := s.bf16s(2 * rows * size)
	o := s.rowOutput(c.Format, rows, size, 0)
	return s.ready(ctx, "activation", orders(all), func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		return []*driver.Launch{v.launch(k, v.blocks, append(append([]any{x.Address(0)}, o.args()...), uint32(size), global)...)}
	}, func() (probes.Correctness, error) {
		d := &distance{}
		err := o.check(func(row int) []float64 {
			out := widen(xs[2*row*size:][:size])
			for i := range out {
				out[i] = reference.SiLU(out[i]) * bf16(xs[(2*row+1)*size+i])
			}
			return out
		}, d)
		return d.correctness(rowBounds[c.Format], "all values the nearest"), err
	})
}

// clusters are the variants in which two to eight blocks share a row, a vector
// of eight values a thread.
func clusters(h probes.Host, entry string, rows, size int) []variant {
	var all []variant
	for _, n := range []int{2, 4, 8} {
		if threads := size / 8 / n; h.GPU.Major >= 9 && threads*8*n == size && threads%32 == 0 && threads <= 1024 {
			all = append(all, variant{entry: entry, warps: threads / 32, resident: 1, blocks: rows * n, cluster: n})
		}
	}
	return all
}
