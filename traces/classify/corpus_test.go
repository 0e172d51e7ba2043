package classify

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"decodegap/roofline"
)

// corpusTrace is one trace of the corpus and the largest share of kernel time
// that may stay unclassified, in percent; negative: only reported.
var corpusTraces = []struct {
	file  string
	limit float64
}{
	{"captured/llama8b_graph_b1.json.gz", 1},
	{"captured/llama70b_tp2_graph_b4_rank0.json.gz", 1},
	{"captured/llama70b_tp2_graph_b4_rank1.json.gz", 1},
	{"captured/qwen3-0.6b_eager_b1_shapes.json.gz", 1},
	{"captured/qwen3moe_eager_b1.json.gz", 1},
	{"captured/qwen3moe_graph_b1.json.gz", 1},
	{"real/kineto/sglang_qwen3-8b_decode_mi300x.json.gz", 1},
	{"real/kineto/vllm_gpt-oss_decode_fullgraph_mi300x.json.gz", 1},
	{"real/kineto/vllm_gpt-oss_prefill_eager_tp8_b200.json.gz", 1},
	{"real/kineto/hf_bert-small_h100.json.gz", 5},
	{"real/kineto/hf_qwen1.5-0.5b_h100.json.gz", 5},
	{"real/kineto/torch_compile_triton_mi300x.json.gz", 5},
	{"real/kineto/gpu_only_mi210.json.gz", -1},
	{"real/kineto/hta_nccl_data_a100.json.gz", -1},
	{"real/kineto/hta_sampled_rank0.json.gz", -1},
	{"real/kineto/resnet_ckpt_rank_mi300x.json.gz", -1},
}

func TestCorpusShares(t *testing.T) {
	for _, tr := range corpusTraces {
		t.Run(filepath.Base(tr.file), func(t *testing.T) {
			ks, durs := readCorpus(t, tr.file)
			cs := New().Sequence(ks)
			total, unknown := 0.0, 0.0
			by, names := map[string]float64{}, map[string]float64{}
			for i, c := range cs {
				total += durs[i]
				key := string(c.Component)
				if !c.Known {
					unknown += durs[i]
					names[Normalize(ks[i].Name)] += durs[i]
				}
				by[key] += durs[i]
			}
			if total == 0 {
				t.Fatal("no kernel time")
			}
			t.Logf("unclassified %.2f %%", 100*unknown/total)
			for _, k := range byValue(by) {
				t.Logf("  %6.2f %% %s", 100*by[k]/total, k)
			}
			for i, k := range byValue(names) {
				if i < 8 {
					t.Logf("  ? %6.2f %% %.120s", 100*names[k]/total, k)
				}
			}
			if tr.limit >= 0 && 100*unknown/total >= tr.limit {
				t.Errorf("unclassified %.2f %% of kernel time, want under %g %%", 100*unknown/total, tr.limit)
			}
		})
	}
}

func byValue(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return m[keys[i]] > m[keys[j]] })
	return keys
}

// corpusEvent is what the test needs of a Kineto event.
type corpusEvent struct {
	Ph   string          `json:"ph"`
	Cat  string          `json:"cat"`
	Name string          `json:"name"`
	TID  json.RawMessage `json:"tid"`
	TS   float64         `json:"ts"`
	Dur  float64         `json:"dur"`
	Args struct {
		Correlation *float64        `json:"correlation"`
		Dims        json.RawMessage `json:"Input Dims"`
	} `json:"args"`
}

