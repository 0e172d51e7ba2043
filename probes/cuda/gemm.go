//go:build cgo && linux

package cuda

import (
	"fmt"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// mostTokens is how many tokens the products of matrices are written for.
const mostTokens = 64

// gemmBound allows for the tensor cores' own rounding of some ten thousand
// products; weights or sums in 16 bits would be far off.
const gemmBound = 5e-5

// eights is into how many columns of eight tokens fall, as the kernels have
// them: 1, 2, 4 or 8.
func eights(tokens int) int {
	for n := 1; ; n *= 2 {
		if 8*n >= tokens {
			return n
		}
	}
}

// tiling is how kernels/gemm.h shares a product among a block's warps.
type tiling struct{ tiles, groups, parts, stages int }

// tilings are the variants of a product: unit and step are the bytes of a
// warp's tile and of eight tokens in one step.
func tilings(source string, all []tiling, unit, step int, g product) []variant {
	n := eights(g.tokens)
	var out []variant
	for _, t := range all {
		rows, warps := unitRows*t.tiles*t.groups, t.groups*t.parts
		out = append(out, variant{
			entry:    fmt.Sprintf("%s_%d_%d_%dx%dx%d", source, t.tiles, n, t.groups, t.parts, t.stages),
			warps:    warps,
			resident: 1,
			blocks:   (g.rows + rows - 1) / rows,
			shared:   t.stages * (warps*t.tiles*unit + t.parts*n*step),
		})
	}
	return orders(out)
}

// twoBlocks are the variants of which a multiprocessor runs two at a time.
func twoBlocks(source string, unit, step int, g product) []variant {
	if eights(g.tokens) == 8 {
		return nil
	}
	all := tilings(source+"_two", []tiling{{1, 7, 1, 4}}, unit, step, g)
	for i := range all {
		all[i].resident = 2
	}
	return all
}

// ring is a source of kernels/ring.h.
type ring struct {
	source   string
	threads  int // of a block, at most
	bringing int // warps that do not multiply
	group    int // warps of a set are a multiple of
	stages   int // for each set, at least
	eight    int // bytes of eight tokens in a step
	more     int // bytes of tokens in a step besides
}

// rings are those there are for a number of eights of tokens.
func rings(eights int) []ring {
	sums := ring{"nvfp4_ring", 1024, 1, 1, 1, 8 * 2 * unitCols, 0}
	groups := ring{"nvfp4_wgmma", 640, 4, 4, 2, 8 * 2 * unitCols, 512}
	switch eights {
	case 1, 2:
		return []ring{sums}
	case 4:
		sums.threads = 608
		return []ring{sums, groups}
	}
	return []ring{groups}
}

// ringStages is the most stages of kernels/ring.h, and ringBarriers the bytes of
// their barriers.
const ringStages, ringBarriers = 16, 256

// variants: a block has as many tiles as leave no multiprocessor idle, and for
// each of them as many warps as there are registers for, or fewer.
func (r ring) variants(h probes.Host, g product) []variant {
	tiles, most := g.rows/unitRows, r.threads/32-r.bringing
	waves := (tiles + most*h.GPU.SMs - 1) / (most * h.GPU.SMs)
	each := (tiles + waves*h.GPU.SMs - 1) / (waves * h.GPU.SMs)
	seats := (each + r.group - 1) / r.group * r.group
	step := each*unitBytes + eights(g.tokens)*r.eight + r.more
	stages := min((h.GPU.SharedPerBlock-ringBarriers)/step, ringStages)
	var out []variant
	for _, sets := range []int{1, 2, 3, 4} {
		if sets*r.stages > stages || sets*seats > most {
			continue
		}
		out = append(out, variant{
			source:   r.source,
			entry:    fmt.Sprintf("%s_%d", r.source, eights(g.tokens)),
			warps:    sets*seats + r.bringing,
			resident: 1,
			blocks:   (tiles + each - 1) / each,
			shared:   ringBarriers + (stages-stages%sets)*step,
		})
	}
	return orders(out)
}

// gemmShapes: the large one with more and more tokens, then the small one.
var gemmShapes = []product{
	{16, matrix{28672, 8192}}, {64, matrix{28672, 8192}}, {4, matrix{28672, 8192}}, {32, matrix{28672, 8192}}, {8, matrix{28672, 8192}},
	{16, matrix{6144, 6144}},
}

var nvfp4Few = gemv{
	source: "nvfp4_gemm", format: "NVFP4", fill: "fill_nvfp4", unit: unitBytes, x: inF16,
	grain: nvfp4Kernel.grain, most: mostTokens, bound: gemmBound,
	bytes: nvfp4Kernel.bytes,
	variants: func(h probes.Host, g product) []variant {
		all := []tiling{{2, 7, 1, 4}, {1, 14, 1, 4}, {1, 7, 2, 4}, {1, 3, 4, 3}, {1, 3, 2, 4}}
		if eights(g.tokens) == 8 {
			all = []tiling{{2, 7, 1, 3}, {1, 14, 1, 3}, {1, 3, 2, 3}}
		}
		out := append(tilings("nvfp4_gemm", all, unitBytes, 8*2*unitCols, g), twoBlocks("nvfp4_gemm", unitBytes, 8*2*unitCols, g)...)
		for _, r := range rings(eights(g.tokens)) {
			out = append(out, r.variants(h, g)...)
		}
		return out
	},
	arg: func(l *driver.Launch, g product, w, x, y uint64, order uint32) {
		l.Arg(w, x, y, uint32(g.rows), uint32(g.cols/unitCols), uint32(g.tokens), float32(1), order)
	},
	check: nvfp4Kernel.check,
}

var fp8Few = gemv{
	source: "fp8_gemm", format: "FP8", fill: "fill_fp8", unit: 4, x: inF16,
	grain: fp8Kernel.grain, most: mostTokens, bound: gemmBound,
	bytes: fp8Kernel.bytes, scales: fp8Kernel.scales,
	variants: func(h probes.Host, g product) []variant {
		var all []tiling
		switch eights(g.tokens) {
		case 1, 2:
			all = []tiling{{1, 14, 1, 6}, {2, 7, 1, 4}, {1, 7, 2, 4}, {1, 3, 4, 4}}
		case 4:
			all = []tiling{{1, 14, 1, 5}, {2, 7, 1, 4}, {1, 7, 2, 4}, {1, 3, 4, 4}}
		default:
			all = []tiling{{1, 14, 1, 4}, {2, 7, 1, 3}, {1, 7, 2, 3}}
		}
		return append(tilings("fp8_gemm", all, fp8.slot, 8*2*fp8.cols, g), twoBlocks("fp8_gemm", fp8.slot, 8*2*fp8.cols, g)...)
	},
	arg: func(l *driver.Launch, g product, w, x, y uint64, order uint32) {
		l.Arg(w, fp8.scalesAt(w, g.matrix), x, y, uint32(g.rows), uint32(g.cols/fp8.cols), uint32(g.tokens), order)
	},
	check: fp8Kernel.check,
}

var bf16Few = gemv{
	source: "bf16_gemm", format: "BF16", fill: "fill_bf16", unit: 4, limit: []any{float32(1)}, x: inBF16,
	grain: matrix{unitRows, 128}, most: mostTokens, bound: gemmBound,
	bytes: bf16Kernel.bytes,
	variants: func(h probes.Host, g product) []variant {
		all := []tiling{{2, 7, 1, 3}, {1, 14, 1, 3}, {1, 7, 2, 3}, {1, 2, 4, 4}, {1, 3, 4, 3}}
		if eights(g.tokens) == 8 {
			all = []tiling{{2, 7, 1, 3}, {1, 7, 1, 4}, {1, 3, 2, 3}}
		}
		return tilings("bf16_gemm", all, unitRows*2*128, 8*2*128, g)
	},
	arg: func(l *driver.Launch, g product, w, x, y uint64, order uint32) {
		l.Arg(w, x, y, uint32(g.rows), uint32(g.cols/128), uint32(g.tokens), order)
	},
	check: bf16Kernel.check,
}

// NVFP4Few is the product of an NVFP4 matrix with some tokens, activations in
// binary16.
var NVFP4Few = probes.Probe{
	Name:    "cuda/gemm_nvfp4",
	Doc:     "a weight matrix in NVFP4 times 4 to 64 tokens in 16 bits: weights unpacked in the kernel",
	Formula: "rows·cols·9/16 + m·(2·cols + 4·rows)",
	Checked: "96 rows of each token against float64 on the same NVFP4 and binary16, all outputs written",
	Check:   checkGPU,
	Plan:    nvfp4Few.cases(gemmShapes),
	Prepare: nvfp4Few.prepare,
}

// FP8Few is the product of an E4M3 matrix with some tokens, activations in
// binary16.
var FP8Few = probes.Probe{
	Name:    "cuda/gemm_fp8",
	Doc:     "a weight matrix in FP8 (E4M3), a float32 scale for each 128×128, times 4 to 64 tokens in 16 bits: weights unpacked in the kernel",
	Formula: "rows·cols + rows·cols/4096 + m·(2·cols + 4·rows)",
	Checked: "96 rows of each token against float64 on the same FP8 and binary16, all outputs written",
	Check:   checkGPU,
	Plan:    fp8Few.cases(gemmShapes),
	Prepare: fp8Few.prepare,
}

// BF16Few is the product of a bfloat16 matrix with some tokens.
var BF16Few = probes.Probe{
	Name:    "cuda/gemm_bf16",
	Doc:     "a weight matrix in BF16 times 4 to 64 tokens, as decode at those batches does",
	Formula: "2·rows·cols + m·(2·cols + 4·rows)",
	Checked: "96 rows of each token against float64 on the same bfloat16, all outputs written",
	Check:   checkGPU,
	Plan:    bf16Few.cases(gemmShapes),
	Prepare: bf16Few.prepare,
}
