package audit

// GraphsBackend finds choices that make an engine run eagerly without saying
// so in a flag.
var GraphsBackend = Check{
	Name: "graphs-backend",
	Doc:  "SGLang attention backends that switch CUDA graphs off by themselves",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || l.engine != sglang {
			return nil
		}
		if _, off := l.GraphsDisabled(); off {
			return nil // said already
		}
		// sglang srt/server_args.py: both turn disable_cuda_graph on.
		b, ok := l.Flag("attention-backend")
		if !ok || b.Value != "torch_native" && b.Value != "flex_attention" {
			return nil
		}
		return []Finding{{
			Severity: High,
			Text:     "SGLang switches CUDA graphs off with " + b.setting().Text + " and says so only in its log",
			Advice:   "choose an attention backend that is captured",
			Where:    l.at(b.setting()),
			Cost:     graphsCost,
		}}
	},
}
