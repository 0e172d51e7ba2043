//go:build cgo && linux

package cuda

import (
	"encoding/binary"
	"fmt"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/unit"
)

// A unit of kernels/nvfp4.h: rows × columns, its bytes, and where its scales
// begin.
const (
	unitRows, unitCols = 16, 256
	unitBytes          = 2304
	unitScales         = 2048
)

// unpackUnit gives the values of a unit in float64, row by row, by the layout
// as nvfp4.h describes it.
func unpackUnit(u []byte, to *[unitRows][unitCols]float64) {
	signs, magnitudes := [4]int{15, 12, 14, 13}, [4]int{9, 6, 3, 0}
	for m := range 2 {
		for h := range 2 {
			for lane := range 32 {
				g, t := lane/4, lane%4
				row := g + 8*h
				for q := range 4 {
					w := binary.LittleEndian.Uint32(u[(2*m+h)*512+lane*16+q*4:])
					for pair := range 4 {
						for half := range 2 {
							v := w >> (16 * half) & 0xffff
							code := byte(v>>signs[pair]&1<<3 | v>>magnitudes[pair]&7)
							col := m*128 + t*32 + q*8 + pair*2 + half
							to[row][col] = e2m1(code) * e4m3(u[scaleAt(row, col)])
						}
					}
				}
			}
		}
	}
}

// unpackRow gives the values of one row of a unit in float64.
func unpackRow(u []byte, row int, to []float64) {
	signs, magnitudes := [4]int{15, 12, 14, 13}, [4]int{9, 6, 3, 0}
	for col := range to {
		m, t, q, pair, half := col/128, col%128/32, col%32/8, col%8/2, col%2
		at := (2*m+row/8)*512 + (row%8*4+t)*16 + q*4 + half*2
		v := uint16(u[at]) | uint16(u[at+1])<<8
		code := byte(v>>signs[pair]&1<<3 | v>>magnitudes[pair]&7)
		to[col] = e2m1(code) * e4m3(u[scaleAt(row, col)])
	}
}

// scaleAt is where the scale of a weight lies: the group of 16 columns is a
// column of the tensor cores' result, which one lane of four holds, with one
// beside it.
func scaleAt(row, col int) int {
	m, group := col/128, col%128/16
	column := group / 2 // of B: the even groups are 0 to 3, the odd ones 4 to 7
	if group%2 == 1 {
		column += 4
	}
	return unitScales + (row%8*4+column/2)*8 + m*4 + row/8*2 + column%2
}

var nvfp4Kernel = gemv{
	source: "nvfp4_gemv", format: "NVFP4", fill: "fill_nvfp4", unit: unitBytes, fillX: "fill_f16",
	grain: matrix{unitRows, unitCols}, most: 1, bound: gemvBound,
	bytes: func(g matrix) unit.Bytes { return unit.Bytes(g.rows / unitRows * g.cols / unitCols * unitBytes) },
	variants: func(h probes.Host, g product) []variant {
		var all []variant
		for _, v := range []struct{ warps, stages, resident int }{{8, 4, 2}, {8, 5, 2}, {8, 5, 1}, {8, 4, 1}, {16, 4, 1}, {16, 5, 1}} {
			if g.cols/8 > 4*v.warps*32 {
				continue // x is held in four vectors a thread while it is loaded
			}
			all = append(all, variant{
				entry: fmt.Sprintf("nvfp4_gemv_%dx%d", v.warps, v.stages), warps: v.warps, resident: v.resident,
				shared: v.warps*v.stages*unitBytes + 2*g.cols + 512 + 64*(perBlock(h, g.rows/unitRows, v.resident)+1),
			})
		}
		return orders(all)
	},
	arg: func(l *driver.Launch, g product, w, x, y uint64, order uint32) {
		l.Arg(w, x, y, uint32(g.rows/unitRows), uint32(g.cols/unitCols), float32(1), order)
	},
	check: func(w *driver.Memory, at int64, g matrix, x []uint16, y []float32, d *distance) error {
		units := g.cols / unitCols
		tile := make([]byte, units*unitBytes)
		var values [unitRows][unitCols]float64
		for _, t := range sampled(g.rows/unitRows, 6) {
			if err := driver.Read(w, at+int64(t*len(tile)), tile); err != nil {
				return err
			}
			var sums [unitRows]float64
			for u := range units {
				unpackUnit(tile[u*unitBytes:], &values)
				for r := range unitRows {
					for c, v := range values[r] {
						sums[r] += v * f16(x[u*unitCols+c])
					}
				}
			}
			for r, s := range sums {
				d.add(float64(y[t*unitRows+r]), s)
			}
		}
		return nil
	},
}

// NVFP4 is the product of an NVFP4 matrix with one token, activations in
// binary16.
var NVFP4 = probes.Probe{
	Name:    "cuda/gemv_nvfp4",
	Doc:     "a weight matrix in NVFP4 times one token in 16 bits: weights unpacked in the kernel",
	Formula: "rows·cols·9/16 + 2·cols + 4·rows",
	Checked: "96 rows against float64 on the same NVFP4 and binary16, all rows written",
	Check:   checkGPU,
	Plan:    nvfp4Kernel.cases(append(gemvShapes[:2:2], product{1, matrix{4096, 6144}})),
	Prepare: nvfp4Kernel.prepare,
}
