//go:build cgo && linux

package cuda

import "decodegap/probes"

// All lists the probes of a GPU, the read ceiling first.
var All = []probes.Probe{Read, Copy, BF16, NVFP4, BF16Few, NVFP4Few, BF16Experts, NVFP4Experts, GQA, Router, GraphNode, DependentNode, StreamLaunch}
