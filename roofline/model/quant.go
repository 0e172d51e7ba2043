package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/lenient"
	"decodegap/roofline/nearest"
)

// Quant is what a checkpoint's files say about how its matrices are stored.
type Quant struct {
	mixed string // config_groups in several formats: only tensor headers tell which module has which

	Default Format // of every quantizable matrix that is not excluded
	KV      roofline.DType
	From    roofline.Evidence
	Method  string

	head       bool // the output head is quantized too, which few files say
	actOrder   bool // GPTQ's g_idx permutes the rows, and kernels read it
	packedBits int  // of integer formats packed into 32-bit words, 0 otherwise

	excluded *exclusions
	only     []string          // kinds of modules the format is limited to, nil for all
	layers   map[string]Format // per-module formats (mixed precision), by module name
	scopes   []scope           // rules that give modules formats, the first match deciding; nil for none
	rest     Format            // of modules that no scope covers

	effort *effort // left for matching the lists, nil for no bound
}

// unquantized is a checkpoint that says nothing: everything BF16, or the type
// its configuration names.
func unquantized(f Format) *Quant { return &Quant{Default: f, From: roofline.FromConfig} }

// of is the format of one quantizable matrix.
func (q *Quant) of(x *exclusions, module string) Format {
	if q.layers != nil {
		for name := module; name != ""; {
			if f, ok := q.layers[name]; ok {
				return f
			}
			dot := strings.LastIndexByte(name, '.')
			if dot < 0 {
				break
			}
			name = name[:dot]
		}
		return BF16
	}
	if q.only != nil && !slices.ContainsFunc(q.only, func(s string) bool { return strings.Contains(module, s) }) {
		return BF16
	}
	if x != nil && x.match(module) {
		return BF16
	}
	if q.scopes != nil {
		return q.scoped(module)
	}
	return q.Default
}

// exhausted says whether the lists are too much to match against the modules.
func (q *Quant) exhausted() bool { return q.effort != nil && q.effort.left <= 0 }

// parseSideFile reads a ModelOpt hf_quant_config.json.
func parseSideFile(data []byte) (*Quant, error) {
	var file struct {
		Quantization *struct {
			Algo      string                     `json:"quant_algo"`
			KV        string                     `json:"kv_cache_quant_algo"`
			Group     int                        `json:"group_size"`
			Exclude   []string                   `json:"exclude_modules"`
			Quantized map[string]json.RawMessage `json:"quantized_layers"`
		} `json:"quantization"`
	}
	if err := lenient.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.Quantization == nil {
		return nil, fmt.Errorf("field \"quantization\" is missing: expected a ModelOpt hf_quant_config.json")
	}
	in := file.Quantization
	q := &Quant{From: roofline.FromSideFile, Method: "modelopt", effort: &effort{maxEffort}}
	var err error
	if q.KV, err = kvType(in.KV); err != nil {
		return nil, err
	}
	if q.excluded, err = parseExclusions(in.Exclude); err != nil {
		return nil, err
	}
	q.excluded.effort = q.effort
	if strings.EqualFold(in.Algo, mixedPrecision) {
		return q, q.perLayer(in.Quantized)
	}
	q.Default, err = modelOptFormat(in.Algo, in.Group)
	return q, err
}

// mixedPrecision is ModelOpt's quant_algo of a format a module.
const mixedPrecision = "MIXED_PRECISION"

// perLayer reads quantized_layers: a format for each module it names, and
// BF16 for the others.
func (q *Quant) perLayer(quantized map[string]json.RawMessage) error {
	q.Default = BF16
	q.layers = map[string]Format{}
	for _, name := range sortedKeys(quantized) {
		var l struct {
			Algo  string `json:"quant_algo"`
			Group int    `json:"group_size"`
		}
		err := json.Unmarshal(quantized[name], &l)
		if err == nil {
			q.layers[name], err = modelOptFormat(l.Algo, l.Group)
		}
		if err != nil {
			return fmt.Errorf("quantized_layers %q: %w", name, err)
		}
	}
	return nil
}

// modelOptAlgos are the quant_algo values of ModelOpt whose layout is known.
var modelOptAlgos = []string{"NVFP4", "W4A16_NVFP4", "NVFP4_AWQ", "FP8", "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PB_WO",
	"FP8_PB_REAL", "MXFP4", "W4A8_MXFP4_FP8", "MXFP8", "W4A16_AWQ", "W4A8_AWQ", "W8A16", "W8A8_SQ_PER_CHANNEL", "INT8_SQ", "NONE"}

func modelOptFormat(algo string, group int) (Format, error) {
	if group < 0 || group > 1<<16 {
		return Format{}, fmt.Errorf("group_size %d: expected 1 to 65536", group)
	}
	switch strings.ToUpper(algo) {
	case "NVFP4", "W4A16_NVFP4", "NVFP4_AWQ":
		if group != 0 && group != 16 {
			return Format{}, fmt.Errorf("NVFP4 with group_size %d: expected 16", group)
		}
		return NVFP4, nil
	case "FP8", "FP8_PER_CHANNEL_PER_TOKEN":
		return FP8Tensor, nil
	case "FP8_PB_WO", "FP8_PB_REAL":
		return FP8Block, nil
	case "MXFP4", "W4A8_MXFP4_FP8":
		return MXFP4, nil
	case "MXFP8":
		return MXFP8, nil
	case "W4A16_AWQ", "W4A8_AWQ":
		if group == 0 {
			group = 128
		}
		return intGroup("AWQ", 4, group, false), nil
	case "W8A16", "W8A8_SQ_PER_CHANNEL", "INT8_SQ":
		return INT8, nil
	case "", "NONE":
		return BF16, nil
	}
	return Format{}, fmt.Errorf("unknown quant_algo %q: %s", algo, known(algo, modelOptAlgos))
}

func known(name string, list []string) string {
	if near := nearest.Names(name, list); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return "known are " + strings.Join(list, ", ")
}

// kvType reads a KV-cache type as side files and flags spell it.
func kvType(s string) (roofline.DType, error) {
	switch strings.ToLower(s) {
	case "", "none", "auto":
		return "", nil
	case "fp8", "fp8_e4m3", "fp8_e5m2":
		return roofline.FP8, nil
	case "bf16", "bfloat16":
		return roofline.BF16, nil
	case "fp16", "float16", "half", "f16":
		return roofline.FP16, nil
	case "int8":
		return roofline.INT8, nil
	case "fp32", "float32", "f32":
		return roofline.FP32, nil
	case "nvfp4", "fp4_e2m1": // ModelOpt and TensorRT-LLM; SGLang
		return roofline.NVFP4, nil
	case "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl":
		return roofline.DType(strings.ToLower(s)), nil
	}
	return "", fmt.Errorf("unknown KV-cache type %q: known are auto, bf16, fp16, fp8, int8, fp32, nvfp4, and of llama.cpp q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl", s)
}

// ParseKVType reads the value of --kv-dtype.
func ParseKVType(s string) (roofline.DType, error) { return kvType(s) }

// ParseStateType reads the value of --state-dtype.
func ParseStateType(s string) (roofline.DType, error) {
	switch strings.ToLower(s) {
	case "float32", "fp32":
		return roofline.FP32, nil
	case "bfloat16", "bf16":
		return roofline.BF16, nil
	case "float16", "fp16":
		return roofline.FP16, nil
	}
	return "", fmt.Errorf("unknown state type %q: known are float32, bfloat16, float16", s)
}

func sortStrings(s []string) { sort.Strings(s) }
