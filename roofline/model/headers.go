package model

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"decodegap/roofline"
)

// headers is what a checkpoint's tensor headers say, by module path. Bytes
// taken from here are exact: scales, zero points and all.
type headers struct {
	modules map[string]*stored
	layers  string   // path above the decoder layers: "model", "language_model.model"
	rooted  bool     // layers was found in the names
	sorted  []string // module paths
	absent  []string // modules with a tensor in a file that is not at hand
	missing []string // modules the reading asked for and did not find
	notes   []string
}

// stored is one module's tensors in the checkpoint.
type stored struct {
	bytes   int64
	weights int64 // unpacked weights of its matrix, 0 where packing hides them
	format  Format
	taken   int64 // weights the decoder's reading has asked for
	asked   bool
}

// tensor is one entry of a header, from whatever file format.
type tensor struct {
	name  string
	dtype string
	shape []int64
	bytes int64
}

// parts are the endings of tensor names that belong to one module, beside the
// matrix itself: scales, zero points, permutations of quantized matrices.
var parts = []string{
	"weight", "weight_scale_inv", "weight_scale_2", "weight_scale", "weight_global_scale", "weight_zero_point", "weight_shape",
	"weight_packed", "weight_g_idx", "input_scale", "input_global_scale", "qweight", "qzeros", "scales", "g_idx",
	"weight.absmax", "weight.quant_map", "weight.nested_absmax", "weight.nested_quant_map",
	"weight.quant_state.bitsandbytes__nf4", "weight.quant_state.bitsandbytes__fp4", "SCB",
}

// module splits a tensor's name into module and part. Stacked experts carry
// their part behind an underscore: gate_up_proj_blocks, gate_up_proj_scales.
func moduleOf(name string) (module, part string) {
	for _, p := range parts {
		if m, ok := strings.CutSuffix(name, "."+p); ok && !strings.HasSuffix(m, ".weight") {
			return m, p
		}
	}
	for _, p := range []string{"_blocks", "_scales", "_scale", "_scale_2", "_input_scale"} {
		if m, ok := strings.CutSuffix(name, p); ok && strings.Contains(m, ".experts.") {
			return m, p[1:]
		}
	}
	return name, ""
}

// newHeaders groups a header's tensors by module. Absent are the names of
// tensors in files that are not at hand: a module with one of them is left to
// the configuration as a whole, for half a module tells neither its bytes nor
// its format. Implied is the decoder the configuration alone describes.
func newHeaders(tensors []tensor, absent []string, q *Quant, implied *roofline.Decoder) *headers {
	h := &headers{modules: map[string]*stored{}}
	main := map[string]tensor{} // the tensor that holds a module's matrix
	scale := map[string]tensor{}
	for _, t := range tensors {
		m, part := moduleOf(t.name)
		s := h.modules[m]
		if s == nil {
			s = &stored{}
			h.modules[m] = s
		}
		s.bytes += t.bytes
		switch part {
		case "weight", "weight_packed", "qweight", "blocks", "":
			main[m] = t
		case "weight_scale", "weight_scale_inv", "scales", "scale":
			scale[m] = t
		}
	}
	var scales []string
	for _, m := range sortedKeys(h.modules) {
		s := h.modules[m]
		if main[m].dtype == "" {
			scales = append(scales, m)
			delete(h.modules, m)
			continue
		}
		s.format, s.weights = storage(main[m], scale[m], q)
		if s.weights > 0 {
			s.format.Bytes = float64(s.bytes) / float64(s.weights)
		}
	}
	names := sortedKeys(h.modules)
	for _, name := range absent {
		m, _ := moduleOf(name)
		delete(h.modules, m)
		h.absent = append(h.absent, m)
		names = append(names, m)
	}
	if len(scales) > 0 && len(absent) == 0 {
		h.notes = append(h.notes, fmt.Sprintf("%d modules have scales and no weights, and are left to the configuration: %s", len(scales), few(scales)))
	}
	h.layers, h.rooted = layerRoot(names, implied)
	return h
}

