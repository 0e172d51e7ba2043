package audit

// ContinuousDecode notes a setting that is taken for a speed-up of the step.
var ContinuousDecode = Check{
	Name: "continuous-decode",
	Doc:  "SGLang's --num-continuous-decode-steps above 1",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		x, ok := f.Launch.Flag("num-continuous-decode-steps")
		n, is := whole(x.Value)
		if !ok || x.Unresolved || !is || n < 2 {
			return nil
		}
		return []Finding{{
			Severity: Note,
			Text: x.setting().Text + ": where it works, requests wait for that many steps to be let in, so TTFT grows and ITL under load bunches; " +
				"no step gets shorter. Versions since the overlap scheduler accept it without using it (sgl-project/sglang#23131)",
			Advice: "take it out of runs that are compared, and read TPOT rather than ITL",
			Where:  f.Launch.at(x.setting()),
		}}
	},
}
