// Package kernels holds the GPU kernels: their sources in CUDA C++ and the PTX
// text that clang made of them, which the driver compiles for the GPU at hand.
// It refuses PTX whose source has changed since (MANIFEST.json), and PTX of a
// later version than its instructions need: an older driver loads it too.
package kernels

import (
	"embed"
	"fmt"
)

//go:embed *.ptx MANIFEST.json
var files embed.FS

// Build is one PTX file: a source compiled for one level of GPUs, which later
// ones run too.
type Build struct {
	Source string // "bf16_gemv" for bf16_gemv.cu
	Level  Level
}

// Level is what instructions PTX may use.
type Level struct {
	Major, Minor int    // compute capability, the least that runs it
	Target       string // "sm_80"
	PTX          string // the PTX version that knows what the kernels use: "7.4"
	// Where the compiler does not know the version or the target: it
	// writes for these, and the file's header is changed to the level's. What is
	// new comes by inline assembly, which it does not look into.
	ClangTarget, ClangPTX string
}

// The levels. SM80: asynchronous copies, tensor cores for bfloat16. SM90:
// dependent launches besides. FP8: tensor cores for E4M3, of SM89 by themselves,
// of SM90 by conversion. SM90a: groups of four warps on them. SM90Bulk:
// copies of whole pieces of memory. SM120a and SM120f: tensor cores for NVFP4, of
// 12.0 alone and, to drivers since CUDA 12.9, of all of 12.
var (
	SM80 = Level{8, 0, "sm_80", "7.4", "", ""}
	SM90 = Level{9, 0, "sm_90", "7.8", "", ""}

	SM89FP8 = Level{8, 9, "sm_89", "8.4", "sm_89", "7.8"}
	SM90FP8 = Level{9, 0, "sm_90", "8.4", "sm_90", "7.8"}

	SM90Bulk = Level{9, 0, "sm_90", "8.0", "sm_90", "7.8"}
	SM90a    = Level{9, 0, "sm_90a", "8.0", "sm_90", "7.8"}

	SM120a = Level{12, 0, "sm_120a", "8.7", "sm_90", "7.8"}
	SM120f = Level{12, 0, "sm_120f", "8.8", "sm_90", "7.8"}
)

// Builds lists every PTX file; `make ptx` writes them.
var Builds = []Build{
	{"fill", SM80},
	{"hold", SM80},
	{"hold", SM90},
	{"read", SM80},
	{"copy", SM80},
	{"bf16_gemv", SM80},
	{"bf16_gemv", SM90},
	{"nvfp4_gemv", SM80},
	{"nvfp4_gemv", SM90},
	{"fp8_gemv", SM80},
	{"fp8_gemv", SM90},
	{"mxfp4_gemv", SM80},
	{"mxfp4_gemv", SM90},
	{"int4_gemv", SM80},
	{"int4_gemv", SM90},
	{"bf16_gqa", SM80},
	{"bf16_gqa", SM90},
	{"paged_gqa", SM80},
	{"paged_gqa", SM90},
	{"bf16_mla", SM80},
	{"bf16_mla", SM90},
	{"bf16_mla_wgmma", SM90a},
	{"bf16_experts", SM80},
	{"bf16_experts", SM90},
	{"nvfp4_experts", SM80},
	{"nvfp4_experts", SM90},
	{"bf16_gemm", SM80},
	{"bf16_gemm", SM90},
	{"nvfp4_gemm", SM80},
	{"nvfp4_gemm", SM90},
	{"indexer", SM80},
	{"indexer", SM89FP8},
	{"indexer", SM90FP8},
	{"indexer", SM90a},
	{"fp8_gemm", SM80},
	{"fp8_gemm", SM90},
	{"nvfp4_ring", SM90Bulk},
	{"nvfp4_wgmma", SM90a},
	{"nvfp4_native", SM120f},
	{"nvfp4_native", SM120a},
	{"index_top", SM80},
	{"index_top", SM90},
	{"router", SM80},
	{"router", SM90},
	{"norm", SM80},
	{"norm", SM90},
	{"rope", SM80},
	{"rope", SM90},
	{"activation", SM80},
	{"activation", SM90},
	{"permute", SM80},
	{"permute", SM90},
	{"sampling", SM80},
	{"sampling", SM90},
	{"embedding", SM80},
	{"embedding", SM90},
	{"allreduce", SM80},
	{"allreduce", SM90},
}

// Name is the PTX file's.
func (b Build) Name() string { return b.Level.Target + "_" + b.Source + ".ptx" }

// Runs says whether a GPU of a compute capability runs the level: later ones
// run all but what is for one GPU (a) or one family of them (f).
func (l Level) Runs(major, minor int) bool {
	switch l.Target[len(l.Target)-1] {
	case 'a':
		return major == l.Major && minor == l.Minor
	case 'f':
		return major == l.Major && minor >= l.Minor
	}
	return major > l.Major || major == l.Major && minor >= l.Minor
}

// Find is the build of a source with the highest level that a GPU runs: one for
// that GPU alone before one for its family.
func Find(source string, major, minor int) (Build, error) {
	var best Build
	for _, b := range Builds {
		if b.Source == source && b.Level.Runs(major, minor) && (best.Source == "" || best.Level.Runs(b.Level.Major, b.Level.Minor)) {
			best = b
		}
	}
	if best.Source == "" {
		return best, fmt.Errorf("no kernels of %s for compute capability %d.%d", source, major, minor)
	}
	return best, nil
}

// PTX is a build's text.
func (b Build) PTX() (string, error) {
	text, err := files.ReadFile(b.Name())
	if err != nil {
		return "", fmt.Errorf("kernels of %s for %s: %w", b.Source, b.Level.Target, err)
	}
	return string(text), nil
}
