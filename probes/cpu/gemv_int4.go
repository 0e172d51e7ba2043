//go:build cgo && linux

package cpu

import "decodegap/probes"

// GEMVINT4 multiplies a matrix of INT4 weights with 1 to 16 tokens.
var GEMVINT4 = probes.Probe{
	Name:    "cpu/gemv_int4",
	Doc:     "multiplies a matrix of INT4 weights with a few tokens",
	Formula: "rows·cols·9/16 + 4·M·(rows + cols)",
	Checked: gemvChecked,
	Check:   gemvCheck(INT4),
	Plan:    gemvPlan(INT4),
	Prepare: prepareGEMV,
}
