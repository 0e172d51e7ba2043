package bench

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCorpus reads the public samples that the corpus folder's INDEX.md lists
// and asserts the values it states.
func TestCorpus(t *testing.T) {
	root := os.Getenv("DECODEGAP_CORPUS")
	if root == "" {
		t.Skip("DECODEGAP_CORPUS does not name a folder with the public benchmark samples")
	}
	if _, err := os.Stat(filepath.Join(root, "bench")); err == nil {
		root = filepath.Join(root, "bench")
	}
	figures := map[string]func(*Result) *float64{
		"tpot.mean":   func(r *Result) *float64 { return r.TPOT.Mean },
		"tpot.median": func(r *Result) *float64 { return r.TPOT.Median },
		"itl.mean":    func(r *Result) *float64 { return r.ITL.Mean },
		"itl.median":  func(r *Result) *float64 { return r.ITL.Median },
		"ttft.median": func(r *Result) *float64 { return r.TTFT.Median },
		"tok/s":       func(r *Result) *float64 { return r.OutputTokPerS },
		"chunk":       func(r *Result) *float64 { return r.TokensPerChunk },
		"accept":      func(r *Result) *float64 { return r.AcceptanceLength },
		"achieved":    func(r *Result) *float64 { return r.Concurrency },
		"output":      func(r *Result) *float64 { return r.RequestOutput },
	}
	seen := map[string]bool{}
	for _, tc := range []struct {
		file     string
		tool     string
		cap      int // 0: not stated
		values   map[string]float64
		absent   []string
		warnings []string
	}{
		{"infx_vllm_glm5_tp8_isl1024_conc4.json", "vllm", 4,
			map[string]float64{"tpot.median": 21.372462615488082, "tok/s": 164.72765441223032, "output": 128},
			[]string{"tpot.mean", "itl.mean", "itl.median"}, nil},
		{"infx_vllm_glm5_tp8_isl1024_conc64.json", "vllm", 64,
			map[string]float64{"tpot.median": 87.86178177119944, "tok/s": 663.0380225369481}, []string{"tpot.mean"}, nil},
		{"infx_vllm_glm5_tp8_isl16384_conc32.json", "vllm", 32,
			map[string]float64{"ttft.median": 41486.10121756792, "tok/s": 59.9492933868254}, nil, []string{"prefill-bound"}},
		{"infx_vllm_minimax_tep8_isl24576_conc4.json", "vllm", 4,
			map[string]float64{"tpot.median": 30.9255331622686}, nil, []string{"prefill-bound"}},
		{"infx_summary_r1_h200_stream_interval.md", "inferencex", 8,
			map[string]float64{"tpot.mean": 12.8, "itl.mean": 127.4, "chunk": 127.4 / 12.8}, []string{"tok/s"}, []string{"itl-per-chunk"}},
		{"sglang_serving_nvfp4_c1.txt", "sglang", 1,
			map[string]float64{"tok/s": 113.12, "itl.mean": 8.49, "tpot.mean": (8837.28 - 363.58) / 999}, []string{"tpot.median"},
			[]string{"tpot-missing", "throughput-includes-ttft", "truncated"}},
		{"sglang_serving_spec_r1.txt", "sglang", 0,
			map[string]float64{"accept": 2.52, "achieved": 47.54, "tok/s": 160.95}, nil, []string{"speculation", "truncated"}},
		{"sglang_serving_16k_offload.txt", "sglang", 256,
			map[string]float64{"achieved": 103.47, "tok/s": 296.37}, []string{"tpot.mean"},
			[]string{"retokenized-mismatch", "peak-throughput", "tpot-missing"}},
		{"sglang_serving_qwq_c1.jsonl.partial", "sglang", 1,
			map[string]float64{"tpot.mean": 30.39582946738921, "itl.mean": 30.396126656906134, "output": 1000}, nil, []string{"truncated"}},
		{"vllm_serve_spec_c1.txt", "vllm", 1,
			map[string]float64{"tok/s": 39.96, "tpot.mean": 21.80}, nil, []string{"peak-bucketing", "throughput-includes-ttft"}},
		{"vllm_serve_gptoss20b_sharegpt.txt", "vllm", 0,
			map[string]float64{"tpot.mean": 149.48, "tpot.median": 80.18, "itl.mean": 63.93}, nil, []string{"overload", "prefill-bound"}},
	} {
		seen[tc.file] = true
		results, err := ReadFile(filepath.Join(root, tc.file))
		if err != nil {
			t.Error(err)
			continue
		}
		r := results[0]
		if r.Tool != tc.tool {
			t.Errorf("%s: tool %q, want %q", tc.file, r.Tool, tc.tool)
		}
		if tc.cap == 0 && r.MaxConcurrency != nil || tc.cap != 0 && (r.MaxConcurrency == nil || *r.MaxConcurrency != tc.cap) {
			t.Errorf("%s: cap %v, want %d", tc.file, r.MaxConcurrency, tc.cap)
		}
		for name, want := range tc.values {
			near(t, tc.file+" "+name, figures[name](&r), want)
		}
		for _, name := range tc.absent {
			if x := figures[name](&r); x != nil {
				t.Errorf("%s: %s = %g, want absent", tc.file, name, *x)
			}
		}
		for _, code := range tc.warnings {
			if !r.Warned(code) {
				t.Errorf("%s: no warning %s among %v", tc.file, code, codes(r))
			}
		}
	}
	for _, pattern := range []string{"sglang_*", "vllm_*", "infx_*"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Errorf("no files %s in %s (%v)", pattern, root, err)
		}
		for _, f := range files {
			if !seen[filepath.Base(f)] {
				t.Errorf("%s is not asserted here", filepath.Base(f))
			}
		}
	}
}
