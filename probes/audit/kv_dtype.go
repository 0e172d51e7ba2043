package audit

import "decodegap/roofline"

// KVDType notes a cache format chosen by hand: its kernel decides, not its size.
var KVDType = Check{
	Name: "kv-dtype",
	Doc:  "a cache number format other than the engine's choice",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil {
			return nil
		}
		x, ok := l.Flag("kv-cache-dtype", "cache-type-k")
		if !ok || x.Unresolved {
			return nil
		}
		switch x.Value {
		case "", "auto", "bf16", "bfloat16", "f16", "fp16", "float16", "f32":
			return nil // what a cache has without it
		}
		cost := ""
		if d, known := l.KVDType(); known && d == roofline.FP8 {
			cost = "16 against 90 tok/s where FP8 had no fast kernel (rtx6kpro, Kimi-K2.5 on 8 RTX PRO 6000)"
		}
		return []Finding{{
			Severity: Note,
			Text:     x.setting().Text + ": a smaller cache reads faster only if this GPU has a fast attention kernel for it",
			Advice:   "measure it against the default at the context that is served",
			Where:    l.at(x.setting()),
			Cost:     cost,
		}}
	},
}
