package audit

import "fmt"

// ContextParallel judges how the ranks share the cache of models whose latent
// cannot be split by heads.
var ContextParallel = Check{
	Name: "context-parallel",
	Doc:  "decode context parallelism against the length of the context, for MLA models",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil {
			return nil
		}
		dcp, known := l.DCP()
		if !known {
			return nil
		}
		x := Finding{Severity: Note, Where: l.start()}
		for _, name := range []string{"dcp-size", "decode-context-parallel-size"} {
			if flag, ok := l.Flag(name); ok {
				x.Where = l.at(flag.setting())
			}
		}
		const long = 64 << 10 // tokens; below it the extra exchange was never seen to pay
		tp, split := l.TP()
		switch {
		case dcp > 1:
			x.Text = fmt.Sprintf("%d ranks share each sequence's cache: less to read at long contexts, an exchange more in every layer at all of them", dcp)
			if f.Context != nil && *f.Context < long {
				x.Advice = "measure 1 at this context"
			}
			x.Cost = "39.6, 33.2, 34.0 and 27.0 tok/s with 1, 2, 4 and 8 at an empty context (rtx6kpro#25)"
		case f.MLA != nil && *f.MLA && f.Context != nil && *f.Context >= long && split && tp > 1:
			x.Severity = Medium
			x.Text = fmt.Sprintf("every rank reads the whole latent cache of a context of %d tokens", *f.Context)
			x.Advice = "try decode context parallelism"
			x.Cost = "6-7 against 28-35 tok/s at 150K tokens (rtx6kpro)"
		default:
			return nil
		}
		return []Finding{x}
	},
}
