package audit

import (
	"bytes"
	"path"
	"strings"
)

// engine is an inference server: how it is started and how its flags read.
type engine struct {
	name       string // as the rest of decodegap calls it
	positional bool   // the first argument without a dash is the model
	model      []string
	served     string
	// aliases lead from each spelling to one name per setting, the one that
	// the engine's own records use.
	aliases map[string]string
	bools   []string // flags without a value that the prefixes below do not tell
	lists   []string // flags that take several values
}

// engines is every server whose command line is understood.
var engines = []*engine{sglang, vllm, trtllm, llamacpp}

var sglang = &engine{
	name: "sglang", positional: false, model: []string{"model-path"}, served: "served-model-name",
	aliases: map[string]string{
		"model": "model-path", "tp": "tp-size", "tensor-parallel-size": "tp-size",
		"dp": "dp-size", "data-parallel-size": "dp-size", "ep": "ep-size", "expert-parallel-size": "ep-size",
		"pp": "pp-size", "pipeline-parallel-size": "pp-size", "dcp": "dcp-size", "decode-context-parallel-size": "dcp-size",
		"fp8-gemm-backend": "fp8-gemm-runner-backend", "fp4-gemm-backend": "fp4-gemm-runner-backend",
		"dsa-decode-backend": "nsa-decode-backend", "dsa-prefill-backend": "nsa-prefill-backend",
		"speculative-algo": "speculative-algorithm", "speculative-draft-model": "speculative-draft-model-path",
		"cuda-graph-max-bs-decode": "cuda-graph-max-bs", "cuda-graph-bs-decode": "cuda-graph-bs",
		"nccl-init-addr": "dist-init-addr",
	},
	bools: []string{"trust-remote-code", "is-embedding", "grpc-mode", "log-requests", "show-time-cost",
		"sleep-on-idle", "delete-ckpt-after-loading", "allow-auto-truncate", "quantize-and-serve",
		"incremental-streaming-output", "export-metrics-to-file", "collect-tokens-histogram"},
	lists: []string{"cuda-graph-bs", "lora-paths", "lora-target-modules", "numa-node", "log-requests-target"},
}

var vllm = &engine{
	name: "vllm", positional: true, model: []string{"model"}, served: "served-model-name",
	aliases: map[string]string{
		"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "dp": "data-parallel-size",
		"ep": "enable-expert-parallel", "dcp": "decode-context-parallel-size", "pcp": "prefill-context-parallel-size",
		"q": "quantization", "cc": "compilation-config", "O": "optimization-level", "n": "nnodes", "r": "node-rank",
		"cuda-graph-sizes": "cudagraph-capture-sizes",
	},
	bools: []string{"trust-remote-code", "enforce-eager", "headless", "async-scheduling", "language-model-only",
		"fully-sharded-loras", "calculate-kv-scales", "numa-bind", "enable-expert-parallel"},
	lists: []string{"served-model-name", "cudagraph-capture-sizes", "lora-modules", "middleware", "kv-cache-dtype-skip-layers"},
}

var trtllm = &engine{
	name: "trtllm", positional: true, model: []string{"model"}, served: "served-model-name",
	aliases: map[string]string{
		"tp-size": "tensor-parallel-size", "pp-size": "pipeline-parallel-size", "cp-size": "context-parallel-size",
		"ep-size": "moe-expert-parallel-size", "cluster-size": "moe-cluster-parallel-size",
		"extra-llm-api-options": "config", "kv-cache-free-gpu-memory-fraction": "free-gpu-memory-fraction",
	},
	bools: []string{"trust-remote-code", "fail-fast-on-attention-window-too-large"},
}

var llamacpp = &engine{
	name: "llamacpp", model: []string{"model", "hf-repo"}, served: "alias",
	aliases: map[string]string{
		"m": "model", "hf": "hf-repo", "hfr": "hf-repo", "a": "alias", "c": "ctx-size", "t": "threads", "tb": "threads-batch",
		"b": "batch-size", "ub": "ubatch-size", "fa": "flash-attn", "ngl": "n-gpu-layers", "gpu-layers": "n-gpu-layers",
		"sm": "split-mode", "ts": "tensor-split", "mg": "main-gpu", "ctk": "cache-type-k", "ctv": "cache-type-v",
		"np": "parallel", "cb": "cont-batching", "nocb": "no-cont-batching", "nkvo": "no-kv-offload", "kvo": "kv-offload",
		"cmoe": "cpu-moe", "ncmoe": "n-cpu-moe", "ot": "override-tensor", "dev": "device", "md": "model-draft",
		"spec-draft-model": "model-draft", "hft": "hf-token", "mu": "model-url", "hff": "hf-file",
		"draft": "draft-max", "spec-draft-n-max": "draft-max", "draft-n": "draft-max",
	},
	bools: []string{"cpu-moe", "kv-offload", "no-kv-offload", "cont-batching", "no-cont-batching", "metrics", "slots", "jinja",
		"mlock", "props", "embedding", "embeddings", "rerank", "reranking", "verbose", "v", "swa-full", "ignore-eos"},
}

