//go:build cgo && linux

package cuda

import "decodegap/probes"

// All lists the probes of a GPU, the read ceiling first.
var All = []probes.Probe{Read, Copy, BF16, FP8, NVFP4, MXFP4, INT4, BF16Few, FP8Few, NVFP4Few, NativeNVFP4, BF16Experts, NVFP4Experts,
	GQA, PagedGQA, MLA, Indexer, IndexTop, Router, Norm, RoPE, KVWrite, Activation, Permute, Sampling, Embedding, GraphNode, DependentNode, StreamLaunch, AllReduce}
