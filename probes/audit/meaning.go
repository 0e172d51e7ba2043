package audit

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"decodegap/roofline"
)

// Setting is a flag or variable as the launch writes it, for messages.
type Setting struct {
	Text      string // "--disable-cuda-graph", "GGML_CUDA_DISABLE_GRAPHS=1"
	Line, Col int
}

func (f Flag) setting() Setting {
	text := f.Written
	if f.Value != "" && len(f.Value) <= 60 {
		text += " " + f.Value
	}
	return Setting{text, f.Line, f.Col}
}

func (v Env) setting() Setting { return Setting{v.Name + "=" + v.Value, v.Line, v.Col} }

// whole reads a flag's value as a count of at least 1.
func whole(value string) (int, bool) {
	n, err := strconv.Atoi(value)
	return n, err == nil && n >= 1 && n <= 1<<24
}

// count is a flag's count: unknown if it is unresolved or no count, the
// engine's default if the command line is complete and does not set it.
func (l *Launch) count(byDefault int, names ...string) (int, bool) {
	f, ok := l.Flag(names...)
	if !ok {
		return byDefault, byDefault > 0 && l.Complete()
	}
	if f.Unresolved {
		return 0, false
	}
	return whole(f.Value)
}

// TP is the tensor-parallel degree. llama.cpp has none to state: how it splits
// a layer follows from the GPUs it sees.
func (l *Launch) TP() (int, bool) {
	switch l.engine {
	case llamacpp:
		if f, ok := l.Flag("split-mode"); ok && (f.Value == "row" || f.Value == "tensor" || f.Unresolved) {
			return 0, false
		}
		return 1, l.Complete()
	case sglang:
		return l.count(1, "tp-size")
	}
	return l.count(1, "tensor-parallel-size")
}

// PP is the pipeline-parallel degree.
func (l *Launch) PP() (int, bool) {
	switch l.engine {
	case llamacpp:
		return 0, false // --split-mode layer uses every GPU it sees
	case sglang:
		return l.count(1, "pp-size")
	}
	return l.count(1, "pipeline-parallel-size")
}

// DP is the number of replicas of the model. SGLang's --dp-size under
// --enable-dp-attention makes none: see AttentionDP.
func (l *Launch) DP() (int, bool) {
	switch l.engine {
	case sglang:
		if _, on := l.on("enable-dp-attention"); on {
			return 1, true
		}
		return l.count(1, "dp-size")
	case vllm:
		return l.count(1, "data-parallel-size")
	}
	return 1, l.Complete()
}

// AttentionDP is the number of groups that attention alone is replicated over
// inside the tensor-parallel group (SGLang's --enable-dp-attention), 1 if none.
func (l *Launch) AttentionDP() (int, bool) {
	if _, on := l.on("enable-dp-attention"); on {
		return l.count(1, "dp-size")
	}
	return 1, l.Complete()
}

// EP is the expert-parallel degree.
func (l *Launch) EP() (int, bool) {
	switch l.engine {
	case sglang:
		tp, known := l.TP()
		if _, on := l.on("enable-ep-moe", "enable-deepep-moe"); on {
			return tp, known
		}
		if f, ok := l.Flag("moe-a2a-backend"); ok && f.Value != "none" {
			return tp, known && !f.Unresolved // the engine sets it to the TP degree
		}
		return l.count(1, "ep-size")
	case vllm:
		if _, on := l.on("enable-expert-parallel"); on {
			tp, known := l.TP()
			dp, also := l.DP()
			return tp * dp, known && also
		}
		return 1, l.Complete()
	case trtllm:
		return l.count(1, "moe-expert-parallel-size")
	}
	return 1, l.Complete()
}

// DCP is the decode-context-parallel degree: ranks that share one sequence's
// cache instead of each holding all of it.
func (l *Launch) DCP() (int, bool) {
	switch l.engine {
	case sglang:
		return l.count(1, "dcp-size")
	case vllm:
		return l.count(1, "decode-context-parallel-size")
	}
	return 0, false
}

