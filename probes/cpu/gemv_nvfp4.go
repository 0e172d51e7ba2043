//go:build cgo && linux

package cpu

import "decodegap/probes"

// GEMVNVFP4 multiplies a matrix of NVFP4 weights with 1 to 16 tokens.
var GEMVNVFP4 = probes.Probe{
	Name:    "cpu/gemv_nvfp4",
	Doc:     "multiplies a matrix of NVFP4 weights with a few tokens",
	Formula: "rows·cols·9/16 + 4·M·(rows + cols)",
	Checked: gemvChecked,
	Check:   gemvCheck(NVFP4),
	Plan:    gemvPlan(NVFP4),
	Prepare: prepareGEMV,
}
