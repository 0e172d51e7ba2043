//go:build cgo && linux

package cuda

import (
	"math"

	"decodegap/probes"
)

// codeAt is where a lane's words hold the four-bit code of a column, as all
// units of 2048 bytes of weights have them: the byte of its half-word, and its
// pair. See kernels/nvfp4.h.
func codeAt(row, col int) (at, pair int) {
	m, t, q, pair, half := col/128, col%128/32, col%32/8, col%8/2, col%2
	return (2*m+row/8)*512 + (row%8*4+t)*16 + q*4 + half*2, pair
}

// e2m1Code is the code of a column of a unit, its pairs as in kernels/e2m1.h.
func e2m1Code(u []byte, row, col int) byte {
	signs, magnitudes := [4]int{15, 12, 14, 13}, [4]int{9, 6, 3, 0}
	at, pair := codeAt(row, col)
	v := uint16(u[at]) | uint16(u[at+1])<<8
	return byte(v>>signs[pair]&1<<3 | v>>magnitudes[pair]&7)
}

// groupAt is the number of a group's scale behind the weights, as in
// kernels/groups.h.
func groupAt(row, col int) int {
	group := col / 32
	return (row%8*4+group/2)*4 + row/8*2 + group%2
}

var mxfp4 = tiled{
	source: "mxfp4", name: "MXFP4", cols: 256, bytes: 2176, slot: 2176, fill: "fill_mxfp4", each: 2176,
	row: func(u []byte, row int, to []float64) {
		for col := range to {
			to[col] = math.Ldexp(e2m1(e2m1Code(u, row, col)), int(u[2048+groupAt(row, col)])-127)
		}
	},
}

var int4 = tiled{
	source: "int4", name: "INT4", cols: 256, bytes: 2304, slot: 2304, fill: "fill_int4", each: 2304,
	row: func(u []byte, row int, to []float64) {
		for col := range to {
			at, pair := codeAt(row, col)
			code := (uint16(u[at]) | uint16(u[at+1])<<8) >> (4 * pair) & 15
			s := 2048 + 2*groupAt(row, col)
			to[col] = (float64(code) - 8) * f16(uint16(u[s])|uint16(u[s+1])<<8)
		}
	},
}

var fp8 = tiled{
	source: "fp8", name: "FP8", cols: 128, bytes: 2048, slot: 2048 + 128, scale: 128, fill: "fill_fp8", each: 4,
	row: func(u []byte, row int, to []float64) {
		for col := range to {
			m, t, q, pair, half := col/64, col%64/16, col%16/4, col%4/2, col%2
			at := (2*m+row/8)*512 + (row%8*4+t)*16 + q*4 + half*2
			v := uint16(u[at]) | uint16(u[at+1])<<8
			if pair == 0 {
				to[col] = e4m3(byte(v>>15<<7 | v>>7&0x7f))
			} else {
				to[col] = e4m3(byte(v>>14&1<<7 | v&0x7f))
			}
		}
	},
}

var mxfp4Kernel, int4Kernel, fp8Kernel = mxfp4.one(), int4.one(), fp8.one()

// MXFP4, INT4 and FP8 are the products of a matrix with one token, activations
// in binary16.
var (
	MXFP4 = probes.Probe{
		Name:    "cuda/gemv_mxfp4",
		Doc:     "a weight matrix in MXFP4 times one token in 16 bits: weights unpacked in the kernel",
		Formula: "rows·cols·17/32 + 2·cols + 4·rows",
		Checked: "96 rows against float64 on the same MXFP4 and binary16, all rows written",
		Check:   checkGPU,
		Plan:    mxfp4Kernel.cases(formatShapes),
		Prepare: mxfp4Kernel.prepare,
	}
	INT4 = probes.Probe{
		Name:    "cuda/gemv_int4",
		Doc:     "a weight matrix in INT4, a binary16 scale for each 32, times one token in 16 bits: weights unpacked in the kernel",
		Formula: "rows·cols·9/16 + 2·cols + 4·rows",
		Checked: "96 rows against float64 on the same INT4 and binary16, all rows written",
		Check:   checkGPU,
		Plan:    int4Kernel.cases(formatShapes),
		Prepare: int4Kernel.prepare,
	}
	FP8 = probes.Probe{
		Name:    "cuda/gemv_fp8",
		Doc:     "a weight matrix in FP8 (E4M3), a float32 scale for each 128×128, times one token in 16 bits: weights unpacked in the kernel",
		Formula: "rows·cols + rows·cols/4096 + 2·cols + 4·rows",
		Checked: "96 rows against float64 on the same FP8 and binary16, all rows written",
		Check:   checkGPU,
		Plan:    fp8Kernel.cases(formatShapes),
		Prepare: fp8Kernel.prepare,
	}
)