// layerRoot finds the path above "layers.N." of the text model: the one with
// the most modules that the implied decoder has in its layers.
func layerRoot(modules []string, implied *roofline.Decoder) (root string, ok bool) {
	wanted := map[string]bool{}
	for _, t := range implied.Tensors {
		if _, rest, ok := cutLayer(t.Name); ok {
			wanted[rest] = true
		}
	}
	known, met := map[string]int{}, map[string]int{}
	for _, m := range modules {
		above, rest, ok := cutLayer(m)
		if !ok || side(above) {
			continue
		}
		met[above]++
		if before, _, experts := strings.Cut(rest, ".experts."); wanted[rest] || experts && wanted[before+".experts"] {
			known[above]++
		}
	}
	for _, counts := range []map[string]int{known, met} {
		for _, r := range sortedKeys(counts) {
			if !ok || counts[r] > counts[root] {
				root, ok = r, true
			}
		}
		if ok {
			break
		}
	}
	return root, ok
}

// cutLayer cuts "above.layers.N.rest".
func cutLayer(module string) (above, rest string, ok bool) {
	for from := 0; ; {
		i := strings.Index(module[from:], "layers.")
		if i < 0 {
			return "", "", false
		}
		i += from
		from = i + len("layers.")
		if i > 0 && module[i-1] != '.' {
			continue
		}
		number, rest, found := strings.Cut(module[from:], ".")
		if found && number != "" && strings.Trim(number, "0123456789") == "" {
			return strings.TrimSuffix(module[:i], "."), rest, true
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// side says whether a path belongs to a part of the checkpoint that decode of
// text does not read: towers for images and sound, MTP layers.
func side(path string) bool {
	for _, word := range []string{"vision", "visual", "audio", "mtp", "projector", "image", "eagle", "draft"} {
		if strings.Contains(strings.ToLower(path), word) {
			return true
		}
	}
	return false
}

// storage tells the format of a module from its tensors' types: the number of
// weights behind the packing, and the type that multiplies them.
func storage(main, scale tensor, q *Quant) (Format, int64) {
	n := int64(1)
	for _, d := range main.shape {
		n *= d
	}
	switch main.dtype {
	case "BF16":
		return BF16, n
	case "F16":
		return FP16, n
	case "F32", "F64":
		return FP32, n
	case "F8_E4M3", "F8_E5M2":
		switch {
		case scale.dtype == "F8_E8M0" || scale.dtype == "U8":
			return MXFP8, n
		case len(scale.shape) == 2 && scale.shape[1] > 1:
			return FP8Block, n
		}
		return FP8Tensor, n
	case "U8", "F4":
		if main.dtype == "U8" {
			n *= 2
		}
		switch {
		case scale.dtype == "F8_E4M3":
			return NVFP4, n
		case scale.dtype == "U8" || scale.dtype == "F8_E8M0":
			return MXFP4, n
		}
		return NF4, n
	case "I8":
		return INT8, n
	case "I32":
		// AWQ, GPTQ and compressed-tensors pack several weights a word; the
		// width is only in the configuration.
		if bits := q.packedBits; bits > 0 && 32%bits == 0 {
			return Format{Name: q.Default.Name, Math: q.Default.Math}, n * int64(32/bits)
		}
		return Format{Name: q.Default.Name, Math: q.Default.Math}, 0
	}
	return Format{Name: main.dtype, Math: roofline.BF16}, 0
}

// take hands out a module's bytes for the given weights of it; a fused module
// is shared in proportion. False if the headers do not have the module.
func (h *headers) take(module string, params int64) (bytes float64, f Format, ok bool) {
	s, ok := h.modules[module]
	if !ok {
		return 0, Format{}, false
	}
	s.asked = true
	s.taken += params
	if s.weights == 0 {
		return float64(s.bytes), s.format, true
	}
	return float64(s.bytes) * float64(params) / float64(s.weights), s.format, true
}

// portion is the part of a layer's experts that is stored in one format.
type portion struct {
	format  Format
	bytes   float64
	weights int64
	from    roofline.Evidence
}

// takeBelow hands out everything below a path but biases, by format: the
// experts of a layer, however the checkpoint stacks them. Hidden says that
// packing hides how many weights there are.
func (h *headers) takeBelow(below []string) (portions []portion, weights int64, hidden bool) {
	for _, m := range below {
		if strings.HasSuffix(m, "bias") {
			continue
		}
		s := h.modules[m]
		s.asked = true
		s.taken = s.weights
		hidden = hidden || s.weights == 0
		weights += s.weights
		portions = addPortion(portions, portion{s.format, float64(s.bytes), s.weights, roofline.FromHeaders})
	}
	return portions, weights, hidden
}

// lacks says whether modules below a path are in files that are not at hand.
func (h *headers) lacks(path string) bool {
	return slices.ContainsFunc(h.absent, func(m string) bool { return strings.HasPrefix(m, path) })
}

// addPortion adds to the portion of the same format.
func addPortion(portions []portion, p portion) []portion {
	for i := range portions {
		if x := &portions[i]; x.format.Name == p.format.Name && x.format.Math == p.format.Math && x.from == p.from {
			x.bytes += p.bytes
			x.weights += p.weights
			return portions
		}
	}
	return append(portions, p)
}

// below lists the modules under a path, in order.
func (h *headers) below(path string) []string {
	if h.sorted == nil {
		h.sorted = sortedKeys(h.modules)
	}
	from, _ := slices.BinarySearch(h.sorted, path)
	to := from
	for to < len(h.sorted) && strings.HasPrefix(h.sorted[to], path) {
		to++
	}
	return h.sorted[from:to]
}

// used says whether the reading found anything of the model in the headers.
func (h *headers) used() bool {
	for _, s := range h.modules {
		if s.asked {
			return true
		}
	}
	return false
}

// has says whether the headers hold a layer of that number.
func (h *headers) has(layer int) bool {
	return h != nil && len(h.below(fmt.Sprintf("%s%d.", join(h.layers, "layers."), layer))) > 0
}

// check compares what was taken with what is there, after the decoder has been
// built: modules of another size, and modules nobody asked for.
func (h *headers) check(layers int) (notes []string) {
	if len(h.modules) > 0 && !h.used() {
		return []string{fmt.Sprintf("the headers hold none of this model's modules, but %s: an adapter's or another model's file? All bytes are the configuration's", few(sortedKeys(h.modules)))}
	}
	notes = append(notes, h.notes...)
	var sizes, unknown []string
	var unknownBytes, sideBytes int64
	for _, m := range sortedKeys(h.modules) {
		s := h.modules[m]
		switch {
		case s.asked && s.weights != 0 && s.taken != s.weights:
			sizes = append(sizes, fmt.Sprintf("%s (%d weights, %d implied)", m, s.weights, s.taken))
		case s.asked:
		case side(m), beyond(m, h.layers, layers):
			sideBytes += s.bytes
		case ignorable(m):
		default:
			unknown = append(unknown, m)
			unknownBytes += s.bytes
		}
	}
	if len(sizes) > 0 {
		notes = append(notes, "the headers and the configuration disagree about "+few(sizes))
	}
	if len(unknown) > 0 {
		notes = append(notes, fmt.Sprintf("the headers hold %d modules (%.3g GB) that this reading does not use: %s", len(unknown), float64(unknownBytes)/1e9, few(unknown)))
	}
	if sideBytes > 0 {
		notes = append(notes, fmt.Sprintf("%.3g GB of the checkpoint (MTP layers, towers) are not read by decode", float64(sideBytes)/1e9))
	}
	return notes
}

// few names the first of many.
func few(list []string) string {
	if len(list) <= 4 {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:4], ", ") + fmt.Sprintf(" and %d more", len(list)-4)
}

// beyond says whether a module is of a layer past the decoder's: the MTP layer.
func beyond(module, root string, layers int) bool {
	rest, ok := strings.CutPrefix(module, join(root, "layers."))
	if !ok {
		return false
	}
	number, _, _ := strings.Cut(rest, ".")
	var n int
	if _, err := fmt.Sscanf(number, "%d", &n); err != nil {
		return false
	}
	return n >= layers
}

func join(root, rest string) string {
	if root == "" {
		return rest
	}
	return root + "." + rest
}

// ignorable are modules that hold next to nothing, or nothing a step reads.
func ignorable(m string) bool {
	return slices.ContainsFunc([]string{"rotary_emb", "inv_freq", "k_scale", "v_scale", "q_scale", "prob_scale", "e_score_correction_bias", "kv_scale", "rope_freqs"},
		func(s string) bool { return strings.Contains(m, s) })
}