// readCorpus reads the kernels of one trace in start order, with the
// operators above them, and their durations in microseconds.
func readCorpus(t *testing.T, file string) ([]Kernel, []float64) {
	t.Helper()
	root := os.Getenv("DECODEGAP_CORPUS")
	if root == "" {
		t.Skip("DECODEGAP_CORPUS names no folder: the published traces are not part of this repository")
	}
	f, err := os.Open(filepath.Join(root, "traces", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var doc struct {
		TraceEvents []json.RawMessage `json:"traceEvents"`
	}
	if err := json.NewDecoder(r).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var gpu []corpusEvent
	calls := map[float64]corpusEvent{}
	ops := map[string][]corpusEvent{}
	for _, raw := range doc.TraceEvents {
		var e corpusEvent
		if json.Unmarshal(raw, &e) != nil || e.Ph != "X" {
			continue
		}
		switch strings.ToLower(e.Cat) {
		case "kernel":
			gpu = append(gpu, e)
		case "cuda_runtime", "cuda_driver", "runtime":
			if e.Args.Correlation != nil {
				calls[*e.Args.Correlation] = e
			}
		case "cpu_op", "user_annotation", "operator":
			ops[string(e.TID)] = append(ops[string(e.TID)], e)
		}
	}
	slices.SortStableFunc(gpu, func(a, b corpusEvent) int { return cmp.Compare(a.TS, b.TS) })
	for _, l := range ops {
		slices.SortStableFunc(l, func(a, b corpusEvent) int {
			return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(b.Dur, a.Dur))
		})
	}
	ks, durs := make([]Kernel, len(gpu)), make([]float64, len(gpu))
	for i, e := range gpu {
		ks[i] = Kernel{Name: e.Name}
		durs[i] = e.Dur
		if e.Args.Correlation == nil {
			continue
		}
		if call, ok := calls[*e.Args.Correlation]; ok {
			ks[i].Parent, ks[i].Dims = chain(ops[string(call.TID)], call.TS)
		}
	}
	return ks, durs
}

// chain is the names of the operators that are open at a moment, innermost
// first, and the innermost shapes.
func chain(ops []corpusEvent, at float64) (names []string, dims string) {
	i := sort.Search(len(ops), func(i int) bool { return ops[i].TS > at })
	for j := i - 1; j >= 0 && i-j < 400; j-- {
		if ops[j].TS+ops[j].Dur < at {
			continue
		}
		names = append(names, ops[j].Name)
		if dims == "" && len(ops[j].Args.Dims) > 0 {
			dims = string(ops[j].Args.Dims)
		}
	}
	return names, dims
}

// TestCorpusOrder prints one layer, for a reader (-v), and checks that every
// layer of a graph replay comes out alike.
func TestCorpusOrder(t *testing.T) {
	for file, want := range map[string]map[roofline.Component]int{
		"captured/llama8b_graph_b1.json.gz":                        {roofline.AttentionQKV: 3 * 32 * (3 + 3), roofline.AttentionOut: 3 * 32 * 2, roofline.MLPDense: 3 * 32 * 4, roofline.LMHead: 3},
		"captured/llama70b_tp2_graph_b4_rank0.json.gz":             {roofline.AttentionQKV: 3 * 80 * 2, roofline.AttentionOut: 3 * 80, roofline.MLPDense: 3 * 80 * 3, roofline.LMHead: 3, roofline.AllReduce: 480},
		"captured/qwen3moe_graph_b1.json.gz":                       {roofline.AttentionQKV: 3 * 48 * 3, roofline.AttentionOut: 3 * 48 * 2, roofline.MoEExperts: 3 * 48 * 4, roofline.MoERouter: 3 * 48 * 4, roofline.MoECombine: 3 * 48 * 2, roofline.LMHead: 3},
		"real/kineto/sglang_qwen3-8b_decode_mi300x.json.gz":        {roofline.AttentionQKV: 36, roofline.AttentionOut: 36, roofline.MLPDense: 72, roofline.LMHead: 1, roofline.AttentionCore: 72},
		"real/kineto/vllm_gpt-oss_decode_fullgraph_mi300x.json.gz": {roofline.AttentionQKV: 24, roofline.AttentionOut: 24, roofline.MoEExperts: 48, roofline.LMHead: 1},
		"real/kineto/vllm_gpt-oss_prefill_eager_tp8_b200.json.gz":  {roofline.AttentionQKV: 36, roofline.AttentionOut: 36, roofline.MoEExperts: 72, roofline.LMHead: 1},
		"captured/qwen3-0.6b_eager_b1_shapes.json.gz":              {roofline.AttentionQKV: 4 * 28 * 3, roofline.AttentionOut: 4 * 28, roofline.MLPDense: 4 * 28 * 4, roofline.LMHead: 4},
		"captured/qwen3moe_eager_b1.json.gz":                       {roofline.AttentionQKV: 3 * 48 * 3, roofline.AttentionOut: 3 * 48 * 2, roofline.LMHead: 3},
		"real/kineto/hf_bert-small_h100.json.gz":                   {roofline.AttentionQKV: 12, roofline.AttentionOut: 4, roofline.MLPDense: 8, roofline.Norm: 10, roofline.Embedding: 3},
		"real/kineto/hf_qwen1.5-0.5b_h100.json.gz":                 {roofline.AttentionOut: 34},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ks, durs := readCorpus(t, file)
			cs := New().Sequence(ks)
			got := map[roofline.Component]int{}
			for i, c := range cs {
				got[c.Component]++
				if i < 120 || i > len(cs)-25 {
					t.Log(fmt.Sprintf("%4d %7.1f %-18s %.70s | %s", i, durs[i], c.Component, strings.ReplaceAll(Normalize(ks[i].Name), "at::native::", ""), c.Why))
				}
			}
			for c, n := range want {
				if got[c] != n {
					t.Errorf("%s: %d kernels, want %d", c, got[c], n)
				}
			}
		})
	}
}
