package audit

import "fmt"

// Speculating notes whether a step emits more than one token a sequence.
var Speculating = Check{
	Name: "speculation",
	Doc:  "speculative decoding on or off: what a time per token is divided by",
	Run: func(f *Facts) []Finding {
		if f.Launch == nil {
			return nil
		}
		s, known := f.Launch.Speculation()
		if !known {
			return nil
		}
		if s.Method == "" {
			return []Finding{{
				Severity: Note,
				Text:     "no speculation: a step emits one token a sequence",
				Advice:   "if the checkpoint has an MTP layer, or a draft model exists, measure with it and on real prompts",
				Where:    f.Launch.start(),
				Cost:     "51 to 95 tok/s at one stream with MTP (rtx6kpro, GLM-5 NVFP4 on 8 RTX PRO 6000)",
			}}
		}
		text := "speculation is on (" + s.Method
		if s.DraftTokens != nil {
			text += fmt.Sprintf(", %d drafts a step", *s.DraftTokens)
		}
		return []Finding{{
			Severity: Note,
			Text:     text + "): TPOT is per emitted token, and a floor needs the acceptance length",
			Advice:   "note the acceptance length of the run; on random prompts it is low, and below about 1.5 tokens drafts may cost more than they save (sgl-project/sglang#4759)",
			Where:    f.Launch.at(s.Setting),
		}}
	},
}
