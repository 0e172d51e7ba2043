package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/lenient"
)

// quantConfig is the quantization_config of a config.json, over all methods.
type quantConfig struct {
	Method    string `json:"quant_method"`
	Algo      string `json:"quant_algo"`
	Format    string `json:"fmt"`
	BlockSize []int  `json:"weight_block_size"`
	Bits      int    `json:"bits"`
	WBit      int    `json:"w_bit"`
	Group     *int   `json:"group_size"`
	QGroup    *int   `json:"q_group_size"`
	Sym       *bool  `json:"sym"`
	ZeroPoint *bool  `json:"zero_point"`
	LMHead    bool   `json:"lm_head"`
	Load4Bit  bool   `json:"load_in_4bit"`
	Load8Bit  bool   `json:"load_in_8bit"`
	Double    bool   `json:"bnb_4bit_use_double_quant"`
	DescAct   bool   `json:"desc_act"`

	NotConvert []string                   `json:"modules_to_not_convert"`
	Ignore     []string                   `json:"ignore"`
	Ignored    []string                   `json:"ignored_layers"`
	Exclude    []string                   `json:"exclude_modules"`
	Skip       []string                   `json:"llm_int8_skip_modules"`
	KVScheme   *weightScheme              `json:"kv_cache_scheme"`
	KVAlgo     string                     `json:"kv_cache_quant_algo"`
	Groups     map[string]json.RawMessage `json:"config_groups"`
	Layers     map[string]json.RawMessage `json:"quantized_layers"`
	Blocks     json.RawMessage            `json:"modules_in_block_to_quantize"`
	Dynamic    json.RawMessage            `json:"dynamic"`
}

// weightScheme is compressed-tensors' description of one operand.
type weightScheme struct {
	Bits     int    `json:"num_bits"`
	Type     string `json:"type"`
	Strategy string `json:"strategy"`
	Group    *int   `json:"group_size"`
	Sym      *bool  `json:"symmetric"`
	Block    []int  `json:"block_structure"`
}

// quantMethods are the quant_method values that are understood.
var quantMethods = []string{"fp8", "modelopt", "modelopt_fp4", "mxfp4", "mxfp8", "compressed-tensors", "awq", "awq_marlin", "gptq", "gptq_marlin", "fbgemm_fp8", "bitsandbytes"}

// parseQuantConfig reads the quantization_config field. An unknown method is
// an error: taking it for BF16 would be off by a factor.
func parseQuantConfig(raw json.RawMessage) (*Quant, error) {
	var c quantConfig
	if err := lenient.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("field \"quantization_config\": %w", err)
	}
	q := &Quant{From: roofline.FromConfig, Method: c.Method, effort: &effort{maxEffort}}
	var err error
	var names []string
	for _, list := range [][]string{c.NotConvert, c.Ignore, c.Ignored, c.Exclude, c.Skip} {
		names = append(names, list...)
	}
	if q.excluded, err = parseExclusions(names); err != nil {
		return nil, err
	}
	q.excluded.effort = q.effort
	q.head = c.LMHead
	if q.KV, err = c.kv(); err != nil {
		return nil, err
	}
	switch c.Method {
	case "fp8":
		q.Default = FP8Tensor
		if c.BlockSize != nil {
			if len(c.BlockSize) != 2 || c.BlockSize[0] < 1 || c.BlockSize[1] < 1 || max(c.BlockSize[0], c.BlockSize[1]) > 1<<16 {
				return nil, fmt.Errorf("field \"quantization_config\": weight_block_size %v: expected two sizes of at least 1", c.BlockSize)
			}
			q.Default = fp8Block(c.BlockSize[0], c.BlockSize[1])
		}
	case "fbgemm_fp8": // one scale an output channel
		q.Default = FP8Tensor
	case "mxfp4":
		// The checkpoints of this method quantize the routed experts only.
		q.Default, q.only = MXFP4, []string{".experts"}
	case "mxfp8":
		q.Default = MXFP8
	case "modelopt", "modelopt_fp4":
		switch {
		case strings.EqualFold(c.Algo, mixedPrecision) && c.Layers != nil:
			err = q.perLayer(c.Layers)
		case c.Algo != "" && !strings.EqualFold(c.Algo, mixedPrecision):
			q.Default, err = modelOptFormat(c.Algo, derefOr(c.Group, 0))
		default:
			err = q.groups(c.Groups)
		}
	case "compressed-tensors":
		err = q.groups(c.Groups)
	case "awq", "awq_marlin": // the kernel named beside the format
		q.Default, err = c.integers("AWQ", derefOr(c.ZeroPoint, true))
		q.packedBits = c.width()
	case "gptq", "gptq_marlin":
		q.Default, err = c.integers("GPTQ", !derefOr(c.Sym, true))
		q.actOrder = c.DescAct
		q.packedBits = c.width()
		if err == nil {
			err = c.dynamic(q)
		}
		if err == nil {
			q.only, err = c.blocks()
		}
	case "bitsandbytes":
		switch {
		case c.Load4Bit:
			q.Default = NF4
			if c.Double {
				// 8-bit absmax per 64 values, one FP32 per 256 of those.
				q.Default = Format{"NF4 double", 0.5 + 1.0/64 + 4.0/(64*256), roofline.BF16}
			}
		case c.Load8Bit:
			q.Default = INT8
		default:
			err = fmt.Errorf("bitsandbytes: neither load_in_4bit nor load_in_8bit is true")
		}
	case "":
		err = fmt.Errorf("quant_method is missing: %s", known("", quantMethods))
	default:
		err = fmt.Errorf("unknown quant_method %q: %s", c.Method, known(c.Method, quantMethods))
	}
	if err != nil {
		return nil, fmt.Errorf("field \"quantization_config\": %w", err)
	}
	return q, nil
}

