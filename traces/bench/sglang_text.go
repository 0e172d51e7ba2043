package bench

import "bytes"

// SGLangText reads what sglang.bench_serving prints.
var SGLangText = Importer{
	Name:  "sglang-text",
	Doc:   "sglang.bench_serving console output, all spellings since 2024",
	Looks: "text with “Serving Benchmark Result” and “Backend:”",
	TPOT:  "as sglang-jsonl; versions of mid 2025 print no TPOT, so that its mean must be derived",
	Sniff: func(head []byte) bool {
		if !isText(head) || !bytes.Contains(head, []byte(textMark)) {
			return false
		}
		lower := bytes.ToLower(head)
		for _, label := range onlySGLang {
			if bytes.Contains(lower, []byte("\n"+label+":")) {
				return true
			}
		}
		return false
	},
	Read: readServingText,
}