// KVDType is the cache's number format where the launch states it and it is
// one of the formats a floor knows; "auto" is unknown.
func (l *Launch) KVDType() (roofline.DType, bool) {
	if l.engine == llamacpp {
		k, ok := l.Flag("cache-type-k")
		v, also := l.Flag("cache-type-v")
		switch {
		case !ok && !also:
			return roofline.FP16, l.Complete()
		case ok && also && k.Value == v.Value && !k.Unresolved && !v.Unresolved:
			return dtype(k.Value)
		}
		return "", false
	}
	f, ok := l.Flag("kv-cache-dtype")
	if !ok || f.Unresolved {
		return "", false
	}
	return dtype(f.Value)
}

func dtype(name string) (roofline.DType, bool) {
	switch strings.ToLower(name) {
	case "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc":
		return roofline.FP8, true
	case "bf16", "bfloat16":
		return roofline.BF16, true
	case "fp16", "float16", "half", "f16":
		return roofline.FP16, true
	case "f32", "fp32", "float32":
		return roofline.FP32, true
	case "int8":
		return roofline.INT8, true
	case "nvfp4", "fp4_e2m1":
		return roofline.NVFP4, true
	case "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl":
		return roofline.DType(strings.ToLower(name)), true
	}
	return "", false
}

// QuantMethod is the weight format the launch asks for.
func (l *Launch) QuantMethod() (string, bool) {
	f, ok := l.Flag("quantization")
	return f.Value, ok && !f.Unresolved && f.Value != ""
}

// MaxRunning is the most sequences the server decodes at once, where stated.
func (l *Launch) MaxRunning() (int, bool) {
	return l.count(0, "max-running-requests", "max-num-seqs", "max-batch-size", "parallel")
}

// GraphsDisabled returns what turns CUDA graphs off for decode.
func (l *Launch) GraphsDisabled() (Setting, bool) {
	for _, name := range []string{"disable-cuda-graph", "disable-decode-cuda-graph", "enforce-eager"} {
		if f, on := l.on(name); on {
			return f.setting(), true
		}
	}
	switch l.engine {
	case sglang:
		if f, ok := l.Flag("cuda-graph-backend-decode"); ok && f.Value == "disabled" {
			return f.setting(), true
		}
	case vllm:
		f, mode := l.nested("compilation-config", "cudagraph_mode")
		switch strings.ToUpper(strings.TrimPrefix(mode, "CUDAGraphMode.")) {
		case "NONE", "0":
			return f.setting(), true
		case "":
			if f, ok := l.Flag("optimization-level"); ok && f.Value == "0" {
				return f.setting(), true
			}
		}
	case llamacpp:
		// llama.cpp looks only at whether it is set.
		if v, ok := l.EnvVar("GGML_CUDA_DISABLE_GRAPHS"); ok && v.Value != "" {
			return v.setting(), true
		}
	}
	return Setting{}, false
}

// GraphMaxBatch is the largest batch captured as a CUDA graph, where stated,
// in sequences for SGLang and in tokens for vLLM.
func (l *Launch) GraphMaxBatch() (int, Setting, bool) {
	for _, name := range []string{"cuda-graph-max-bs", "max-cudagraph-capture-size", "cuda-graph-bs", "cudagraph-capture-sizes"} {
		if f, ok := l.Flag(name); ok && !f.Unresolved {
			if n, ok := largest(f.Value); ok {
				return n, f.setting(), true
			}
		}
	}
	for _, key := range []string{"max_cudagraph_capture_size", "cudagraph_capture_sizes"} {
		if f, text := l.nested("compilation-config", key); text != "" {
			if n, ok := largest(text); ok {
				return n, f.setting(), true
			}
		}
	}
	return 0, Setting{}, false
}

// largest is the greatest of a list of counts, however it is written.
func largest(text string) (n int, ok bool) {
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,[]", r) }) {
		x, is := whole(item)
		if !is {
			return 0, false
		}
		n, ok = max(n, x), true
	}
	return n, ok
}

// Speculation is how drafts are made.
type Speculation struct {
	Method      string // as the engine names it; empty: none
	DraftTokens *int   // drafts verified per sequence and step (γ); nil: not stated
	Setting     Setting
}

