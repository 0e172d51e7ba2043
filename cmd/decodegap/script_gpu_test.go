//go:build cgo && linux

package main

import (
	"testing"

	"decodegap/probes/cuda/cudatest"
)

// TestGPUScripts runs testdata/script/gpu/*.txtar on stand-ins for the NVIDIA
// driver's libraries: $DECODEGAP_LIBCUDA is one for libcuda, $NVML and
// $POOR_NVML are folders with one for libnvidia-ml, the second of a driver that
// lacks a function.
func TestGPUScripts(t *testing.T) {
	const root = "../.."
	runScripts(t, "script/gpu", map[string]string{
		"DECODEGAP_LIBCUDA": cudatest.Library(t, root),
		"NVML":              cudatest.NVML(t, root),
		"POOR_NVML":         cudatest.NVML(t, root, "-DWITHOUT_REASONS"),
		"FAKECUDA_NAME":     "NVIDIA H200",
	})
}
