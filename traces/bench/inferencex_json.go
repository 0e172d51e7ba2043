package bench

import "io"

// InferenceXJSON reads the two JSON forms of InferenceX: vLLM's result with
// its latencies divided by 1000, and the aggregate made of it.
var InferenceXJSON = Importer{
	Name:  "inferencex-json",
	Doc:   "InferenceX: vLLM JSON with latencies in seconds, or its aggregate",
	Looks: "JSON with median_tpot or median_ttft and no _ms",
	TPOT: "tpot: as vLLM, but keys without _ms are seconds; intvty is 1000/tpot and is left out. " +
		"itl: per streamed chunk, and recipes stream every 60 to 100 tokens",
	Sniff: func(head []byte) bool {
		keys := keysOf(head)
		return seconds(keys) && has(keys, "model_id", "tokenizer_id", "num_prompts", "hw", "conc", "framework", "tput_per_gpu")
	},
	Read: func(in io.Reader) ([]Result, error) {
		return readObjects(in, startInferenceX, "output_throughput or latency fields such as median_tpot")
	},
}

func startInferenceX() *record {
	return &record{Result: Result{Tool: "vllm", Facts: map[string]string{"bench.dialect": "inferencex"}}, seconds: true}
}

// seconds says whether latency keys stand without their unit, which in this
// dialect means seconds. A file with both spellings is not of it.
func seconds(keys map[string]bool) bool {
	bare := false
	for _, stat := range []string{"mean", "median", "p99"} {
		for _, metric := range []string{"tpot", "ttft", "itl", "e2el"} {
			if keys[stat+"_"+metric+"_ms"] {
				return false
			}
			bare = bare || keys[stat+"_"+metric]
		}
	}
	return bare
}
