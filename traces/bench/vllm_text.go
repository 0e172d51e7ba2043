package bench

import "bytes"

// VLLMText reads what vllm bench serve prints.
var VLLMText = Importer{
	Name:  "vllm-text",
	Doc:   "vllm bench serve console output",
	Looks: "text with “Serving Benchmark Result” and “Mean TPOT (ms):”",
	TPOT:  "as vllm-json, in ms",
	Sniff: func(head []byte) bool {
		return isText(head) && bytes.Contains(head, []byte(textMark))
	},
	Read: readServingText,
}