// Speculation returns how the launch speculates; false if that is not known,
// as when part of the command line could not be read.
func (l *Launch) Speculation() (Speculation, bool) {
	var s Speculation
	switch l.engine {
	case sglang:
		if f, ok := l.Flag("speculative-algorithm"); ok {
			s = Speculation{Method: f.Value, Setting: f.setting()}
			if n, ok := l.count(0, "speculative-num-draft-tokens"); ok {
				s.DraftTokens = new(n - 1) // SGLang counts the verified token too
			}
			return s, !f.Unresolved
		}
	case vllm:
		f, method := l.nested("speculative-config", "method")
		if f.Written == "" {
			f, _ = l.Flag("speculative-config")
		}
		_, n := l.nested("speculative-config", "num_speculative_tokens")
		if f.Written == "" {
			if f, _ = l.Flag("speculative-model"); f.Written != "" {
				method = "draft model"
				if g, ok := l.Flag("num-speculative-tokens"); ok {
					n = g.Value
				}
			}
		}
		if f.Written != "" {
			s = Speculation{Method: method, Setting: f.setting()}
			if s.Method == "" {
				s.Method = "not stated"
			}
			if n, ok := whole(n); ok {
				s.DraftTokens = &n
			}
			return s, !f.Unresolved
		}
	case llamacpp:
		if f, ok := l.Flag("model-draft", "spec-type"); ok && f.Value != "none" {
			return Speculation{Method: "draft", Setting: f.setting()}, !f.Unresolved
		}
	}
	return s, l.Complete()
}

// nested is one key of a JSON-valued flag, written as JSON or as --flag.key
// value; the later wins. The text is empty if it is not set.
func (l *Launch) nested(name, key string) (Flag, string) {
	var found Flag
	text := ""
	for _, f := range l.Flags {
		switch {
		case f.Unresolved:
		case f.Name == name+"."+key:
			found, text = f, f.Value
		case f.Name == name && strings.HasPrefix(f.Value, "{"):
			var all map[string]json.RawMessage
			if json.Unmarshal([]byte(f.Value), &all) == nil && all[key] != nil {
				found, text = f, strings.Trim(string(all[key]), `"`)
			}
		}
	}
	return found, text
}

// Facts is what two launches must share to be comparable, for a run's
// fingerprint: "engine", "flag.<name>", "env.<NAME>". Values that are not
// kept or not known are left out.
func (l *Launch) Facts() map[string]string {
	facts := map[string]string{"engine": l.Engine}
	for _, f := range l.Flags {
		value := f.Value
		switch {
		case f.Name == "port" || f.Name == l.engine.served || strings.HasSuffix(f.Name, "-port"):
			continue // says nothing of speed
		case f.Unresolved, strings.Contains(value, Hidden), strings.Contains(value, NotKept):
			delete(facts, "flag."+f.Name)
			continue
		case value == "":
			value = "true"
		case value == "True" || value == "False":
			value = strings.ToLower(value)
		case slices.Contains(l.engine.model, f.Name):
			value = modelName(value)
		}
		facts["flag."+f.Name] = value
	}
	for _, v := range l.Env {
		if v.Exported && !v.Unresolved && v.Value != "" && v.Value != Hidden && v.Value != NotKept {
			facts["env."+v.Name] = v.Value
		}
	}
	return facts
}

// modelName is a repository id whole, and of a path only its last element.
func modelName(text string) string {
	text = strings.TrimRight(strings.ReplaceAll(text, `\`, "/"), "/")
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, ".") || strings.HasPrefix(text, "~") || strings.Count(text, "/") > 1 {
		return text[strings.LastIndexByte(text, '/')+1:]
	}
	return text
}

// at is a setting's place as findings give it.
func (l *Launch) at(s Setting) string { return l.where(s.Line, s.Col) }

// start is the place of the command, for what is not set in it.
func (l *Launch) start() string { return l.where(l.Line, l.Col) }

// single says whether the launch is known to use one GPU, so that collectives
// do not matter.
func (l *Launch) single() bool {
	tp, known := l.TP()
	return known && tp == 1 && l.engine != llamacpp
}

// python says whether the engine's workers are Python processes.
func (l *Launch) python() bool { return l.engine != llamacpp }
