package audit

import "fmt"

// ExpertParallel finds experts spread over PCIe.
var ExpertParallel = Check{
	Name: "expert-parallel",
	Doc:  "expert parallelism on GPUs without NVLink",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || f.Link == NVLink {
			return nil
		}
		ep, known := l.EP()
		if !known || ep < 2 {
			return nil
		}
		x := Finding{Severity: Note, Where: l.start(),
			Text:   fmt.Sprintf("experts are spread over %d ranks: tokens travel between GPUs twice a layer, which NVLink is made for and PCIe is not", ep),
			Advice: "on PCIe measure it against tensor parallelism alone"}
		for _, name := range []string{"ep-size", "moe-a2a-backend", "enable-expert-parallel", "moe-expert-parallel-size", "enable-ep-moe", "enable-deepep-moe"} {
			if flag, ok := l.Flag(name); ok {
				x.Where = l.at(flag.setting())
				break
			}
		}
		if f.Link == PCIe {
			x.Severity = Medium
			x.Text = fmt.Sprintf("experts are spread over %d ranks and the GPUs have PCIe only; reported to cost batch throughput there, without a figure (rtx6kpro)", ep)
		}
		return []Finding{x}
	},
}
