package bench

import (
	"path"
	"strconv"
	"strings"
	"unicode"
)

// settings are the fields that say how a run was made, with the name of the
// fact each becomes.
var settings = map[string]string{
	"backend":             "bench.backend",
	"endpoint_type":       "bench.endpoint",
	"dataset_name":        "bench.dataset",
	"request_rate":        "bench.request_rate",
	"burstiness":          "bench.burstiness",
	"random_input_len":    "bench.input_len",
	"random_output_len":   "bench.output_len",
	"random_range_ratio":  "bench.range_ratio",
	"sharegpt_output_len": "bench.sharegpt_output_len",
	"tag":                 "bench.tag",
	"label":               "bench.tag",
	"date":                "bench.date",
	// The aggregate of InferenceX.
	"hw":                  "bench.hardware",
	"isl":                 "bench.input_len",
	"osl":                 "bench.output_len",
	"precision":           "bench.precision",
	"spec_decoding":       "bench.spec_decoding",
	"disagg":              "bench.disagg",
	"image":               "engine.image",
	"framework":           "engine.name",
	"tp":                  "parallel.tp",
	"pp":                  "parallel.pp",
	"ep":                  "parallel.ep",
	"dp_attention":        "parallel.dp_attention",
	"tput_per_gpu":        "bench.total_tok_s_per_gpu",
	"output_tput_per_gpu": "bench.output_tok_s_per_gpu",
}

// serverFlags are the fields of sglang's server_info that may leave the file:
// what decides decode speed. Anything else in it (keys, hosts, paths,
// environment) is read over.
var serverFlags = []string{
	"attention_backend", "chunked_prefill_size", "context_length", "cuda_graph_max_bs",
	"decode_attention_backend", "disable_cuda_graph", "disable_custom_all_reduce",
	"disable_overlap_schedule", "disable_radix_cache", "dp_size", "dtype",
	"enable_dp_attention", "enable_flashinfer_allreduce_fusion", "enable_mscclpp",
	"enable_torch_compile", "ep_size", "fp8_gemm_runner_backend", "kv_cache_dtype",
	"max_running_requests", "mem_fraction_static", "moe_a2a_backend", "moe_runner_backend",
	"nsa_decode_backend", "nsa_prefill_backend", "num_continuous_decode_steps",
	"page_size", "pp_size", "prefill_attention_backend", "quantization",
	"sampling_backend", "schedule_policy", "speculative_algorithm",
	"speculative_eagle_topk", "speculative_num_draft_tokens", "speculative_num_steps",
	"stream_interval", "tp_size",
}

// setting keeps a field as a fact if it is a known setting.
func (r *record) setting(key string, v value) {
	switch key {
	case "random_range_ratio":
		if x, ok := v.number(); ok && usable(x) {
			r.rangeRatio = &x
		}
	case "random_input_len":
		r.nominalIn = positive(v)
	case "random_output_len":
		r.nominalOut = positive(v)
	}
	if name, ok := settings[key]; ok {
		r.fact(name, v)
	}
}

// serverFlag keeps a field of server_info if it is on the list.
func (r *record) serverFlag(key string, v value) {
	switch key {
	case "version":
		r.fact("engine.version", v)
		return
	case "served_model_name", "model_path":
		if r.Model == "" {
			r.Model = modelName(v)
		}
		return
	}
	for _, known := range serverFlags {
		if key == known {
			r.fact("flag."+strings.ReplaceAll(key, "_", "-"), v)
			return
		}
	}
}

// fact keeps a setting; null and empty are "not stated".
func (r *record) fact(name string, v value) {
	text := ""
	switch v.kind {
	case isNumber:
		text = plain(v.num)
	case isString, isBool:
		text = cleaned(v.str)
		if x, ok := parseNumber(text); ok && name != "bench.date" && name != "bench.tag" {
			text = plain(x) // "1.0" and 1 are one setting
		}
	}
	if text == "" || text == "not set" || text == "NaN" {
		return
	}
	if r.Facts == nil {
		r.Facts = map[string]string{}
	}
	r.Facts[name] = text
}

// plain prints a number as short as it can be; an unlimited rate is "inf".
func plain(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	switch text {
	case "+Inf":
		return "inf"
	case "-Inf":
		return "-inf"
	}
	return text
}

// modelName is a model's name; of a path on somebody's disk only the last
// element is kept.
func modelName(v value) string {
	if v.kind != isString {
		return ""
	}
	name := strings.ReplaceAll(cleaned(v.str), `\`, "/")
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") ||
		len(name) > 1 && name[1] == ':' || strings.Count(name, "/") > 1 {
		name = path.Base(strings.TrimRight(name, "/"))
	}
	return name
}

// maxText bounds a text kept from a file, in runes.
const maxText = 200

// cleaned drops what cannot be printed and shortens long text.
func cleaned(s string) string {
	var b strings.Builder
	n := 0
	for _, c := range s {
		if !unicode.IsPrint(c) || c == unicode.ReplacementChar {
			continue
		}
		if n++; n > maxText {
			b.WriteString("…")
			break
		}
		b.WriteRune(c)
	}
	return strings.TrimSpace(b.String())
}
