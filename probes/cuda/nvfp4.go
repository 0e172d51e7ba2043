//go:build cgo && linux

package cuda

import "decodegap/probes"

// The columns and bytes of a unit of kernels/nvfp4.h, and where its scales
// begin.
const (
	unitCols   = 256
	unitBytes  = 2304
	unitScales = 2048
)

// scaleAt is where the scale of a weight lies: with the lane that has it.
func scaleAt(row, col int) int {
	m, t, group := col/128, col%128/32, col%32/16
	return unitScales + (row%8*4+t)*8 + m*4 + row/8*2 + group
}

var nvfp4 = tiled{
	source: "nvfp4", name: "NVFP4", cols: unitCols, bytes: unitBytes, slot: unitBytes, fill: "fill_nvfp4", each: unitBytes,
	row: func(u []byte, row int, to []float64) {
		for col := range to {
			to[col] = e2m1(e2m1Code(u, row, col)) * e4m3(u[scaleAt(row, col)])
		}
	},
}

var nvfp4Kernel = nvfp4.one()

// formatShapes are those of formats that are unpacked: the large one, and those
// that show what a boundary costs.
var formatShapes = append(gemvShapes[:2:2], product{1, matrix{4096, 6144}})

// NVFP4 is the product of an NVFP4 matrix with one token, activations in
// binary16.
var NVFP4 = probes.Probe{
	Name:    "cuda/gemv_nvfp4",
	Doc:     "a weight matrix in NVFP4 times one token in 16 bits: weights unpacked in the kernel",
	Formula: "rows·cols·9/16 + 2·cols + 4·rows",
	Checked: "96 rows against float64 on the same NVFP4 and binary16, all rows written",
	Check:   checkGPU,
	Plan:    nvfp4Kernel.cases(formatShapes),
	Prepare: nvfp4Kernel.prepare,
}
