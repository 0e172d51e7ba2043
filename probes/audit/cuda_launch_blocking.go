package audit

// CUDALaunchBlocking finds every kernel launch made to wait.
var CUDALaunchBlocking = Check{
	Name: "cuda-launch-blocking",
	Doc:  "CUDA_LAUNCH_BLOCKING=1: a debugging aid that makes launches synchronous",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		v, ok := f.Launch.EnvVar("CUDA_LAUNCH_BLOCKING")
		if !ok || v.Value == "0" || v.Value == "" {
			return nil
		}
		return []Finding{{
			Severity: High,
			Text:     v.setting().Text + ": the CPU waits for each kernel before it launches the next",
			Advice:   "unset it",
			Where:    f.Launch.at(v.setting()),
		}}
	},
}
