package audit

// ROCmAITER finds AMD's kernels switched off.
var ROCmAITER = Check{
	Name: "rocm-aiter",
	Doc:  "VLLM_ROCM_USE_AITER=0 on AMD GPUs",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		v, ok := f.Launch.EnvVar("VLLM_ROCM_USE_AITER")
		if !ok || !isFalse(v.Value) {
			return nil
		}
		return []Finding{{
			Severity: Medium,
			Text:     v.setting().Text + " keeps vLLM on AMD from AITER's kernels",
			Advice:   "set 1 on AMD GPUs that AITER supports, and measure",
			Where:    f.Launch.at(v.setting()),
			Cost:     "+5.6 to +10.8% (InferenceX#1808), +107% at TP 4 (InferenceX#1531)",
		}}
	},
}
