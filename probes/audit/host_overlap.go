package audit

// HostOverlap finds the scheduler made to wait for the GPU.
var HostOverlap = Check{
	Name: "host-overlap",
	Doc:  "overlap of CPU scheduling with the GPU's step switched off",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil {
			return nil
		}
		for _, name := range []string{"disable-overlap-schedule", "no-async-scheduling"} {
			if x, on := l.on(name); on {
				return []Finding{{
					Severity: Low,
					Text:     x.setting().Text + ": the CPU schedules the next step only after the GPU ends this one, and the GPU idles meanwhile",
					Advice:   "take it out unless a feature in use needs it; a trace shows the gap between steps",
					Where:    l.at(x.setting()),
				}}
			}
		}
		return nil
	},
}
