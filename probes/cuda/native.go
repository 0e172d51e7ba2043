//go:build cgo && linux

package cuda

import (
	"fmt"
	"os"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// Untried is the variable that lets probes run whose kernels nobody has run on
// such a GPU yet. Their results are checked as all are.
const Untried = "DECODEGAP_UNTRIED"

// nativeNVFP4 are the units of kernels/nvfp4_native.cu.
var nativeNVFP4 = tiled{
	source: "nvfp4_native", name: "NVFP4", cols: unitCols, bytes: unitBytes, slot: unitBytes, fill: "fill_nvfp4", each: unitBytes,
	row: func(u []byte, row int, to []float64) {
		for col := range to {
			step, k := col/64, col%64
			at := step*512 + (row%8*4+k%32/8)*16 + k/32*8 + row/8*4 + k%8/2
			to[col] = e2m1(u[at]>>(4*(k%2))&15) * e4m3(u[unitScales+row*16+step*4+k/16])
		}
	},
}

var nativeFew = gemv{
	source: "nvfp4_native", format: "NVFP4", fill: "fill_nvfp4", unit: unitBytes, x: inNVFP4,
	grain: matrix{unitRows, unitCols}, most: mostTokens, bound: gemmBound,
	bytes: nativeNVFP4.size, check: nativeNVFP4.check,
	variants: func(h probes.Host, g product) []variant {
		all := []tiling{{1, 8, 1, 4}, {1, 4, 2, 4}, {2, 4, 1, 4}, {1, 2, 4, 3}}
		if eights(g.tokens) == 8 {
			all = []tiling{{1, 8, 1, 3}, {2, 4, 1, 3}, {1, 4, 2, 2}}
		}
		return tilings("nvfp4_native", all, unitBytes, nativeEight, g)
	},
	arg: func(l *driver.Launch, g product, w, x, y uint64, order uint32) {
		l.Arg(w, x, y, uint32(g.rows), uint32(g.cols/unitCols), uint32(g.tokens), order)
	},
}

// NativeNVFP4 is the product of an NVFP4 matrix with some tokens in NVFP4, on
// tensor cores that know both.
var NativeNVFP4 = probes.Probe{
	Name:    "cuda/gemm_nvfp4_native",
	Doc:     "a weight matrix in NVFP4 times 4 to 64 tokens in NVFP4 too, by the tensor cores of compute capability 12; not yet run on such a GPU",
	Formula: "rows·cols·9/16 + m·(cols·9/16 + 4·rows)",
	Checked: "96 rows of each token against float64 on the same NVFP4, all outputs written",
	Check: func(h probes.Host) error {
		if err := checkGPU(h); err != nil {
			return err
		}
		if h.GPU.Major != 12 {
			return fmt.Errorf("%w: its tensor cores are those of compute capability 12, this GPU has %d.%d", probes.ErrUnsupported, h.GPU.Major, h.GPU.Minor)
		}
		if os.Getenv(Untried) != "1" {
			return fmt.Errorf("%w: not yet run on such a GPU; %s=1 lets it run, and checks its results as all are", probes.ErrUnsupported, Untried)
		}
		return nil
	},
	Plan:    nativeFew.cases(gemmShapes),
	Prepare: nativeFew.prepare,
}