// canonical is the one name of a flag as spelt: without dashes at the front,
// with dashes for underscores.
func (e *engine) canonical(spelt string) string {
	name := strings.ReplaceAll(spelt, "_", "-")
	base, key, dotted := strings.Cut(name, ".")
	if dotted {
		// vLLM's --compilation-config.cudagraph_mode: the key keeps its underscores.
		key = spelt[len(base)+1:]
	}
	if to, ok := e.aliases[base]; ok {
		base = to
	}
	if dotted {
		if base == "optimization-level" {
			base = "compilation-config" // -O.mode=3, as it was before levels
		}
		return base + "." + key
	}
	return base
}

// server looks in a command for what starts a server. Anything may stand in
// front of it: env, numactl, docker run, a profiler.
func (s *script) server(words []word) (*start, error) {
	if c := container(words); c != nil {
		st := s.inContainer(c)
		if st != nil {
			st.words, st.env, st.broken = words, s.handedOn(c.env), c.envFiles
			if st.env == nil {
				st.env = []Env{}
			}
		}
		return st, nil
	}
	if e, i, n := startOf(words); e != nil {
		return &start{engine: e, words: words, args: words[n:], at: words[i].start}, nil
	}
	return nil, nil
}

// startOf finds the words that name a server and where its arguments begin.
func startOf(words []word) (e *engine, at, args int) {
	after := func(i int) string {
		if i+1 < len(words) {
			return words[i+1].String()
		}
		return ""
	}
	for i, w := range words {
		text := w.String()
		if len(text) > 400 || strings.Contains(base(w), "$") {
			continue
		}
		switch name := base(w); {
		case name == "vllm" && after(i) == "serve":
			return vllm, i, i + 2
		case name == "sglang" && after(i) == "serve":
			return sglang, i, i + 2
		case name == "trtllm-serve":
			switch after(i) {
			case "serve":
				return trtllm, i, i + 2
			case "disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve":
				continue
			}
			return trtllm, i, i + 1
		case name == "llama-server" || name == "llama-server.exe":
			return llamacpp, i, i + 1
		case strings.HasSuffix(text, "sglang/launch_server.py"):
			return sglang, i, i + 1
		case strings.HasSuffix(text, "vllm/entrypoints/openai/api_server.py"):
			return vllm, i, i + 1
		case text == "-m":
			switch module := after(i); {
			case module == "sglang.launch_server":
				return sglang, i + 1, i + 2
			case module == "vllm.entrypoints.openai.api_server":
				return vllm, i + 1, i + 2
			case module == "vllm.entrypoints.cli.main" && after(i+1) == "serve":
				return vllm, i + 1, i + 3
			}
		}
	}
	return nil, 0, 0
}

// starters is for messages.
const starters = "sglang.launch_server, sglang serve, vllm serve, vllm.entrypoints.openai.api_server, trtllm-serve, llama-server"

// mentionsServer is a cheap look for any of the above in a text.
func mentionsServer(text []byte) bool {
	for _, s := range []string{"launch_server", "sglang serve", "vllm serve", "vllm.entrypoints", "trtllm-serve", "llama-server"} {
		if bytes.Contains(text, []byte(s)) {
			return true
		}
	}
	return false
}

// talks says whether a command only speaks of what follows it.
func talks(w word) bool {
	switch base(w) {
	case "echo", "printf", "cat", "grep", "egrep", "rg", "pgrep", "pkill", "killall", "kill", "ps", "pip", "pip3", "which",
		"type", "man", "curl", "wget", "ls", "rm", "cp", "mv", "cd", "sed", "awk", "test", "[", "[[", "tee", "git", "find", "alias":
		return true
	}
	return false
}

// base is the last path element of a word.
func base(w word) string { return path.Base(w.String()) }
