package bench

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const testdata = "../../testdata/bench/"

func one(t *testing.T, text string) Result {
	t.Helper()
	results, err := Read(strings.NewReader(text), "test")
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 1 {
		t.Fatalf("%d results, want 1", len(results))
	}
	return results[0]
}

func file(t *testing.T, name string, n int) []Result {
	t.Helper()
	results, err := ReadFile(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != n {
		t.Fatalf("%s: %d results, want %d", name, len(results), n)
	}
	return results
}

// near fails unless got is known and within 1e-6 of want.
func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is unknown, want %g", what, want)
	} else if math.Abs(*got-want) > 1e-6*math.Abs(want) {
		t.Errorf("%s = %g, want %g", what, *got, want)
	}
}

func codes(r Result) []string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, w.Code)
	}
	return out
}

func TestWarnings(t *testing.T) {
	for _, tc := range []struct {
		file  string
		index int
		of    int
		want  []string
	}{
		{"sglang/sweep.jsonl", 0, 2, []string{"throughput-includes-ttft", "peak-bucketing"}},
		{"sglang/sweep.jsonl", 1, 2, []string{"speculation", "random-lengths"}},
		{"sglang/cut_in_number.jsonl.partial", 0, 1, []string{"truncated"}},
		{"sglang/ttft_zero.jsonl", 0, 1, []string{"ttft-zero"}},
		{"sglang/retokenized.jsonl", 0, 1, []string{"tpot-missing", "retokenized-mismatch", "peak-throughput"}},
		{"sglang/text_mid2025.txt", 0, 1, []string{"tpot-missing", "throughput-includes-ttft"}},
		{"sglang/text_misspelt_cut.txt", 0, 1, []string{"tpot-missing", "truncated", "speculation"}},
		{"vllm/serve.json", 0, 1, []string{"incomplete-requests", "itl-per-chunk", "speculation", "peak-bucketing"}},
		{"vllm/coalesced.json", 0, 1, []string{"itl-coalesced"}},
		{"vllm/serve_two_blocks.txt", 0, 2, []string{"incomplete-requests", "speculation", "prefill-bound", "overload", "peak-bucketing"}},
		{"vllm/serve_two_blocks.txt", 1, 2, []string{"truncated"}},
		{"vllm/serve_old.txt", 0, 1, nil},
		{"inferencex/dialect.json", 0, 1, []string{"prefill-bound"}},
		{"inferencex/summary.md", 0, 2, []string{"itl-per-chunk"}},
		{"inferencex/summary.md", 1, 2, nil},
		{"founding/flashinfer_cutedsl.jsonl", 0, 6, []string{"throughput-includes-ttft", "random-lengths"}},
	} {
		if got := codes(file(t, tc.file, tc.of)[tc.index]); !slices.Equal(got, tc.want) {
			t.Errorf("%s result %d: warnings %v, want %v", tc.file, tc.index, got, tc.want)
		}
	}
}

func TestTPOTFromLists(t *testing.T) {
	// 10, 12 and 12 ms: Σ gaps / (tokens − 1); the request of one token and
	// the failed one have none.
	r := file(t, "vllm/detailed.json", 1)[0]
	near(t, "mean TPOT", r.TPOT.Mean, 34.0/3)
	near(t, "median TPOT", r.TPOT.Median, 12)
	near(t, "p99 TPOT", r.TPOT.P99, 12)
	near(t, "median TTFT", r.TTFT.Median, 50)
	near(t, "mean E2E", r.E2E.Mean, 1000*(0.09+0.098+0.104+0.04)/4)
	for _, name := range []string{"tpot_ms.mean", "tpot_ms.median", "tpot_ms.p99", "itl_ms.mean", "ttft_ms.mean", "e2e_ms.mean"} {
		if !slices.Contains(r.Derived, name) {
			t.Errorf("%s is not marked as derived: %v", name, r.Derived)
		}
	}
	r = file(t, "sglang/details.jsonl", 1)[0]
	near(t, "mean TPOT", r.TPOT.Mean, (20+25+30)/3.0)
	near(t, "mean TTFT", r.TTFT.Mean, 140)
}

func TestStatedTPOTWinsOverLists(t *testing.T) {
	r := one(t, `{"model_id":"m","num_prompts":1,"mean_tpot_ms":11.5,"output_lens":[3],"ttfts":[0.1],"itls":[[0.2,0.2]]}`)
	near(t, "mean TPOT", r.TPOT.Mean, 11.5)
	near(t, "median TPOT", r.TPOT.Median, 200)
	if slices.Contains(r.Derived, "tpot_ms.mean") || !slices.Contains(r.Derived, "tpot_ms.median") {
		t.Errorf("derived = %v", r.Derived)
	}
}

