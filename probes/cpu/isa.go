//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

// ISA is an instruction set that kernels are written for.
type ISA int

// The instruction sets, by what a kernel needs.
const (
	Scalar ISA = C.DG_SCALAR
	AVX2   ISA = C.DG_AVX2        // AVX2, FMA, F16C
	AVX512 ISA = C.DG_AVX512      // F, BW, VL, DQ
	BF16   ISA = C.DG_AVX512_BF16 // AVX512 and BF16
	VNNI   ISA = C.DG_AVX512_VNNI // AVX512, VNNI and VBMI
	AMX    ISA = C.DG_AMX         // BF16, tiles and their bf16 products
	NEON   ISA = C.DG_NEON
)

// preference is the order in which an instruction set is tried, best first.
var preference = []ISA{AMX, VNNI, BF16, AVX512, AVX2, NEON, Scalar}

// String is the name used in cases and results.
func (i ISA) String() string { return C.GoString(C.dg_isa_name(C.int(i))) }

// Has says whether this CPU and its operating system allow the set.
func (i ISA) Has() bool { return C.dg_has(C.int(i)) != 0 }

// Supported lists what this CPU allows, best first.
func Supported() []ISA {
	var out []ISA
	for _, i := range preference {
		if i.Has() {
			out = append(out, i)
		}
	}
	return out
}
