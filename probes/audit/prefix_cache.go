package audit

// PrefixCache notes that prompts are computed anew.
var PrefixCache = Check{
	Name: "prefix-cache",
	Doc:  "prefix caching switched off: it changes TTFT, not the decode step",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		for _, name := range []string{"disable-radix-cache", "no-enable-prefix-caching", "no-cache-prompt"} {
			if x, on := f.Launch.on(name); on {
				return []Finding{{
					Severity: Note,
					Text:     x.setting().Text + ": every prompt is computed whole, which fits a benchmark and costs TTFT in service; the decode step does not change",
					Where:    f.Launch.at(x.setting()),
				}}
			}
		}
		return nil
	},
}
