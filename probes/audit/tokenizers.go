package audit

// TokenizersParallelism notes the tokenizer's own thread pool left to itself.
var TokenizersParallelism = Check{
	Name: "tokenizers-parallelism",
	Doc:  "TOKENIZERS_PARALLELISM and RAYON_NUM_THREADS unset",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || !l.python() {
			return nil
		}
		for _, v := range l.Env {
			if v.Exported && (v.Name == "TOKENIZERS_PARALLELISM" || v.Name == "RAYON_NUM_THREADS") {
				return nil
			}
		}
		return []Finding{{
			Severity: Note,
			Text:     "TOKENIZERS_PARALLELISM is not set here: the tokenizer may start one thread per visible CPU, which hurts under a small CPU quota only",
			Where:    l.start(),
		}}
	},
}
