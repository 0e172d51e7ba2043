package model

import (
	"fmt"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/nearest"
	"decodegap/roofline/unit"
)

// Format is how a quantized matrix is stored.
type Format struct {
	Name  string
	Bytes unit.Bytes     // per weight, block scales included
	Math  roofline.DType // narrowest type that multiplies it without loss
}

// The storage formats of weights. Scales are counted, except one scalar a
// tensor; blocks are not rounded up at edges.
var (
	BF16 = Format{"BF16", 2, roofline.BF16}
	FP16 = Format{"FP16", 2, roofline.BF16}
	FP32 = Format{"FP32", 4, roofline.BF16}
	// FP8Tensor has one scale a tensor.
	FP8Tensor = Format{"FP8", 1, roofline.FP8}
	// FP8Block has one FP32 scale per 128×128 block (DeepSeek-V3 report, 3.3).
	FP8Block = Format{"FP8 128x128", 1 + 4.0/16384, roofline.FP8}
	// NVFP4 has one FP8 scale per 16 values (NVIDIA ModelOpt, group_size 16).
	NVFP4 = Format{"NVFP4", 0.5 + 1.0/16, roofline.FP4}
	// MXFP4 has one 8-bit exponent per 32 values (OCP MX specification 1.0).
	MXFP4 = Format{"MXFP4", 0.5 + 1.0/32, roofline.FP4}
	// MXFP8 has one 8-bit exponent per 32 values (OCP MX specification 1.0).
	MXFP8 = Format{"MXFP8", 1 + 1.0/32, roofline.FP8}
	// INT8 has one scale per output channel, left out as of no size.
	INT8 = Format{"INT8", 1, roofline.INT8}
	// NF4 is bitsandbytes' 4-bit form: one FP32 absmax per 64 values.
	NF4 = Format{"NF4", 0.5 + 4.0/64, roofline.BF16}
)

// fp8Block is FP8 with one FP32 scale per rows×columns block.
func fp8Block(rows, columns int) Format {
	if rows == 128 && columns == 128 {
		return FP8Block
	}
	return Format{fmt.Sprintf("FP8 %dx%d", rows, columns), unit.Bytes(1 + 4/float64(rows*columns)), roofline.FP8}
}

// intGroup is an integer format with one FP16 scale, and if asymmetric one
// zero point of the same width as a weight, per group of values.
func intGroup(name string, bits, group int, zeros bool) Format {
	width := float64(bits) / 8
	bytes := width
	if group > 0 {
		bytes += 2 / float64(group)
		if zeros {
			bytes += width / float64(group)
		}
	}
	label := fmt.Sprintf("%s INT%d", name, bits)
	if group > 0 {
		label += fmt.Sprintf(" g%d", group)
	}
	return Format{strings.TrimSpace(label), unit.Bytes(bytes), roofline.BF16}
}

// Assumable are the formats that --weights may assume for every matrix.
var Assumable = map[string]Format{
	"bf16": BF16, "fp8": FP8Tensor, "fp8-block": FP8Block, "nvfp4": NVFP4,
	"mxfp4": MXFP4, "mxfp8": MXFP8, "int8": INT8, "int4": intGroup("", 4, 128, false),
}

// ParseFormat reads the name of an assumed format.
func ParseFormat(name string) (Format, error) {
	if f, ok := Assumable[strings.ToLower(name)]; ok {
		return f, nil
	}
	var known []string
	for k := range Assumable {
		known = append(known, k)
	}
	sortStrings(known)
	return Format{}, fmt.Errorf("unknown weight format %q: %s", name, nearest.Hint(name, known))
}
