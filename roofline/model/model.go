// Package model reads what a checkpoint is: from its configuration and side
// files to the list of weights and caches one decode step touches.
//
// It refuses to guess. An architecture, a quantization method or a field it
// does not know is an error that says what is missing; what it has to assume
// is written into the decoder's notes.
package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/nearest"
)

// Arch is one family of architectures.
type Arch struct {
	Names []string // of "architectures" in config.json
	Doc   string
	// Defaults are the family's values of fields its published files leave
	// out, as JSON; using one is noted.
	Defaults map[string]string
	Build    func(b *Builder)
	// Draft builds the MTP layer that checkpoints of the family may carry,
	// nil if the family has none.
	Draft func(b *Builder)
}

// Options change how a model is read.
type Options struct {
	Assume *Format // --weights: every matrix in this format
}

// maxLayers bounds the decoder blocks of a configuration.
const maxLayers = 4096

// build makes the decoder a configuration describes; h, if not nil, has the
// exact bytes of its modules.
func build(name string, c *Config, q *Quant, h *headers, opt Options) (*roofline.Decoder, error) {
	arch, err := find(c)
	if err != nil {
		return nil, err
	}
	if q.mixed != "" && opt.Assume == nil {
		return nil, fmt.Errorf("config_groups: groups in %s; read the checkpoint's tensor headers instead (give the folder)", q.mixed)
	}
	notes := c.applyDefaults(arch)
	if c.wrapper != "" {
		notes = append(notes, "this is the text model of "+c.wrapper+"; its towers are not read by decode")
	}
	d := shell(name, c, q)
	d.Notes = notes
	if d.Layers > maxLayers {
		return nil, fmt.Errorf("field \"num_hidden_layers\": %d is above the limit of %d", d.Layers, maxLayers)
	}
	b := newBuilder(c, q, d, opt.Assume)
	b.h = h
	arch.Build(b)
	if c.err != nil {
		return nil, c.err
	}
	if q.exhausted() {
		return nil, fmt.Errorf("the quantization's lists of modules are too long to match against this model's %d layers", d.Layers)
	}
	if err := bounded(d); err != nil {
		return nil, err
	}
	if h != nil && opt.Assume == nil {
		if h.used() {
			d.BytesSource = roofline.FromHeaders
		}
		notes, next := h.check(d.Layers)
		d.Notes = append(d.Notes, notes...)
		d.DraftNote = next
		if len(h.missing) > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("not in the tensor headers, taken from the %s instead: %s", q.From, few(h.missing)))
		}
	}
	drafts := c.IntOr(0, "num_nextn_predict_layers")
	if c.err != nil {
		return nil, c.err
	}
	if arch.Draft != nil && drafts > 0 {
		d.Draft = shell(name+" (MTP)", c, q)
		d.Draft.Layers, d.Draft.AllReduces = 1, 3 // after attention, MLP and embedding
		next := newBuilder(c, q, d.Draft, opt.Assume)
		if h.has(c.IntOr(0, "num_hidden_layers")) {
			next.h = h
		}
		arch.Draft(next)
		if c.err != nil {
			return nil, c.err
		}
	}
	return d, nil
}

// shell is a decoder with its shape, still without weights.
func shell(name string, c *Config, q *Quant) *roofline.Decoder {
	d := &roofline.Decoder{
		Name: name, Architecture: c.Architecture,
		Layers:     c.Int("num_hidden_layers"),
		Hidden:     c.Int("hidden_size"),
		Vocab:      c.Int("vocab_size"),
		MaxContext: c.Length("max_position_embeddings"),
		KVType:     q.KV, BytesSource: q.From,
		Counts: &roofline.ExpertCounts{},
	}
	d.AllReduces = 2*d.Layers + 1 // one after attention and MLP each, one after the embedding
	return d
}

