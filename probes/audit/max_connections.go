package audit

// MaxConnections finds a training recipe's one hardware queue.
var MaxConnections = Check{
	Name: "cuda-max-connections",
	Doc:  "CUDA_DEVICE_MAX_CONNECTIONS=1, a training recipe",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		v, ok := f.Launch.EnvVar("CUDA_DEVICE_MAX_CONNECTIONS")
		if !ok || v.Value != "1" {
			return nil
		}
		return []Finding{{
			Severity: Low,
			Text:     v.setting().Text + ": all streams share one hardware queue, as some training recipes want",
			Advice:   "unset it; published serving recipes use 32",
			Where:    f.Launch.at(v.setting()),
		}}
	},
}
