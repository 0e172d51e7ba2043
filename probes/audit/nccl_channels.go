package audit

// NCCLChannels finds the number of NCCL channels forced.
var NCCLChannels = Check{
	Name: "nccl-channels",
	Doc:  "NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS and their CTA forms",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || l.single() {
			return nil
		}
		var found []Finding
		for _, name := range []string{"NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS"} {
			if v, ok := l.EnvVar(name); ok {
				found = append(found, Finding{Severity: Low, Where: l.at(v.setting()),
					Text:   v.setting().Text + ": more channels raise the bandwidth of large all-reduces, as in prefill; a decode step's are bound by latency",
					Advice: "keep it for prefill; look for the step's time elsewhere",
					Cost:   "22.2 to 37.6 GB/s for large all-reduces; later no change of TTFT with 8 forced (rtx6kpro)"})
			}
		}
		for _, name := range []string{"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"} {
			if v, ok := l.EnvVar(name); ok && (v.Value == "1" || v.Value == "2") {
				found = append(found, Finding{Severity: Medium, Where: l.at(v.setting()),
					Text:   v.setting().Text + " keeps NCCL to very few channels",
					Advice: "unset it"})
			}
		}
		return found
	},
}
