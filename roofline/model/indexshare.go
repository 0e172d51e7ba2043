package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The values of indexer_types.
const (
	indexFull   = "full"   // runs the index
	indexShared = "shared" // attends to what the last full layer chose
)

// indexLayers says which layers run an index of their own; nil for a model
// without an index. The list indexer_types decides. Without it the layers
// follow from index_topk_pattern or index_topk_freq as Transformers'
// GlmMoeDsaConfig, vLLM and TensorRT-LLM derive them; with it, one that says
// otherwise is noted, since those engines differ in which of the two they ask.
func (b *Builder) indexLayers() []bool {
	if !b.d.Indexed {
		return nil
	}
	types := b.c.perLayer("indexer_types", b.d.Layers, indexFull, indexShared)
	derived, from := b.derivedIndexers()
	switch {
	case types == nil:
		types = derived
	case derived != nil:
		if i := firstDifference(types, derived); i >= 0 {
			b.d.Notes = append(b.d.Notes, fmt.Sprintf("indexer_types, which is used, has layer %d %s where %s makes it %s: engines that ask the latter read another index",
				i, types[i], from, derived[i]))
		}
	}
	own := make([]bool, b.d.Layers)
	for i := range own {
		own[i] = types == nil || types[i] == indexFull
	}
	return own
}

// derivedIndexers are the types that follow from index_topk_pattern, else from
// index_topk_freq, and the field's name; nil where the file has neither.
func (b *Builder) derivedIndexers() ([]string, string) {
	if b.c.Has("index_topk_pattern") {
		return b.indexPattern(), "index_topk_pattern"
	}
	if !b.c.Has("index_topk_freq") {
		return nil, ""
	}
	freq := max(b.c.IntOr(1, "index_topk_freq"), 1)
	// The offset is how many layers run the index before the first is skipped.
	offset := b.c.IntOr(2, "index_skip_topk_offset")
	types := make([]string, b.d.Layers)
	for i := range types {
		types[i] = indexShared
		if max(i-offset+1, 0)%freq == 0 {
			types[i] = indexFull
		}
	}
	if types[0] != indexFull && !b.c.Has("indexer_types") {
		b.c.fail("index_skip_topk_offset", "%d with index_topk_freq %d leaves layer 0 without an index to share; expected at least 1", offset, freq)
	}
	return types, "index_topk_freq"
}

// indexPattern reads index_topk_pattern: a letter a layer, F or S, or a list
// as indexer_types is.
func (b *Builder) indexPattern() []string {
	const field = "index_topk_pattern"
	var letters string
	if json.Unmarshal(b.c.fields[field], &letters) != nil {
		return b.c.perLayer(field, b.d.Layers, indexFull, indexShared)
	}
	if len(letters) != b.d.Layers {
		b.c.fail(field, "%d letters for %d layers", len(letters), b.d.Layers)
		return nil
	}
	types := make([]string, len(letters))
	for i, letter := range []byte(letters) {
		switch letter {
		case 'F':
			types[i] = indexFull
		case 'S':
			types[i] = indexShared
		default:
			b.c.fail(field, "letter %d: expected F or S, got %q", i, letter)
			return nil
		}
	}
	return types
}

// perLayer is a list with one of the known values a layer, nil if the file has
// none.
func (c *Config) perLayer(field string, layers int, known ...string) []string {
	types := c.Strings(field)
	if types == nil {
		return nil
	}
	if len(types) != layers {
		c.fail(field, "%d entries for %d layers", len(types), layers)
		return nil
	}
	for i, t := range types {
		if !slices.Contains(known, t) {
			c.fail(field, "entry %d: expected %s, got %q", i, strings.Join(known, " or "), shorten(t))
			return nil
		}
	}
	return types
}

// firstDifference is the first index where lists of one length differ, -1 if
// none.
func firstDifference[T comparable](a, b []T) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
