//go:build cgo && linux

package all

import (
	"context"
	"io"

	"decodegap/probes"
	"decodegap/probes/cpu"
	"decodegap/probes/cuda"
	"decodegap/roofline/hardware"
)

// CUDA lists the probes of NVIDIA GPUs, which run in a child process.
var CUDA = cuda.All

// ServeCUDA is that child: it reads a request and writes what it measures.
// Telemetry opens the watch on the GPU at a PCI address.
func ServeCUDA(ctx context.Context, in io.Reader, out io.Writer, telemetry func(busID string) (hardware.Telemetry, error)) error {
	return cuda.Serve(ctx, in, out, telemetry)
}

// All lists every probe of the CPU: the read ceiling before what is measured
// against it.
var All = []probes.Probe{
	cpu.Read,
	cpu.GEMVNVFP4,
	cpu.GEMVBF16,
	cpu.GEMVFP8,
	cpu.GEMVMXFP4,
	cpu.GEMVINT4,
	cpu.ExpertsNVFP4,
	cpu.ExpertsBF16,
	cpu.AttentionGQA,
	cpu.AttentionMLA,
	cpu.Router,
	cpu.Norm,
	cpu.RoPE,
	cpu.KVWrite,
	cpu.Activation,
	cpu.Sampling,
	cpu.Embedding,
	cpu.AllReduce,
	cpu.Barrier,
	cpu.Wake,
	cpu.Copy,
	cpu.Triad,
}

// Missing says why this build has no probes; "" where it has.
const Missing = ""

// ISAs lists the instruction sets that the CPU's kernels can use here, best
// first.
func ISAs() []string {
	var names []string
	for _, i := range cpu.Supported() {
		names = append(names, i.String())
	}
	return names
}
