package audit

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// parse reads a command line that must be one.
func parse(t testing.TB, text string) *Launch {
	t.Helper()
	l, err := ParseLaunch("launch.sh", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return l
}

func of(found []Finding, check string) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Check != check })
}

// TestFounding is the case the product began with.
func TestFounding(t *testing.T) {
	l, err := ParseLaunch("launch.sh", fixture(t, "founding.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if tp, ok := l.TP(); !ok || tp != 8 || l.Model != "lukealonso/GLM-5-NVFP4" || l.Engine != "sglang" {
		t.Errorf("tp %d %v, model %q, engine %q", tp, ok, l.Model, l.Engine)
	}
	found := Run(&Facts{Launch: l})
	for _, want := range []struct {
		check    string
		severity Severity
		text     string
		cost     string
		where    string
	}{
		{"graphs-off", High, "--disable-cuda-graph", "23 to 13 ms, 20 to 5.4 ms with graphs (vllm-omni#7960)", "launch.sh:5:43"},
		{"nccl-p2p-level", Note, "NCCL_P2P_LEVEL=5 is the old numbering for SYS", "", "launch.sh:1:19"},
		{"continuous-decode", Note, "--num-continuous-decode-steps 16", "", "launch.sh:5:86"},
		{"speculation", Note, "no speculation", "", "launch.sh:2:15"},
		{"prefix-cache", Note, "the decode step does not change", "", "launch.sh:5:64"},
	} {
		got := of(found, want.check)
		if len(got) != 1 || got[0].Severity != want.severity || !strings.Contains(got[0].Text, want.text) || got[0].Where != want.where ||
			want.cost != "" && got[0].Cost != want.cost {
			t.Errorf("%s: %+v", want.check, got)
		}
	}
	if found[0].Check != "graphs-off" {
		t.Errorf("first is %s", found[0].Check)
	}
	if high := slices.IndexFunc(found[1:], func(f Finding) bool { return f.Severity == High }); high >= 0 {
		t.Errorf("only graphs are high here: %+v", found[1+high])
	}
	pasted, err := ParseLaunch("launch.sh", fixture(t, "founding_pasted.sh"))
	if err != nil {
		t.Fatal(err)
	}
	want, got := l.Facts(), pasted.Facts()
	for k, v := range want {
		if got[k] != v {
			t.Errorf("pasted without backslashes: %s = %q, want %q", k, got[k], v)
		}
	}
	if len(pasted.Warnings) != 1 {
		t.Errorf("warnings %v", pasted.Warnings)
	}
}

// TestChecks gives every check a launch it must speak of and one that it must
// be silent on.
func TestChecks(t *testing.T) {
	const sg, vl, ll = "sglang serve --model-path m --tp 8 ", "vllm serve m -tp 8 ", "llama-server -m m.gguf "
	yes := true
	cases := []struct {
		check  string
		launch string
		facts  Facts
		want   Severity // empty: silence
		text   string
		priced bool
	}{
		{check: "graphs-off", launch: sg + "--disable-cuda-graph", want: High, priced: true},
		{check: "graphs-off", launch: sg + "--cuda-graph-backend-decode=disabled", want: High, priced: true},
		{check: "graphs-off", launch: vl + "--enforce-eager", want: High, priced: true},
		{check: "graphs-off", launch: vl + "--enforce_eager", want: High, priced: true},
		{check: "graphs-off", launch: vl + "-O0", want: High, priced: true},
		{check: "graphs-off", launch: vl + `-cc '{"cudagraph_mode":"NONE"}'`, want: High, priced: true},
		{check: "graphs-off", launch: vl + `-O.cudagraph_mode=NONE`, want: High, priced: true},
		{check: "graphs-off", launch: "GGML_CUDA_DISABLE_GRAPHS=1 " + ll, want: Medium},
		{check: "graphs-off", launch: vl + "--enforce-eager --no-enforce-eager"},
		{check: "graphs-off", launch: vl + "-O0 -cc.cudagraph_mode=FULL"},
		{check: "graphs-off", launch: sg + "--disable-cuda-graph-padding --disable-piecewise-cuda-graph"},
		{check: "graphs-off", launch: vl + "# --enforce-eager"},
		{check: "graphs-off", launch: "echo --enforce-eager; " + vl},
		{check: "graphs-backend", launch: sg + "--attention-backend torch_native", want: High, priced: true},
		{check: "graphs-backend", launch: sg + "--attention-backend flashinfer"},
		{check: "graphs-backend", launch: vl + "--attention-backend torch_native"},
		{check: "graph-size", launch: sg + "--cuda-graph-max-bs 16", facts: Facts{Concurrency: new(64)}, want: High, text: "16 sequences"},
		{check: "graph-size", launch: sg + "--cuda-graph-bs 1 2 4 64", facts: Facts{Concurrency: new(64)}},
		{check: "graph-size", launch: sg + "--cuda-graph-max-bs 16 --max-running-requests 64", want: Low, text: "admits 64"},
		{check: "graph-size", launch: sg + "--cuda-graph-max-bs 16 --max-running-requests 64 --disable-cuda-graph"},
		{check: "graph-size", launch: sg + "--dp-size 8 --enable-dp-attention --cuda-graph-max-bs 16", facts: Facts{Concurrency: new(64)}},
		{check: "graph-size", launch: vl + `--max-cudagraph-capture-size 64 --speculative-config '{"method":"mtp","num_speculative_tokens":3}'`,
			facts: Facts{Concurrency: new(17)}, want: High, text: "has 68"},
		{check: "graph-size", launch: vl + `--max-cudagraph-capture-size 64 $MORE`, facts: Facts{Concurrency: new(100)}}, // dp unknown
		{check: "cpu-offload", launch: vl + "--cpu-offload-gb 20", want: High, priced: true},
		{check: "cpu-offload", launch: vl + "--cpu-offload-gb 0"},
		{check: "cpu-offload", launch: ll + "--n-cpu-moe 4", want: High, priced: true},
		{check: "cpu-offload", launch: ll + "-ngl 0", want: High, priced: true},
		{check: "cpu-offload", launch: ll + "-nkvo", want: High, priced: true},
		{check: "cpu-offload", launch: ll + "-ngl 99"},
		{check: "nccl-p2p-disable", launch: "NCCL_P2P_DISABLE=1 " + vl, want: High, priced: true},
		{check: "nccl-p2p-disable", launch: "NCCL_P2P_DISABLE=0 " + vl},
		{check: "nccl-p2p-disable", launch: "NCCL_P2P_DISABLE=1 vllm serve m"}, // one GPU
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=0 " + vl, want: High, text: "LOC", priced: true},
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=4 " + vl, want: Note, text: "SYS", priced: true},
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=99 " + vl, want: Note, text: "SYS", priced: true},
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=3 " + vl, want: Note, text: "PHB"},
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=SYS " + vl, want: Note, text: "speeds up none", priced: true},
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=sys " + vl, want: Low, text: "ignored"},
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=NVL " + vl, facts: Facts{Link: PCIe}, want: High, priced: true},
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=NVL " + vl, want: Note},
		{check: "nccl-p2p-level", launch: "NCCL_P2P_LEVEL=$L " + vl},
		{check: "nccl-protocol", launch: "NCCL_PROTO=Simple " + vl, want: High, priced: true},
		{check: "nccl-protocol", launch: "NCCL_PROTO=^LL " + vl, want: High, priced: true},
		{check: "nccl-protocol", launch: "NCCL_PROTO=LL,Simple " + vl, want: Note},
		{check: "nccl-protocol", launch: "NCCL_PROTO=^LL128 " + vl, want: Note},
		{check: "nccl-protocol", launch: "NCCL_ALGO=Ring " + vl, want: Low},
		{check: "nccl-protocol", launch: "NCCL_ALGO=allreduce:tree,ring " + vl, want: Low, text: "allreduce=tree"},
		{check: "nccl-protocol", launch: "NCCL_PROTO=Simple vllm serve m"}, // one GPU
		{check: "nccl-files", launch: "NCCL_DEBUG_FILE=/tmp/x " + vl},
		{check: "nccl-channels", launch: "NCCL_MIN_NCHANNELS=8 " + vl, want: Low, priced: true},
		{check: "nccl-channels", launch: "NCCL_MAX_NCHANNELS=2 " + vl, want: Medium},
		{check: "nccl-channels", launch: "NCCL_MAX_NCHANNELS=32 " + vl},
		{check: "nccl-files", launch: "NCCL_GRAPH_FILE=/opt/g.xml " + vl, want: Note},
		{check: "nccl-cumem", launch: "NCCL_CUMEM_ENABLE=0 " + vl, want: Low},
		{check: "nccl-cumem", launch: "NCCL_CUMEM_ENABLE=1 " + vl},
		{check: "nccl-debug", launch: "NCCL_DEBUG=trace " + vl, want: Medium},
		{check: "nccl-debug", launch: "TORCH_DISTRIBUTED_DEBUG=DETAIL " + vl, want: Medium},
		{check: "nccl-debug", launch: "TORCH_NCCL_BLOCKING_WAIT=1 " + vl, want: Medium},
		{check: "nccl-debug", launch: "NCCL_DEBUG=WARN " + vl},
		{check: "cuda-launch-blocking", launch: "CUDA_LAUNCH_BLOCKING=1 " + vl, want: High},
		{check: "cuda-launch-blocking", launch: "CUDA_LAUNCH_BLOCKING=0 " + vl},
		{check: "cuda-max-connections", launch: "CUDA_DEVICE_MAX_CONNECTIONS=1 " + vl, want: Low},
		{check: "cuda-max-connections", launch: "CUDA_DEVICE_MAX_CONNECTIONS=32 " + vl},
		{check: "omp-threads", launch: sg, want: Low, priced: true},
		{check: "omp-threads", launch: vl, want: Note, priced: true},
		{check: "omp-threads", launch: ll},
		{check: "omp-threads", launch: "OMP_NUM_THREADS=$N " + sg},
		{check: "omp-threads", launch: "OMP_NUM_THREADS=8 " + sg, want: Note, text: "64 threads"},
		{check: "omp-threads", launch: "OMP_NUM_THREADS=8 " + sg, facts: Facts{CPUs: new(32)}, want: High, priced: true},
		{check: "omp-threads", launch: "OMP_NUM_THREADS=8 " + sg, facts: Facts{CPUs: new(64)}},
		{check: "tokenizers-parallelism", launch: sg, want: Note},
		{check: "tokenizers-parallelism", launch: "export TOKENIZERS_PARALLELISM=false\n" + sg},
		{check: "profiler", launch: "ncu --set full " + vl, want: High},
		{check: "profiler", launch: "nsys profile -o x " + vl, want: Medium},
		{check: "profiler", launch: "numactl -N 0 " + vl},
		{check: "profiler", launch: "CUDA_INJECTION64_PATH=/x/libcupti.so " + vl, want: Medium},
		{check: "profiler", launch: "CUDA_PROFILE=0 " + vl},
		{check: "profiler", launch: sg + "--enable-layerwise-nvtx-marker", want: Medium},
		{check: "custom-allreduce", launch: sg + "--disable-custom-all-reduce", want: Medium, priced: true},
		{check: "custom-allreduce", launch: vl + "--disable-custom-all-reduce", facts: Facts{Link: PCIe}, want: Note, priced: true},
		{check: "custom-allreduce", launch: "vllm serve m --disable-custom-all-reduce"},
		{check: "expert-parallel", launch: vl + "--enable-expert-parallel", facts: Facts{Link: PCIe}, want: Medium},
		{check: "expert-parallel", launch: vl + "-ep", want: Note},
		{check: "expert-parallel", launch: vl + "--enable-expert-parallel", facts: Facts{Link: NVLink}},
		{check: "expert-parallel", launch: sg + "--moe-a2a-backend deepep", facts: Facts{Link: PCIe}, want: Medium, text: "8 ranks"},
		{check: "expert-parallel", launch: sg, facts: Facts{Link: PCIe}},
		{check: "context-parallel", launch: vl + "-dcp 4", want: Note, priced: true},
		{check: "context-parallel", launch: vl, facts: Facts{MLA: &yes, Context: new(150000)}, want: Medium, priced: true},
		{check: "context-parallel", launch: vl, facts: Facts{MLA: &yes, Context: new(4096)}},
		{check: "context-parallel", launch: vl, facts: Facts{Context: new(150000)}},
		{check: "kv-dtype", launch: sg + "--kv-cache-dtype fp8_e4m3", want: Note, priced: true},
		{check: "kv-dtype", launch: ll + "-ctk q8_0 -ctv q8_0", want: Note},
		{check: "kv-dtype", launch: sg + "--kv-cache-dtype auto"},
		{check: "kv-dtype", launch: sg + "--kv-cache-dtype bfloat16"},
		{check: "host-overlap", launch: sg + "--disable-overlap-schedule", want: Low},
		{check: "host-overlap", launch: vl + "--async-scheduling"},
		{check: "rocm-aiter", launch: "VLLM_ROCM_USE_AITER=0 " + vl, want: Medium, priced: true},
		{check: "rocm-aiter", launch: "VLLM_ROCM_USE_AITER=1 " + vl},
		{check: "env-not-exported", launch: "NCCL_PROTO=LL\n" + vl, want: Low},
		{check: "env-not-exported", launch: "NCCL_PROTO=LL; export NCCL_PROTO\n" + vl},
		{check: "env-not-exported", launch: "set -a; NCCL_PROTO=LL; set +a\n" + vl},
		{check: "env-not-exported", launch: "MODEL=x\n" + vl},
		{check: "stream-interval", launch: vl + "--stream-interval 20", want: Note},
		{check: "stream-interval", launch: vl + "--stream-interval 1"},
		{check: "continuous-decode", launch: sg + "--num-continuous-decode-steps=4", want: Note},
		{check: "continuous-decode", launch: sg + "--num-continuous-decode-steps=1"},
		{check: "speculation", launch: vl, want: Note, text: "no speculation", priced: true},
		{check: "speculation", launch: sg + "--speculative-algo NEXTN --speculative-num-draft-tokens 4", want: Note, text: "NEXTN, 3 drafts"},
		{check: "speculation", launch: vl + "--speculative-config.method ngram --speculative-config.num_speculative_tokens 5", want: Note, text: "ngram, 5 drafts"},
		{check: "speculation", launch: vl + `--speculative-config "$SPEC"`},
		{check: "speculation", launch: vl + `"${MORE[@]}"`},
		{check: "speculation", launch: vl + "--config c.yaml"},
		{check: "prefix-cache", launch: vl + "--no-enable-prefix-caching", want: Note},
		{check: "prefix-cache", launch: vl + "--enable-prefix-caching"},
		{check: "launch-unread", launch: vl + "$MORE", want: Note, text: "$MORE"},
		{check: "launch-unread", launch: vl + `--port "$PORT" --host $HOST`},
	}
	spoke := map[string]bool{}
	silent := map[string]bool{}
	for _, c := range cases {
		facts := c.facts
		facts.Launch = parse(t, c.launch)
		got := of(Run(&facts), c.check)
		if c.want == "" {
			silent[c.check] = true
			if len(got) > 0 {
				t.Errorf("%s on %s: %+v, want silence", c.check, c.launch, got)
			}
			continue
		}
		spoke[c.check] = true
		if len(got) != 1 {
			t.Errorf("%s on %s: %d findings %+v", c.check, c.launch, len(got), got)
			continue
		}
		f := got[0]
		if f.Severity != c.want || !strings.Contains(f.Text, c.text) || (f.Cost != "") != c.priced {
			t.Errorf("%s on %s: %+v, want %s %q priced %v", c.check, c.launch, f, c.want, c.text, c.priced)
		}
		if !strings.HasPrefix(f.Where, "launch.sh:") || strings.Count(f.Where, ":") != 2 {
			t.Errorf("%s: where %q", c.check, f.Where)
		}
		if f.Cost != "" && !strings.Contains(f.Cost, "(") {
			t.Errorf("%s: cost %q names no source", c.check, f.Cost)
		}
	}
	for _, c := range All {
		if !spoke[c.Name] || !silent[c.Name] {
			t.Errorf("%s: a case it speaks on %v, one it is silent on %v", c.Name, spoke[c.Name], silent[c.Name])
		}
	}
	if Run(nil) != nil || Run(&Facts{}) != nil {
		t.Error("findings without facts")
	}
}

// TestListed finds every Check of the package and compares with All and with
// the page about checks.
func TestListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/extend/check.md")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := parser.ParseDir(gotoken.NewFileSet(), ".", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.CompositeLit); ok {
				if id, ok := lit.Type.(*ast.Ident); ok && id.Name == "Check" {
					declared++
				}
			}
			return true
		})
	}
	if declared != len(All) {
		t.Errorf("%d checks are declared, %d listed in All", declared, len(All))
	}
	seen := map[string]bool{}
	for _, c := range All {
		if c.Name == "" || c.Doc == "" || c.Run == nil || seen[c.Name] || strings.ToLower(c.Name) != c.Name {
			t.Errorf("check %q is incomplete or listed twice", c.Name)
		}
		seen[c.Name] = true
		if !strings.Contains(string(page), "| `"+c.Name+"` | "+c.Doc+" |") {
			t.Errorf("docs/extend/check.md lacks the row of %s:\n| `%s` | %s |", c.Name, c.Name, c.Doc)
		}
	}
}