func TestTPOTFromMeans(t *testing.T) {
	r := file(t, "sglang/text_mid2025.txt", 1)[0]
	near(t, "mean TPOT", r.TPOT.Mean, 5000.0/400)
	if !slices.Contains(r.Derived, "tpot_ms.mean") {
		t.Errorf("derived = %v", r.Derived)
	}
	if r.TPOT.Median != nil {
		t.Error("a median TPOT cannot come from means")
	}
}

func TestNeverFromThroughput(t *testing.T) {
	r := one(t, `{"backend":"sglang","dataset_name":"random","max_concurrency":1,"completed":4,"total_output_tokens":512,"output_throughput":10.36}`)
	if !r.TPOT.Empty() {
		t.Errorf("TPOT %+v made from throughput", r.TPOT)
	}
	if !r.Warned("tpot-missing") {
		t.Error("no tpot-missing warning")
	}
}

func TestRefusals(t *testing.T) {
	if r := file(t, "sglang/ttft_zero.jsonl", 1)[0]; !r.TPOT.Empty() || !r.TTFT.Empty() || r.E2E.Mean == nil {
		t.Errorf("TTFT 0: TPOT %+v, TTFT %+v", r.TPOT, r.TTFT)
	}
	if r := file(t, "sglang/retokenized.jsonl", 1)[0]; !r.TPOT.Empty() {
		t.Errorf("TPOT %+v derived from a token count in doubt", r.TPOT)
	}
	r := one(t, `{"model_id":"m","num_prompts":2,"output_throughput":9,"output_lens":[5,5],"ttfts":[0,0],"latencies":[1,1]}`)
	if !r.TPOT.Empty() || !r.Warned("ttft-zero") {
		t.Errorf("TTFT 0 in the lists: TPOT %+v, warnings %v", r.TPOT, codes(r))
	}
}

func TestCut(t *testing.T) {
	r := file(t, "sglang/cut_in_number.jsonl.partial", 1)[0]
	near(t, "p99 TPOT", r.TPOT.P99, 27.125)
	if r.ITL.Mean != nil {
		t.Errorf("mean ITL %g was read from a number that may go on", *r.ITL.Mean)
	}
	got := file(t, "sglang/cut_then_appended.jsonl", 3)
	near(t, "TPOT of the line cut in a string", got[0].TPOT.Mean, 48.25)
	near(t, "TPOT of the line cut in a number", got[1].TPOT.Mean, 51.5)
	if got[1].TPOT.Median != nil {
		t.Errorf("median %g was read from a cut number", *got[1].TPOT.Median)
	}
	near(t, "TPOT of the whole line after them", got[2].TPOT.Mean, 59.5)
	for i, want := range []bool{true, true, false} {
		if got[i].Warned("truncated") != want {
			t.Errorf("line %d: truncated %v, want %v", i+1, !want, want)
		}
	}
}

func TestUnits(t *testing.T) {
	r := file(t, "inferencex/dialect.json", 1)[0]
	near(t, "median TPOT", r.TPOT.Median, 13.75)
	near(t, "median TTFT", r.TTFT.Median, 3500)
	if r.Facts["bench.request_rate"] != "inf" {
		t.Errorf("request rate %q", r.Facts["bench.request_rate"])
	}
	r = file(t, "inferencex/aggregate.json", 2)[0]
	near(t, "mean ITL", r.ITL.Mean, 756)
	if *r.MaxConcurrency != 32 || r.OutputTokPerS != nil || r.Facts["bench.output_tok_s_per_gpu"] != "205.25" {
		t.Errorf("aggregate: %+v", r)
	}
	near(t, "E2E of the summary", file(t, "inferencex/summary.md", 2)[0].E2E.Mean, 9250)
	// The split version of sglang left _ms out but kept milliseconds.
	near(t, "median TTFT", file(t, "sglang/split_version.jsonl", 1)[0].TTFT.Median, 210.25)
}

func TestLengths(t *testing.T) {
	r := file(t, "sglang/sweep.jsonl", 2)[1]
	near(t, "mean output", r.RequestOutput, 6500.0/64)
	near(t, "mean input", r.RequestInput, 32100.0/64)
	if f := file(t, "founding/flashinfer_cutlass.jsonl", 5)[0]; f.RequestOutput != nil {
		t.Errorf("mean output %g although only the upper limit is known", *f.RequestOutput)
	}
}

func TestConcurrency(t *testing.T) {
	r := file(t, "founding/flashinfer_cutedsl.jsonl", 6)[1]
	near(t, "achieved", r.Concurrency, 8.48)
	if *r.MaxConcurrency != 10 {
		t.Errorf("cap %d", *r.MaxConcurrency)
	}
	r = file(t, "vllm/serve_old.txt", 1)[0]
	if r.MaxConcurrency == nil || *r.MaxConcurrency != 1 || r.Facts["bench.request_rate"] != "inf" {
		t.Errorf("settings printed before the block are lost: %+v", r)
	}
	if r = file(t, "sglang/text_misspelt_cut.txt", 1)[0]; r.MaxConcurrency != nil {
		t.Errorf("cap %d from “not set”", *r.MaxConcurrency)
	}
}

