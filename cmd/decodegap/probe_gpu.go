package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/exitcode"
	"decodegap/probes"
	"decodegap/probes/all"
	"decodegap/probes/cuda"
	"decodegap/reports"
	"decodegap/roofline/hardware/nvml"
)

// mostGPUs bounds a device's number.
const mostGPUs = 256

// gpuIndex is the number of a GPU: 0 of cuda, 1 of cuda:1.
func gpuIndex(device string) (int, error) {
	kind, number, numbered := strings.Cut(device, ":")
	if kind == "cuda" && !numbered {
		return 0, nil
	}
	if n, err := strconv.ParseUint(number, 10, 16); kind == "cuda" && err == nil && n < mostGPUs {
		return int(n), nil
	}
	return 0, fmt.Errorf("--device %q: expected cpu, cuda or cuda:N", device)
}

// checkDevice is an error where a device is neither the CPU nor a GPU's number.
func checkDevice(device string) error {
	if device == hostName {
		return nil
	}
	_, err := gpuIndex(device)
	return err
}

// probeGPU runs the chosen probes of a GPU in child processes and makes their
// document. A machine without GPU or driver is an error with status 4.
func (e *environment) probeGPU(ctx context.Context, mine, chosen []probes.Probe, opt probeOptions) (*reports.CeilingsDocument, error) {
	index, err := gpuIndex(opt.device)
	if err != nil {
		return nil, err
	}
	if opt.threads > 0 {
		return nil, fmt.Errorf("--threads is for the CPU's kernels, not for --device %s", opt.device)
	}
	memory, err := opt.most()
	if err != nil {
		return nil, err
	}
	bench := e.bench()
	req := cuda.Request{Library: opt.libcuda, Device: index, Budget: opt.budget, Memory: memory}
	for _, p := range chosen {
		req.Probes = append(req.Probes, p.Name)
	}
	set, clear := e.progress(opt.quiet)
	parent := &cuda.Parent{Command: bench.child, Progress: set}
	when := bench.now()
	out, err := parent.Run(ctx, req)
	clear()
	switch {
	case errors.Is(err, probes.ErrUnsupported):
		return nil, exitcode.With(exitcode.Unavailable, fmt.Errorf("--device %s: %w", opt.device, err))
	case err != nil:
		return nil, exitcode.With(exitcode.NotComparable, fmt.Errorf("--device %s: %w", opt.device, err))
	}
	host := probes.Detect(bench.host(), 0)
	host.GPU = &out.GPU
	return assemble.Ceilings(out.Run, mine, nil, host, version, when, opt.budget), nil
}

// childName is the hidden command of the child.
const childName = "probe-child"

// cudaChild is this program as the child that times probes of a GPU.
func cudaChild(ctx context.Context) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return exec.CommandContext(ctx, exe, childName)
}

// newProbeChildCommand is the child's side: JSON in, lines of JSON out.
func newProbeChildCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:    childName,
		Short:  "time probes of a GPU on request (used by this program itself)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env.finishes.Store(true)
			return all.ServeCUDA(cmd.Context(), env.stdin, env.stdout, nvml.OpenTelemetry)
		},
	}
}
