package roofline

import "decodegap/roofline/unit"

// DType names a number format of caches, states and arithmetic.
type DType string

// The formats a cache, a recurrent state or a matrix unit may use.
const (
	FP32 DType = "fp32"
	BF16 DType = "bf16"
	FP16 DType = "fp16"
	FP8  DType = "fp8"
	FP4  DType = "fp4"
	INT8 DType = "int8"

	// Formats of caches in blocks, each with its scale: NVFP4 has one byte per
	// 16 values, llama.cpp's an FP16 one per 32 (ggml/src/ggml-common.h).
	NVFP4 DType = "nvfp4"
	Q8_0  DType = "q8_0"
	Q5_1  DType = "q5_1"
	Q5_0  DType = "q5_0"
	Q4_1  DType = "q4_1"
	Q4_0  DType = "q4_0"
	IQ4NL DType = "iq4_nl"
)

// Size is the bytes of one value, its share of a block's scale included, 0 for
// an unknown format.
func (d DType) Size() unit.Bytes {
	switch d {
	case FP32:
		return 4
	case BF16, FP16:
		return 2
	case FP8, INT8:
		return 1
	case FP4:
		return 0.5
	case NVFP4:
		return 0.5 + 1.0/16
	case Q8_0:
		return 34.0 / 32
	case Q5_1:
		return 24.0 / 32
	case Q5_0:
		return 22.0 / 32
	case Q4_1:
		return 20.0 / 32
	case Q4_0, IQ4NL:
		return 18.0 / 32
	}
	return 0
}

// Workload is the operating point of one decode step.
type Workload struct {
	Batch   int // sequences in the step, over the whole deployment
	Context int // tokens already in the cache of every sequence

	TP, EP, DP, PP int // degrees of parallelism, each at least 1

	DraftTokens    int     // speculation: drafts verified per sequence and step
	AcceptedTokens float64 // tokens emitted per sequence and step, at least 1

	KVType    DType // cached keys, values, latents
	StateType DType // recurrent state (models that have one)

	// Measured distinct experts a MoE layer reads, over the group and on the
	// busiest expert-parallel rank; 0 takes the expectation.
	DistinctExperts, BusiestExperts float64

	DenseAttention bool // a sparse-index model run without its index
}

// GPUs is the number of devices of the deployment: tp·dp·pp.
func (w Workload) GPUs() int { return w.TP * w.DP * w.PP }

// Tokens is the number of tokens one step processes: B·(1+γ).
func (w Workload) Tokens() int { return w.Batch * (1 + w.DraftTokens) }
