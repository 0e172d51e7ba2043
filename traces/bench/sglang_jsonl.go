package bench

import "io"

// SGLangJSONL reads what sglang.bench_serving appends to its output file.
var SGLangJSONL = Importer{
	Name:  "sglang-jsonl",
	Doc:   "sglang.bench_serving --output-file: one JSON object per line",
	Looks: "JSON with backend, max_concurrency, random_range_ratio and mean_tpot_ms",
	TPOT: "tpot: (latency − ttft) / (output_len − 1) per request, in ms; requests of one token are dropped. " +
		"itl: pooled gaps; per token from the native endpoint, per SSE chunk from OpenAI ones",
	Sniff: func(head []byte) bool {
		keys := keysOf(head)
		return keys["backend"] && !has(keys, "model_id", "tokenizer_id", "num_prompts") &&
			has(keys, "dataset_name", "random_range_ratio", "sharegpt_output_len", "random_input_len",
				"total_output_tokens_retokenized", "output_throughput", "mean_tpot_ms", "median_ttft_ms")
	},
	Read: func(in io.Reader) ([]Result, error) {
		// A short-lived version wrote latencies without _ms; they are
		// milliseconds all the same.
		return readObjects(in, func() *record { return &record{Result: Result{Tool: "sglang"}} },
			"output_throughput or latency fields such as mean_tpot_ms on a line")
	},
}
