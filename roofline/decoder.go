package roofline

import "decodegap/roofline/unit"

// Role says what a weight is for. Engines shard by role, so every role has one
// place in each engine layout.
type Role string

// The roles of a decoder's weights.
const (
	RoleEmbed         Role = "embedding"
	RoleHead          Role = "lm_head"
	RoleNorm          Role = "norm"
	RoleQ             Role = "q"
	RoleK             Role = "k"
	RoleV             Role = "v"
	RoleO             Role = "o"
	RoleOBias         Role = "o.bias"
	RoleSinks         Role = "sinks"
	RoleQA            Role = "mla.q_a"
	RoleKVA           Role = "mla.kv_a"
	RoleQB            Role = "mla.q_b"
	RoleKVB           Role = "mla.kv_b"
	RoleIndexQ        Role = "indexer.wq_b"
	RoleIndexK        Role = "indexer.wk"
	RoleIndexWeights  Role = "indexer.weights_proj"
	RoleMLP           Role = "mlp"
	RoleRouter        Role = "router"
	RoleExpert        Role = "expert"
	RoleExpertOutBias Role = "expert.out_bias"
	RoleShared        Role = "shared_expert"
	RoleSharedGate    Role = "shared_expert_gate"
	RoleState         Role = "ssm"
	RoleDraft         Role = "draft"
)

// Tensor is a weight of the decoder, or several identical ones folded together.
type Tensor struct {
	Role      Role
	Component Component
	Name      string     // module path of the first instance in the checkpoint
	Repeat    int        // identical instances, usually one a layer
	Params    int64      // weights of one instance; all experts together for routed ones
	Bytes     unit.Bytes // stored bytes of one instance, scales included
	Format    string     // "NVFP4", "BF16", …
	Math      DType      // narrowest type that multiplies it without loss
	Evidence  Evidence

	// Matrix: every token's activations are multiplied by it: 2 FLOP a weight.
	Matrix bool
	// Uncounted: by convention not part of the published parameter count
	// (norms, a tied table's second use).
	Uncounted bool
	// IndexNorm: a norm that only the sparse-attention index needs.
	IndexNorm bool
	// Each is the weights of one matrix of one routed expert, 0 otherwise.
	Each int64

	At *Places // of the instances
}

// Places are the decoder blocks, counted from 0, that hold the instances of a
// folded entry, one for each; Ends for what is before or behind the blocks.
type Places []int

// Ends is the place of embedding, final norm and head.
const Ends = -1

// Evidence says where a byte count comes from.
type Evidence string

// The sources of a byte count, best first.
const (
	FromHeaders    Evidence = "headers"
	FromSideFile   Evidence = "side-file"
	FromConfig     Evidence = "config"
	FromAssumption Evidence = "assumption"
)

// CacheKind is what a layer keeps of earlier tokens.
type CacheKind string

// The kinds of cache.
const (
	CacheKV     CacheKind = "kv"     // keys and values a head
	CacheLatent CacheKind = "latent" // MLA's compressed record
	CacheIndex  CacheKind = "index"  // sparse-attention index keys
	CacheState  CacheKind = "state"  // recurrent state, read and written whole
)

// Cache is the cache of one layer, or of several identical ones.
type Cache struct {
	Kind      CacheKind
	Component Component
	Repeat    int

	// KV: heads of HeadDim values, keys and values; Heads query heads share them.
	Heads, KVHeads, HeadDim int
	// Latent: Latent values plus Rope values a token. Index: IndexHeads query
	// heads of HeadDim against one key of HeadDim.
	Latent, Rope, IndexHeads int
	// State: StateValues in the state type and ConvValues at 2 bytes a
	// sequence, StateFLOPs a token.
	StateValues, ConvValues int64
	StateFLOPs              unit.FLOPs

	Window int // sliding window in tokens, 0 for none
	Chunk  int // chunked attention, 0 for none
	TopK   int // sparse selection, 0 for none; only without DenseAttention

	At *Places // of the layers
}

// Kernels is how many kernels a component adds to the critical path of each of
// Repeat layers: one a dependent stage, parallel branches counted once, an
// activation fused into the matrix before it. A single persistent kernel for
// the whole step would have fewer; no engine ships one.
type Kernels struct {
	Component Component
	Repeat    int
	Count     int
	OnlyDense bool // only when a sparse-attention model runs without its index

	At *Places // of the layers
}

// Decoder is a model as one decode step sees it: the weights it reads and the
// caches it touches, with nothing said about how an engine spreads them.
type Decoder struct {
	Name, Architecture string
	Layers             int // decoder blocks; Nemotron counts sublayers
	Hidden             int
	Vocab              int
	MaxContext         int  // 0: the files do not say
	Heads, KVHeads     int  // of attention layers; KVHeads 0 for MLA
	StateHeads         int  // of recurrent layers, 0 for none
	Experts, TopK      int  // per MoE layer, 0 for dense models
	AllReduces         int  // per step when the group has more than one rank
	Indexed            bool // has a sparse-attention index

	// Counts remembers expert counts of the busiest rank; nil computes each anew.
	Counts *ExpertCounts

	Tensors []Tensor
	Caches  []Cache
	Kernels []Kernels

	// LayersWith counts the layers that have a component; embedding, final
	// norm and head together are one more.
	LayersWith map[Component]int

	// Draft is the checkpoint's MTP layer with the shared head, nil if it has
	// none. A step without speculation never reads it.
	Draft *Decoder

	KVType      DType // what the files ask for, "" if they say nothing
	StateType   DType
	BytesSource Evidence
	Published   int64 // published parameter count, 0 if none is known
	PublishedBy string
	Notes       []string // what the reader had to assume, one a line
	DraftNote   string   // the same of MTP layers, where none drafts
}

// Params counts the decoder's parameters by convention: all matrices with all
// experts, embedding, head, router, declared biases; norms left out, a tied
// table counted once.
func (d *Decoder) Params() int64 {
	var n int64
	for _, t := range d.Tensors {
		if !t.Uncounted {
			n += t.Params * int64(t.Repeat)
		}
	}
	return n
}

// ActiveParams counts what one token's step reads: k of E experts, the head,
// not the embedding table.
func (d *Decoder) ActiveParams() int64 {
	var n, experts int64
	for _, t := range d.Tensors {
		switch {
		case t.Uncounted || t.Role == RoleEmbed:
		case t.IsExpert(): // several formats may share one expert: divide the sum
			experts += t.Params * int64(t.Repeat)
		default:
			n += t.Params * int64(t.Repeat)
		}
	}
	if e := int64(d.Experts); e > 0 {
		n += experts/e*int64(d.TopK) + experts%e*int64(d.TopK)/e
	}
	return n
}

// IsExpert says whether only the chosen experts' share of t is read.
func (t Tensor) IsExpert() bool { return t.Role == RoleExpert || t.Role == RoleExpertOutBias }
