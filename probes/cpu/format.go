//go:build cgo && linux

package cpu

// #cgo CFLAGS: -O2
// #cgo LDFLAGS: -lm
// #include "weights.h"
import "C"

import (
	"fmt"

	"decodegap/probes"
)

// Format is how a weight matrix is stored.
type Format int

// The formats, with the bytes of a weight and its share of scales.
const (
	BF16Weights Format = C.DG_W_BF16  // 2
	FP8         Format = C.DG_W_FP8   // 1, and an f32 for each 128×128 or each row
	NVFP4       Format = C.DG_W_NVFP4 // 1/2, and an E4M3 for each 16
	MXFP4       Format = C.DG_W_MXFP4 // 1/2, and an E8M0 for each 32
	INT4        Format = C.DG_W_INT4  // 1/2, and an f16 for each 32
)

var formatNames = []string{"BF16", "FP8", "NVFP4", "MXFP4", "INT4"}

// String is the name used in cases.
func (f Format) String() string { return formatNames[f] }

// ParseFormat is the inverse of String.
func ParseFormat(name string) (Format, error) {
	for i, n := range formatNames {
		if n == name {
			return Format(i), nil
		}
	}
	return 0, fmt.Errorf("weight format %q: no kernel; there are %v", name, formatNames)
}

// blockRows is how many rows are packed together.
const blockRows = C.DG_ROWS

// MaxTokens is the most tokens that one operation multiplies.
const MaxTokens = C.DG_TOKENS

// The sizes of weights.h, which a call into C for each weight would slow down.
var chunkInputs, chunkBytes = []int{32, 128, 64, 128, 64}, []int{2048, 4096, 1152, 2176, 1152}

func (f Format) chunkInputs() int { return chunkInputs[f] }
func (f Format) chunkBytes() int  { return chunkBytes[f] }

// chunks is how many chunks a block of cols inputs has.
func (f Format) chunks(cols int) int { return (cols + f.chunkInputs() - 1) / f.chunkInputs() }

// packed is the bytes of rows × cols weights in memory, whole blocks of 32
// rows and whole chunks of inputs, without FP8's scales.
func (f Format) packed(rows, cols int) int64 {
	return int64((rows+blockRows-1)/blockRows) * int64(f.chunks(cols)) * int64(f.chunkBytes())
}

// bytes is what rows × cols weights with their scales take, without padding.
// FP8 has a scale for each 128×128 where block, else for each row.
func (f Format) bytes(rows, cols int, block bool) int64 {
	n := int64(rows) * int64(cols)
	switch f {
	case BF16Weights:
		return 2 * n
	case FP8:
		if block {
			return n + 4*int64((rows+127)/128)*int64((cols+127)/128)
		}
		return n + 4*int64(rows)
	case NVFP4:
		return n/2 + int64(rows)*int64((cols+15)/16)
	case MXFP4:
		return n/2 + int64(rows)*int64((cols+31)/32)
	default:
		return n/2 + 2*int64(rows)*int64((cols+31)/32)
	}
}

// activations says what a kernel does to its inputs before it multiplies, and
// how far its result may lie from float64 for it: see Correctness.Bound.
func (k weightKernel) activations() (comment string, bound float64) {
	switch k.c.prep {
	case C.DG_P_INT8:
		group := int(C.dg_group(k.c.format))
		return fmt.Sprintf("activations as int8 with a scale for each %d", group), 1.5e-2
	case C.DG_P_BF16, C.DG_P_BF16_FOUR:
		return "activations rounded to bf16, float32 sums", 3e-3
	default:
		return "float32 activations and sums", 2e-5
	}
}

// weightKernel is a format's code in one instruction set.
type weightKernel struct {
	isa ISA
	c   *C.dg_weights
}

// kernel finds the code of a format: of the named instruction set, or of the
// best that this CPU has and that the format is written for.
func (f Format) kernel(name string) (weightKernel, error) {
	for _, isa := range Supported() {
		if name != "" && name != isa.String() {
			continue
		}
		if k := C.dg_weights_find(C.int(f), C.int(isa)); k != nil {
			return weightKernel{isa, k}, nil
		}
	}
	if name == "" {
		return weightKernel{}, fmt.Errorf("%w: no %s kernel for any instruction set of this CPU", probes.ErrUnsupported, f)
	}
	return weightKernel{}, fmt.Errorf("%w: no %s kernel for %s, or this CPU lacks it", probes.ErrUnsupported, f, name)
}

// chunkOfC is what weights.h says, for the test of the sizes above.
func chunkOfC(f Format) (inputs, bytes int) {
	return int(C.dg_chunk_k(C.int(f))), int(C.dg_chunk_bytes(C.int(f)))
}
