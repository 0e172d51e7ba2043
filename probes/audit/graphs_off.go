package audit

// GraphsOff finds CUDA graphs switched off for decode.
var GraphsOff = Check{
	Name: "graphs-off",
	Doc:  "CUDA graphs switched off for decode, by flag, compilation setting or variable",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		s, off := f.Launch.GraphsDisabled()
		if !off {
			return nil
		}
		x := Finding{
			Severity: High,
			Text:     "CUDA graphs are off (" + s.Text + "): the CPU launches every kernel of a decode step one by one",
			Advice:   "take it out; if capture fails on this model or GPU, capture few batch sizes first and look at which kernel refuses",
			Where:    f.Launch.at(s),
			Cost:     graphsCost,
		}
		if f.Launch.engine == llamacpp {
			// Its CPU side is C++: what Python engines lose says nothing here.
			x.Severity, x.Cost = Medium, ""
			x.Advice = "unset it and measure"
		}
		return []Finding{x}
	},
}

// graphsCost is what others measured a step, on two models.
const graphsCost = "23 to 13 ms, 20 to 5.4 ms with graphs (vllm-omni#7960)"
