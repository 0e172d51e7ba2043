package roofline

import "strings"

// Component names a part of a decode step. The list is closed: ledgers, traces
// and reports all use exactly these names.
type Component string

// The components of a decode step, in the order reports show them.
const (
	Embedding     Component = "embedding"
	AttentionQKV  Component = "attention.qkv"
	AttentionCore Component = "attention.core"
	AttentionOut  Component = "attention.out"
	Indexer       Component = "attention.indexer"
	KVWrite       Component = "kv.write"
	SSM           Component = "ssm"
	MLPDense      Component = "mlp.dense"
	MoERouter     Component = "moe.router"
	MoEDispatch   Component = "moe.dispatch"
	MoEExperts    Component = "moe.experts"
	MoEShared     Component = "moe.shared"
	MoECombine    Component = "moe.combine"
	Norm          Component = "norm"
	Rope          Component = "rope"
	Activation    Component = "activation"
	Quantize      Component = "quantize"
	LMHead        Component = "lm_head"
	Sampling      Component = "sampling"
	AllReduce     Component = "comm.allreduce"
	AllGather     Component = "comm.allgather"
	ReduceScatter Component = "comm.reducescatter"
	AllToAll      Component = "comm.alltoall"
	P2P           Component = "comm.p2p"
	Memcpy        Component = "memcpy"
	Memset        Component = "memset"
	Elementwise   Component = "elementwise"
	Draft         Component = "draft"
	Other         Component = "other"
)

// Components lists every component with one line of meaning.
var Components = []struct {
	Name Component
	Doc  string
}{
	{Embedding, "input embedding rows of the step's tokens"},
	{AttentionQKV, "query, key and value projections; MLA's q_a, q_b, kv_a, kv_b"},
	{AttentionCore, "attention over the cache: cache read and write, scores, values"},
	{AttentionOut, "output projection of attention"},
	{Indexer, "sparse-attention indexer: weights, index cache, top-k"},
	{KVWrite, "writing the cache as a kernel of its own (traces only; a floor counts it in attention.core)"},
	{SSM, "recurrent layers (gated delta net, Mamba2): weights and state"},
	{MLPDense, "dense feed-forward matrices"},
	{MoERouter, "router (gate) matrix and top-k"},
	{MoEDispatch, "permuting tokens to experts"},
	{MoEExperts, "routed experts"},
	{MoEShared, "shared experts and their gate"},
	{MoECombine, "weighting and un-permuting expert outputs"},
	{Norm, "normalisation weights"},
	{Rope, "rotary position embedding"},
	{Activation, "activation functions as kernels of their own"},
	{Quantize, "quantising activations"},
	{LMHead, "output head"},
	{Sampling, "logit processing and sampling"},
	{AllReduce, "all-reduce between tensor-parallel ranks"},
	{AllGather, "all-gather"},
	{ReduceScatter, "reduce-scatter"},
	{AllToAll, "all-to-all of expert parallelism"},
	{P2P, "point-to-point sends (pipeline stages)"},
	{Memcpy, "device copies"},
	{Memset, "device fills"},
	{Elementwise, "element-wise kernels not in another component"},
	{Draft, "the speculative draft model or MTP layer"},
	{Other, "what no rule places"},
}

// IsComm says whether c moves data between devices, not to and from memory.
func (c Component) IsComm() bool { return strings.HasPrefix(string(c), "comm.") }
