package gguf

import "fmt"

// Type is how the values of a tensor are stored: Bytes bytes hold a block of
// Block values, scales included.
type Type struct {
	Name  string
	Block int
	Bytes int
}

// known is a type by its number in a file. One without a size has been
// removed from the format.
type known struct {
	Type
	instead string // of a removed type
}

// types are the element types by number: enum ggml_type in ggml.h, the sizes
// from the block structures in ggml-common.h (github.com/ggml-org/ggml,
// commit d99724f of August 2026).
var types = []known{
	{Type: Type{"F32", 1, 4}},
	{Type: Type{"F16", 1, 2}},
	{Type: Type{"Q4_0", 32, 18}},
	{Type: Type{"Q4_1", 32, 20}},
	{Type: Type{Name: "Q4_2"}, instead: "a newer quantization"},
	{Type: Type{Name: "Q4_3"}, instead: "a newer quantization"},
	{Type: Type{"Q5_0", 32, 22}},
	{Type: Type{"Q5_1", 32, 24}},
	{Type: Type{"Q8_0", 32, 34}},
	{Type: Type{"Q8_1", 32, 36}},  // the Python writer (gguf-py 0.19) says 40, which ggml does not read
	{Type: Type{"Q2_K", 256, 84}}, // 10
	{Type: Type{"Q3_K", 256, 110}},
	{Type: Type{"Q4_K", 256, 144}},
	{Type: Type{"Q5_K", 256, 176}},
	{Type: Type{"Q6_K", 256, 210}},
	{Type: Type{"Q8_K", 256, 292}},
	{Type: Type{"IQ2_XXS", 256, 66}},
	{Type: Type{"IQ2_XS", 256, 74}},
	{Type: Type{"IQ3_XXS", 256, 98}},
	{Type: Type{"IQ1_S", 256, 50}},
	{Type: Type{"IQ4_NL", 32, 18}}, // 20
	{Type: Type{"IQ3_S", 256, 110}},
	{Type: Type{"IQ2_S", 256, 82}},
	{Type: Type{"IQ4_XS", 256, 136}},
	{Type: Type{"I8", 1, 1}},
	{Type: Type{"I16", 1, 2}},
	{Type: Type{"I32", 1, 4}},
	{Type: Type{"I64", 1, 8}},
	{Type: Type{"F64", 1, 8}},
	{Type: Type{"IQ1_M", 256, 56}},
	{Type: Type{"BF16", 1, 2}}, // 30
	{Type: Type{Name: "Q4_0_4_4"}, instead: "Q4_0"},
	{Type: Type{Name: "Q4_0_4_8"}, instead: "Q4_0"},
	{Type: Type{Name: "Q4_0_8_8"}, instead: "Q4_0"},
	{Type: Type{"TQ1_0", 256, 54}},
	{Type: Type{"TQ2_0", 256, 66}},
	{Type: Type{Name: "IQ4_NL_4_4"}, instead: "IQ4_NL"},
	{Type: Type{Name: "IQ4_NL_4_8"}, instead: "IQ4_NL"},
	{Type: Type{Name: "IQ4_NL_8_8"}, instead: "IQ4_NL"},
	{Type: Type{"MXFP4", 32, 17}},
	{Type: Type{"NVFP4", 64, 36}}, // 40; the FP32 scale of a tensor is one of its own
	{Type: Type{"Q1_0", 128, 18}},
	{Type: Type{"Q2_0", 64, 18}},
}

// typeOf is the type of a number in a file.
func typeOf(id uint32) (Type, error) {
	if int64(id) >= int64(len(types)) {
		return Type{}, fmt.Errorf("type %d, expected one up to %d (%s); the file is of a newer or a changed llama.cpp",
			id, len(types)-1, types[len(types)-1].Name)
	}
	k := types[id]
	if k.Block == 0 {
		return Type{}, fmt.Errorf("type %d, %s, has been removed from the format; take a file in %s", id, k.Name, k.instead)
	}
	return k.Type, nil
}
