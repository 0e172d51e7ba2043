package model

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/model/safetensors"
	"decodegap/roofline/unit"
)

// headers is what a checkpoint's tensor headers say, by module path. Bytes
// taken from here are exact: scales, zero points and all.
type headers struct {
	modules map[string]*stored
	layers  string   // path above the decoder layers: "model", "language_model.model"
	rooted  bool     // layers was found in the names
	sorted  []string // module paths
	absent  []string // modules with a tensor in a file that is not at hand, sorted
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

	main, scale int32 // 1 + the tensors that hold its matrix and its scales, 0 for none
}

// tensor is one entry of a header.
type tensor = safetensors.Tensor

// newHeaders groups a header's tensors by module. Absent are the names of
// tensors in files that are not at hand: a module with one of them is left to
// the configuration as a whole, for half a module tells neither its bytes nor
// its format. Implied is the decoder the configuration alone describes.
func newHeaders(tensors []tensor, absent []safetensors.Absent, q *Quant, implied *roofline.Decoder) *headers {
	h := &headers{modules: map[string]*stored{}}
	for i, t := range tensors {
		m, part := moduleOf(t.Name)
		s := h.modules[m]
		if s == nil {
			s = &stored{}
			h.modules[m] = s
			h.sorted = append(h.sorted, m)
		}
		if part == "g_idx" && !q.actOrder {
			continue // kernels drop the permutation, which is the identity
		}
		s.bytes += t.Bytes
		switch part {
		case "weight", "weight_packed", "qweight", "blocks", "":
			s.main = int32(i + 1)
		case "weight_scale", "weight_scale_inv", "scales", "scale":
			s.scale = int32(i + 1)
		}
	}
	var scales firstFew
	sort.Strings(h.sorted) // nearly in order already: the tensors are sorted
	h.sorted = slices.DeleteFunc(h.sorted, func(m string) bool {
		s := h.modules[m]
		if s.main == 0 {
			scales.add(m)
			delete(h.modules, m)
			return true
		}
		var scale tensor
		if s.scale > 0 {
			scale = tensors[s.scale-1]
		}
		s.format, s.weights = storage(tensors[s.main-1], scale, q)
		if s.weights > 0 {
			s.format.Bytes = unit.Bytes(s.bytes) / unit.Bytes(s.weights)
		}
		return false
	})
	for _, t := range absent {
		m, _ := moduleOf(t.Name)
		h.absent = append(h.absent, m)
	}
	slices.Sort(h.absent)
	h.absent = slices.Compact(h.absent)
	h.layers, h.rooted = layerRoot(implied, func(m string) int64 {
		if s := h.modules[m]; s != nil {
			return s.weights
		}
		return 0
	}, h.sorted, h.absent)
	h.sorted = slices.DeleteFunc(h.sorted, func(m string) bool {
		_, half := slices.BinarySearch(h.absent, m)
		if half {
			delete(h.modules, m)
		}
		return half
	})
	if scales.count > 0 && len(absent) == 0 {
		h.notes = append(h.notes, fmt.Sprintf("%d modules have scales and no weights, and are left to the configuration: %s", scales.count, scales))
	}
	return h
}

// storage tells the format of a module from its tensors' types: the number of
// weights behind the packing, and the type that multiplies them.
func storage(main, scale tensor, q *Quant) (Format, int64) {
	n := int64(1)
	for _, d := range main.Shape {
		n *= d
	}
	switch main.DType {
	case "BF16":
		return BF16, n
	case "F16":
		return FP16, n
	case "F32", "F64":
		return FP32, n
	case "F8_E4M3", "F8_E5M2":
		switch {
		case scale.DType == "F8_E8M0" || scale.DType == "U8":
			return MXFP8, n
		case len(scale.Shape) == 2 && scale.Shape[1] > 1:
			return FP8Block, n
		}
		return FP8Tensor, n
	case "U8", "F4":
		if main.DType == "U8" {
			n *= 2
		}
		switch {
		case scale.DType == "F8_E4M3":
			return NVFP4, n
		case scale.DType == "U8" || scale.DType == "F8_E8M0":
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
	return Format{Name: main.DType, Math: roofline.BF16}, 0
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
	i, _ := slices.BinarySearch(h.absent, path)
	return i < len(h.absent) && strings.HasPrefix(h.absent[i], path)
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
// built: modules of another size, and modules nobody asked for; next is what to
// say of MTP layers where none drafts.
func (h *headers) check(layers int) (notes []string, next string) {
	if len(h.modules) > 0 && !h.used() {
		return []string{fmt.Sprintf("the headers hold none of this model's modules, but %s: an adapter's or another model's file? All bytes are the configuration's", few(h.sorted))}, ""
	}
	notes = append(notes, h.notes...)
	var sizes, unknown firstFew
	var unknownBytes, sideBytes, nextBytes int64
	for _, m := range h.sorted {
		s := h.modules[m]
		switch {
		case s.asked && s.weights != 0 && s.taken != s.weights:
			sizes.add(fmt.Sprintf("%s (%d weights, %d implied)", m, s.weights, s.taken))
		case s.asked:
		case mtp(m), beyond(m, h.layers, layers):
			nextBytes += s.bytes
		case side(m):
			sideBytes += s.bytes
		case ignorable(m):
		default:
			unknown.add(m)
			unknownBytes += s.bytes
		}
	}
	if sizes.count > 0 {
		notes = append(notes, "the headers and the configuration disagree about "+sizes.String())
	}
	if unknown.count > 0 {
		notes = append(notes, fmt.Sprintf("the headers hold %d modules (%.3g GB) that this reading does not use: %s", unknown.count, float64(unknownBytes)/1e9, unknown))
	}
	if sideBytes > 0 {
		notes = append(notes, fmt.Sprintf("%.3g GB of the checkpoint (towers) are not read by decode", float64(sideBytes)/1e9))
	}
	if nextBytes > 0 {
		next = fmt.Sprintf("%.3g GB of the checkpoint (MTP layers) are not read by decode", float64(nextBytes)/1e9)
	}
	return notes, next
}
