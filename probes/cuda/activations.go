//go:build cgo && linux

package cuda

import (
	"encoding/binary"

	"decodegap/roofline/unit"
)

// activations is how the tokens of a product lie in memory.
type activations struct {
	fill  string // entry of fill.cu
	each  int    // bytes that fill counts by
	limit []any  // of fill, in front of its seed
	size  func(g product) int
	// bytes are those of one token, without what fills eight tokens up.
	bytes func(cols int) unit.Bytes
	// token gives one token in float64.
	token func(x []byte, g product, token int) []float64
}

// halves are activations of 16 bits, token after token.
func halves(fill string, value func(uint16) float64) activations {
	return activations{
		fill: fill, each: 4, limit: []any{float32(1)},
		size: func(g product) int {
			if g.tokens == 1 {
				return 2 * g.cols
			}
			return 2 * 8 * eights(g.tokens) * g.cols // whole columns of operand B
		},
		bytes: func(cols int) unit.Bytes { return unit.Bytes(2 * cols) },
		token: func(x []byte, g product, token int) []float64 {
			all := make([]float64, g.cols)
			for i := range all {
				all[i] = value(binary.LittleEndian.Uint16(x[2*(token*g.cols+i):]))
			}
			return all
		},
	}
}

var inF16, inBF16 = halves("fill_f16", f16), halves("fill_bf16", bf16)

// A unit of eight tokens of kernels/nvfp4_native.cu in 256 columns: its bytes,
// and where their scales begin.
const (
	nativeEight  = 1152
	nativeScales = 1024
)

// inNVFP4 are activations in NVFP4, eight tokens of 256 columns together.
var inNVFP4 = activations{
	fill: "fill_nvfp4_eight", each: nativeEight,
	size:  func(g product) int { return eights(g.tokens) * g.cols / unitCols * nativeEight },
	bytes: func(cols int) unit.Bytes { return unit.Bytes(cols * 9 / 16) },
	token: func(x []byte, g product, token int) []float64 {
		all := make([]float64, g.cols)
		for i := range all {
			eight := x[(token/8*(g.cols/unitCols)+i/unitCols)*nativeEight:]
			step, col := i%unitCols/64, i%64
			at := step/2*512 + (token%8*4+col%32/8)*16 + step%2*8 + col/32*4 + col%8/2
			scale := eight[nativeScales+token%8*16+step*4+col/16]
			all[i] = e2m1(eight[at]>>(4*(col%2))&15) * e4m3(scale)
		}
		return all
	},
}
