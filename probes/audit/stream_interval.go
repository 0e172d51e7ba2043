package audit

// StreamInterval notes several tokens in one streamed message.
var StreamInterval = Check{
	Name: "stream-interval",
	Doc:  "--stream-interval above 1: the gap between messages is not a time per token",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		x, ok := f.Launch.Flag("stream-interval")
		n, is := whole(x.Value)
		if !ok || x.Unresolved || !is || n < 2 {
			return nil
		}
		return []Finding{{
			Severity: Note,
			Text:     x.setting().Text + ": messages carry several tokens, so ITL as most tools count it is per message",
			Advice:   "read TPOT, (E2E - TTFT) / (tokens - 1), and ITL for its shape only",
			Where:    f.Launch.at(x.setting()),
		}}
	},
}
