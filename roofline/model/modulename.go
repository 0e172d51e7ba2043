package model

import (
	"slices"
	"strconv"
	"strings"

	"decodegap/roofline"
)

// parts are the endings of tensor names that belong to one module, beside the
// matrix itself: scales, zero points, permutations of quantized matrices.
var parts = []string{
	"weight", "weight_scale_inv", "weight_scale_2", "weight_scale", "weight_global_scale", "weight_zero_point", "weight_shape",
	"weight_packed", "weight_g_idx", "input_scale", "input_global_scale", "qweight", "qzeros", "scales", "g_idx", "SCB",
}

// nested are the same behind ".weight.", of bitsandbytes.
var nested = []string{
	"absmax", "quant_map", "nested_absmax", "nested_quant_map", "quant_state.bitsandbytes__nf4", "quant_state.bitsandbytes__fp4",
}

// moduleOf splits a tensor's name into module and part. Stacked experts carry
// their part behind an underscore: gate_up_proj_blocks, gate_up_proj_scales.
// PEFT puts the matrix an adapter belongs to one level down, into base_layer.
func moduleOf(name string) (module, part string) {
	if before, after, ok := strings.Cut(name, ".base_layer."); ok {
		name = before + "." + after
	}
	if m, rest, ok := strings.Cut(name, ".weight."); ok && slices.Contains(nested, rest) {
		return m, rest
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && slices.Contains(parts, name[dot+1:]) && !strings.HasSuffix(name[:dot], ".weight") {
		return name[:dot], name[dot+1:]
	}
	for _, p := range []string{"_blocks", "_scales", "_scale", "_scale_2", "_input_scale"} {
		if m, ok := strings.CutSuffix(name, p); ok && strings.Contains(m, ".experts.") {
			return m, p[1:]
		}
	}
	return name, ""
}

// layerRoot finds the path above "layers.N." of the text model: the one with
// the most modules that the implied decoder has in its layers, in its sizes,
// else in others: a tower may have the same names, and more of them. Weights
// are those of a module, 0 where they are not known.
func layerRoot(implied *roofline.Decoder, weights func(module string) int64, lists ...[]string) (root string, ok bool) {
	wanted := map[string]int64{}
	for _, t := range implied.Tensors {
		if _, rest, ok := cutLayer(t.Name); ok {
			wanted[rest] += t.Params
		}
	}
	sized, known, met := map[string]int{}, map[string]int{}, map[string]int{}
	for _, modules := range lists {
		for _, m := range modules {
			above, rest, ok := cutLayer(m)
			if !ok || side(above) {
				continue
			}
			met[above]++
			before, _, experts := strings.Cut(rest, ".experts.")
			params := wanted[rest]
			if params > 0 || experts && wanted[before+".experts"] > 0 {
				known[above]++
			}
			// Fused matrices of one size count once among the implied.
			if n := weights(m); params > 0 && (n == params || n == 2*params) {
				sized[above]++
			}
		}
	}
	for _, counts := range []map[string]int{sized, known, met} {
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

// mtp says whether a path is that of a layer for multi-token prediction.
func mtp(path string) bool { return strings.Contains(strings.ToLower(path), "mtp") }

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

// beyond says whether a module is of a layer past the decoder's: the MTP layer.
func beyond(module, root string, layers int) bool {
	rest, ok := strings.CutPrefix(module, join(root, "layers."))
	if !ok {
		return false
	}
	number, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	return err == nil && n >= layers
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
