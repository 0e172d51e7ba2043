package classify

import (
	"regexp"
	"strings"
)

var (
	nvjetRE   = regexp.MustCompile(`^nvjet_(?:sm\d+_)?([a-z]+)_`)
	tensileRE = regexp.MustCompile(`^Cijk_[A-Z][a-z]+_[A-Z][a-z]+_([A-Z0-9]+)_`)
)

// namedPrecisions are words in kernel names, in the order in which they
// decide: a quantised operand says more than the 16-bit output beside it.
var namedPrecisions = []struct{ word, precision string }{
	{"nvfp4", "fp4"}, {"mxfp4", "fp4"}, {"e2m1", "fp4"}, {"fp4", "fp4"},
	{"e4m3", "fp8"}, {"e5m2", "fp8"}, {"fp8", "fp8"}, {"float8", "fp8"},
	{"q4_k", "int4"}, {"int4", "int4"}, {"4bit", "int4"},
	{"int8", "int8"}, {"q8_1", "int8"}, {"q8_0", "int8"},
	{"bfloat16", "bf16"}, {"bf16", "bf16"}, {"df16b", "bf16"},
	{"half", "fp16"}, {"fp16", "fp16"}, {"_f16", "fp16"},
	{"tf32", "tf32"}, {"sgemm", "fp32"}, {"float", "fp32"}, {"f32", "fp32"},
	{"double", "fp64"}, {"dgemm", "fp64"},
}

// precisionOf reads the types from a normalised name, "" where it says none.
// The letters of nvjet and Tensile are read as their libraries use them: t or
// B is bfloat16, h or H half, s or S single, q and F8 eight bits.
func precisionOf(name string) string {
	if m := nvjetRE.FindStringSubmatch(name); m != nil {
		switch l := m[1]; {
		case strings.HasPrefix(l, "o"):
			return "fp4"
		case strings.HasPrefix(l, "q"), strings.HasPrefix(l, "r"):
			return "fp8"
		case strings.HasPrefix(l, "t"):
			return "bf16"
		case strings.HasPrefix(l, "h"):
			return "fp16"
		case strings.HasPrefix(l, "s"):
			return "fp32"
		}
		return ""
	}
	if m := tensileRE.FindStringSubmatch(name); m != nil {
		switch l := m[1]; {
		case strings.HasPrefix(l, "F8"), strings.HasPrefix(l, "B8"):
			return "fp8"
		case strings.HasPrefix(l, "B"):
			return "bf16"
		case strings.HasPrefix(l, "H"):
			return "fp16"
		case strings.HasPrefix(l, "I8"):
			return "int8"
		case strings.HasPrefix(l, "S"):
			return "fp32"
		}
		return ""
	}
	low := strings.ToLower(name)
	for _, p := range namedPrecisions {
		if strings.Contains(low, p.word) {
			return p.precision
		}
	}
	return ""
}
