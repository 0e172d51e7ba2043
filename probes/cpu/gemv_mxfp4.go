//go:build cgo && linux

package cpu

import "decodegap/probes"

// GEMVMXFP4 multiplies a matrix of MXFP4 weights with 1 to 16 tokens.
var GEMVMXFP4 = probes.Probe{
	Name:    "cpu/gemv_mxfp4",
	Doc:     "multiplies a matrix of MXFP4 weights with a few tokens",
	Formula: "rows·cols·17/32 + 4·M·(rows + cols)",
	Checked: gemvChecked,
	Check:   gemvCheck(MXFP4),
	Plan:    gemvPlan(MXFP4),
	Prepare: prepareGEMV,
}
