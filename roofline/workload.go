package roofline

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
)

// Size is the bytes of one value, 0 for an unknown format.
func (d DType) Size() float64 {
	switch d {
	case FP32:
		return 4
	case BF16, FP16:
		return 2
	case FP8, INT8:
		return 1
	case FP4:
		return 0.5
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
