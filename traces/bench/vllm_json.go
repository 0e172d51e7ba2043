package bench

import "io"

// VLLMJSON reads the result file of vllm bench serve.
var VLLMJSON = Importer{
	Name:  "vllm-json",
	Doc:   "vllm bench serve --save-result: one JSON object, or one per line with --append-result",
	Looks: "JSON with model_id, num_prompts, output_throughput and mean_tpot_ms",
	TPOT: "tpot: (latency − ttft) / (output tokens − 1) per request, in ms; the lists ttfts and itls are seconds. " +
		"itl: the gap between two SSE messages, whatever they hold",
	Sniff: func(head []byte) bool {
		keys := keysOf(head)
		return has(keys, "model_id", "tokenizer_id", "num_prompts") && !seconds(keys)
	},
	Read: func(in io.Reader) ([]Result, error) {
		return readObjects(in, func() *record { return &record{Result: Result{Tool: "vllm"}} },
			"output_throughput or latency fields such as mean_tpot_ms")
	},
}
