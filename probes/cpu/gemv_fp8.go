//go:build cgo && linux

package cpu

import "decodegap/probes"

// GEMVFP8 multiplies a matrix of FP8 weights with 1 to 16 tokens.
var GEMVFP8 = probes.Probe{
	Name:    "cpu/gemv_fp8",
	Doc:     "multiplies a matrix of FP8 weights with a few tokens",
	Formula: "rows·cols + 4·⌈rows/128⌉·⌈cols/128⌉ + 4·M·(rows + cols)",
	Checked: gemvChecked,
	Check:   gemvCheck(FP8),
	Plan:    gemvPlan(FP8),
	Prepare: prepareGEMV,
}
