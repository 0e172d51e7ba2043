package model

import (
	"encoding/json"
	"fmt"

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
	q := &Quant{From: roofline.FromConfig, Method: c.Method}
	var err error
	var names []string
	for _, list := range [][]string{c.NotConvert, c.Ignore, c.Ignored, c.Exclude, c.Skip} {
		names = append(names, list...)
	}
	if q.excluded, err = parseExclusions(names); err != nil {
		return nil, err
	}
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
		if c.Algo != "" {
			q.Default, err = modelOptFormat(c.Algo, derefOr(c.Group, 0))
		} else {
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
	if s := c.KVScheme; s != nil && s.Bits == 8 {
		if s.Type == "int" {
			return roofline.INT8, nil
		}
		return roofline.FP8, nil
	}
	return kvType(c.KVAlgo)
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

// groups reads config_groups. Every group must agree on the weights' format:
// which module belongs to which group is only in the tensor headers.
func (q *Quant) groups(groups map[string]json.RawMessage) error {
	if len(groups) == 0 {
		return fmt.Errorf("config_groups is missing or empty")
	}
	var found []Format
	for name, raw := range groups {
		var g struct {
			Weights *weightScheme `json:"weights"`
			Format  string        `json:"format"`
		}
		if err := json.Unmarshal(raw, &g); err != nil {
			return fmt.Errorf("config_groups %q: %w", name, err)
		}
		if g.Weights == nil {
			continue
		}
		f, err := g.Weights.format()
		if err != nil {
			return fmt.Errorf("config_groups %q: %w", name, err)
		}
		found = append(found, f)
		if g.Weights.Type == "int" && g.Weights.Bits < 8 {
			q.packedBits = g.Weights.Bits
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("config_groups: no group describes weights")
	}
	q.Default = found[0]
	for _, f := range found[1:] {
		if f == found[0] {
			continue
		}
		q.mixed = found[0].Name + " and " + f.Name
		q.packedBits = 0 // how many weights a word holds depends on the group
		if f.Bytes > q.Default.Bytes {
			q.Default = f
		}
	}
	return nil
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