func derefOr[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

func (c *quantConfig) kv() (roofline.DType, error) {
	s := c.KVScheme
	switch {
	case s == nil:
		return kvType(c.KVAlgo)
	case s.Bits == 8 && s.Type == "int":
		return roofline.INT8, nil
	case s.Bits == 8:
		return roofline.FP8, nil
	case s.Bits == 4 && s.Type == "float" && derefOr(s.Group, 0) == 16:
		return roofline.NVFP4, nil
	}
	return "", fmt.Errorf("kv_cache_scheme of type %q with %d bits is not known: expected 8 bits, or 4 of type float with group_size 16", s.Type, s.Bits)
}

// blocks are the modules of a layer that AutoGPTQ quantized, nil for all. The
// file lists them flat or in groups.
func (c *quantConfig) blocks() ([]string, error) {
	if len(c.Blocks) == 0 || string(c.Blocks) == "null" {
		return nil, nil
	}
	var flat []string
	if json.Unmarshal(c.Blocks, &flat) != nil {
		var lists [][]string
		if err := json.Unmarshal(c.Blocks, &lists); err != nil {
			return nil, fmt.Errorf("field \"modules_in_block_to_quantize\": expected a list of module names, or of such lists")
		}
		flat = slices.Concat(lists...)
	}
	if len(flat) == 0 || len(flat) > 1<<12 {
		return nil, fmt.Errorf("field \"modules_in_block_to_quantize\": %d names, expected 1 to %d", len(flat), 1<<12)
	}
	for i, name := range flat {
		flat[i] = "." + name
	}
	return flat, nil
}

func (c *quantConfig) width() int {
	if c.Bits != 0 {
		return c.Bits
	}
	return c.WBit
}

// integers is AWQ's and GPTQ's grouped integer format; group −1 means one
// scale a column, left out as of no size.
func (c *quantConfig) integers(name string, zeros bool) (Format, error) {
	bits := c.width()
	if bits < 2 || bits > 8 {
		return Format{}, fmt.Errorf("%s with bits %d: expected 2 to 8", name, bits)
	}
	group := derefOr(c.Group, derefOr(c.QGroup, 128))
	if group != -1 && (group < 1 || group > 1<<16) {
		return Format{}, fmt.Errorf("%s with group_size %d: expected -1 or 1 to 65536", name, group)
	}
	return intGroup(name, bits, max(group, 0), zeros), nil
}

func (s *weightScheme) format() (Format, error) {
	group := derefOr(s.Group, 0)
	if group < -1 || group > 1<<16 {
		return Format{}, fmt.Errorf("group_size %d: expected up to 65536", group)
	}
	group = max(group, 0)
	switch {
	case s.Type == "float" && s.Bits == 4 && (group == 16 || group == 0):
		return NVFP4, nil
	case s.Type == "float" && s.Bits == 4 && group == 32:
		return MXFP4, nil
	case s.Type == "float" && s.Bits == 8 && group == 32:
		return MXFP8, nil
	case s.Type == "float" && s.Bits == 8 && len(s.Block) == 2 && s.Block[0] > 0 && s.Block[1] > 0:
		return fp8Block(s.Block[0], s.Block[1]), nil
	case s.Type == "float" && s.Bits == 8:
		return FP8Tensor, nil
	case s.Type == "int" && s.Bits == 8 && group == 0:
		return INT8, nil
	case s.Type == "int" && s.Bits >= 2 && s.Bits <= 8:
		return intGroup("", s.Bits, group, !derefOr(s.Sym, true)), nil
	}
	return Format{}, fmt.Errorf("weights of type %q with %d bits and group_size %d are not known", s.Type, s.Bits, group)
}
