//go:build cgo && linux

package cpu

import "decodegap/probes"

// GEMVBF16 multiplies a matrix of BF16 weights with 1 to 16 tokens.
var GEMVBF16 = probes.Probe{
	Name:    "cpu/gemv_bf16",
	Doc:     "multiplies a matrix of BF16 weights with a few tokens",
	Formula: "2·rows·cols + 4·M·(rows + cols)",
	Checked: gemvChecked,
	Check:   gemvCheck(BF16Weights),
	Plan:    gemvPlan(BF16Weights),
	Prepare: prepareGEMV,
}