// bounded refuses sums that no model reaches and an int64 might not hold.
func bounded(d *roofline.Decoder) error {
	var total float64
	for _, t := range d.Tensors {
		total += float64(t.Params) * float64(t.Repeat)
	}
	if total > maxParams {
		return fmt.Errorf("the fields add up to %.3g parameters, above the limit of %.0e", total, float64(maxParams))
	}
	return nil
}

// maxParams bounds a model; sums below it are exact in an int64.
const maxParams = 1e15

func find(c *Config) (Arch, error) {
	var names []string
	for _, a := range All {
		for _, n := range a.Names {
			if n == c.Architecture {
				return a, nil
			}
			names = append(names, n)
		}
	}
	if c.Architecture == "" {
		return Arch{}, fmt.Errorf("field \"architectures\" is missing: cannot tell the model's family; known are %s", strings.Join(names, ", "))
	}
	for _, w := range wrappers {
		names = append(names, w.name)
	}
	hint := ""
	if near := nearArchitectures(c.Architecture, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? "
	}
	return Arch{}, fmt.Errorf("unknown architecture %q: %sknown are %s", c.Architecture, hint, strings.Join(names, ", "))
}

// nearArchitectures are the names that are near in what is their own: nearly
// all end alike.
func nearArchitectures(name string, names []string) []string {
	stem := func(s string) string {
		if i := strings.LastIndex(s, "For"); i > 0 {
			return s[:i]
		}
		return s
	}
	var stems []string
	for _, n := range names {
		stems = append(stems, stem(n))
	}
	near := nearest.Names(stem(name), stems)
	var out []string
	for i, n := range names {
		if slices.Contains(near, stems[i]) {
			out = append(out, n)
		}
	}
	return out
}

// quantOf is the quantization of a configuration with an optional side file.
func quantOf(c *Config, side []byte) (*Quant, error) {
	if side != nil {
		return parseSideFile(side)
	}
	for _, fields := range []map[string]json.RawMessage{c.fields, c.outer} {
		if raw, ok := fields["quantization_config"]; ok && string(raw) != "null" {
			return parseQuantConfig(raw)
		}
	}
	return unquantized(BF16), nil
}

// window is the sliding window the file turns on, 0 for none. sliding_window
// alone is not enough where use_sliding_window is false, and Qwen's
// configuration classes take it for false where it is absent.
func (b *Builder) window(gqa) int {
	if qwen := strings.HasPrefix(b.c.Architecture, "Qwen"); (qwen || b.c.Has("use_sliding_window")) && !b.c.Bool(false, "use_sliding_window") {
		return 0
	}
	if _, stated := b.c.fields["sliding_window"]; !stated && b.c.Architecture == "MistralForCausalLM" {
		b.note("sliding_window is not in the file: none is counted, where the family's configuration class has 4096; engines that load the file with it read less of a long context")
	}
	return b.c.IntOr(0, "sliding_window")
}

// fullAttention says whether layer i attends to everything although a window
// is set: by layer_types, or beyond max_window_layers.
func (b *Builder) fullAttention(i int) bool {
	if types := b.c.layerTypes(b.d.Layers, slidingAttention, fullAttention); types != nil {
		return types[i] == fullAttention
	}
	// Qwen2 and Qwen3 slide only from max_window_layers on.
	if strings.HasPrefix(b.c.Architecture, "Qwen") {
		return i < b.c.IntOr(28, "max_window_layers") // 28: their configuration classes
	}
	return false
}

// layerNorms adds the kernels of the two norms of a block.
func (b *Builder) layerNorms() { b.launch(roofline.Norm, 2) }

// perExpert says whether the list may treat the experts of a layer apart.
func (q *Quant) perExpert(x *exclusions, base string) bool {
	if q.layers != nil || slices.ContainsFunc(q.scopes, func(s scope) bool { return len(s.exprs)+len(s.exact) > 0 }) {
		return true
	}
	if x == nil {
		return false
	}
	return len(x.exprs) > 0 || x.namesExperts || len(x.under(base).globs) > 0
}
