package reports

// method says what each number of a report means; nothing in it depends on the
// record.
func method() []Block {
	return []Block{
		List{Items: []Item{
			{Tag: "efficiency", Text: "η = floor ÷ measured TPOT, 0 < η ≤ 1. The headline ratio divides the layout floor at sheet ceilings; every other ratio names its floor and its ceilings. η > 1 means that measurement and floor do not describe the same step."},
			{Tag: "TPOT", Text: "time per output token of one request: (time of the last token − time of the first) ÷ (output tokens − 1), in ms. ITL is the gap between two streamed chunks, which may hold several tokens. Output tok/s of a benchmark counts prefill and waiting too."},
			{Tag: "floor", Text: "time no step can beat: Σ over dependent stages of max(bytes ÷ bandwidth, FLOP ÷ peak), plus communication and launches where the kind counts them; per emitted token: the step's time ÷ accepted tokens."},
			{Tag: "ideal", Text: "every byte read once and split evenly over all GPUs, no latency."},
			{Tag: "layout", Text: "what this engine's sharding makes the busiest GPU read: replicated matrices count on each."},
			{Tag: "latency", Text: "layout, plus the latency of each collective and of each launch on the critical path."},
			{Tag: "ceilings", Text: "the rate of one resource: sheet, as published; given, by the user; probed, as this machine reached it just now."},
			{Tag: "attainable", Text: "the highest floor at probed ceilings, and the attainable step: a whole decode step of the model, really run here from our own kernels with random weights of the same shapes and formats."},
			{Tag: "ledger", Text: "floor + Σ rungs = measured, to 1 μs. A rung needs evidence; what has none is unattributed, signed and always shown. Lo to hi is the range its evidence allows, where it states one."},
			{Tag: "levers", Text: "at most what the ledger lets a change win back; “not bounded yet” where nothing in the record limits it."},
			{Tag: "experts", Text: "a step of T tokens reads D = E · (1 − (1 − k ÷ E)^T) of E experts, k a token, if routing is uniform; a measured D replaces it."},
			{Tag: "change", Text: "Δ = (B ÷ A − 1) · 100 %. A crossover is interpolated over the logarithm of concurrency."},
			{Tag: "units", Text: "1 GB = 10^9 bytes; 1 ms = 1000 μs; FLOP counts a multiply-add as two. “–” stands for what the record does not hold, never for 0."},
		}},
		Paragraph("Symbols: ≤ η μ – Δ Σ × ÷ −"),
	}
}