func TestUnknown(t *testing.T) {
	for name, text := range map[string]string{
		"empty":          " \n",
		"prose":          "no benchmark here\n",
		"other JSON":     `{"results": [1, 2, 3]}`,
		"binary":         "\x00\x01\x02",
		"UTF-16":         "\xff\xfe{\x00",
		"no figure":      `{"model_id": "m", "num_prompts": 3, "completed": 3}`,
		"heading only":   "==== Serving Benchmark Result ====\nBackend: sglang\n",
		"llama-bench":    `[{"build_commit": "abc", "n_gen": 128, "avg_ts": 118.9}]`,
		"negative TPOT":  `{"model_id": "m", "mean_tpot_ms": -1, "output_throughput": NaN}`,
		"infinite rates": `{"model_id": "m", "output_throughput": Infinity, "mean_ttft_ms": "inf"}`,
	} {
		results, err := Read(strings.NewReader(text), "some.file")
		if err == nil {
			t.Errorf("%s: %d results, want an error", name, len(results))
		} else if !strings.Contains(err.Error(), "some.file") {
			t.Errorf("%s: the error does not name the file: %v", name, err)
		}
	}
	_, err := Read(strings.NewReader("prose"), "some.file")
	for _, f := range All {
		if !strings.Contains(err.Error(), f.Name) {
			t.Errorf("the error does not name the format %s", f.Name)
		}
	}
	if _, err := ReadFile(t.TempDir()); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("directory: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	c := &capped{r: io.LimitReader(zeros{}, 100), left: 99}
	if _, err := io.ReadAll(c); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
	c = &capped{r: io.LimitReader(zeros{}, 100), left: 100}
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("just fits: %v", err)
	}
	// The limit must not pass for a cut file.
	in := &capped{r: strings.NewReader(`{"model_id": "m", "mean_tpot_ms": 5, "x": "` + strings.Repeat("y", 100) + `"}`), left: 80}
	if _, err := VLLMJSON.Read(in); !errors.Is(err, ErrTooLarge) {
		t.Errorf("limit inside a result: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestLateBlock has the result after more console text than the sniffers see.
func TestLateBlock(t *testing.T) {
	text, err := os.ReadFile(testdata + "vllm/serve_old.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := one(t, strings.Repeat("INFO 03-01 engine step\n", 5000)+string(text))
	if r.Tool != "vllm" {
		t.Errorf("tool %q", r.Tool)
	}
	near(t, "mean TPOT", r.TPOT.Mean, 25)
}

// TestSniffOnlyOne says that each fixture's format is claimed by content, by
// the importer its folder names.
func TestSniff(t *testing.T) {
	for _, path := range fixtures(t) {
		head, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := recognise(head)
		if f == nil {
			t.Errorf("%s: not recognised", path)
			continue
		}
		folder := filepath.Base(filepath.Dir(path))
		if folder == "founding" {
			folder = "sglang"
		}
		if !strings.HasPrefix(f.Name, folder) {
			t.Errorf("%s: read as %s", path, f.Name)
		}
	}
}

// TestListed fails for an importer that is missing from All.
func TestListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	var listed []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			lit, ok := spec.Values[0].(*ast.CompositeLit)
			if !ok {
				return true
			}
			if id, ok := lit.Type.(*ast.Ident); ok && id.Name == "Importer" {
				declared = append(declared, spec.Names[0].Name)
			}
			if spec.Names[0].Name == "All" {
				for _, e := range lit.Elts {
					listed = append(listed, e.(*ast.Ident).Name)
				}
			}
			return true
		})
	}
	slices.Sort(declared)
	slices.Sort(listed)
	if len(declared) == 0 || !slices.Equal(declared, listed) {
		t.Errorf("declared %v, listed %v", declared, listed)
	}
	for _, f := range All {
		if f.Name == "" || f.Doc == "" || f.Looks == "" || f.TPOT == "" || f.Sniff == nil || f.Read == nil {
			t.Errorf("importer %q is incomplete", f.Name)
		}
	}
}

// TestDocumented fails for an importer or trap that the guide leaves out.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/extend/benchmark.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"tpot-missing", "ttft-zero"}
	for _, f := range All {
		names = append(names, f.Name)
	}
	for _, tr := range traps {
		names = append(names, tr.code)
	}
	for _, n := range names {
		if !strings.Contains(string(page), "`"+n+"`") {
			t.Errorf("docs/extend/benchmark.md does not mention `%s`", n)
		}
	}
}
