package audit

import "strings"

// NCCLDebug finds debugging of collectives left on.
var NCCLDebug = Check{
	Name: "nccl-debug",
	Doc:  "NCCL_DEBUG=TRACE, TORCH_DISTRIBUTED_DEBUG, blocking waits",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil {
			return nil
		}
		var found []Finding
		add := func(name string, bad func(string) bool, what string) {
			if v, ok := l.EnvVar(name); ok && bad(strings.ToUpper(v.Value)) {
				found = append(found, Finding{Severity: Medium, Where: l.at(v.setting()),
					Text: v.setting().Text + ": " + what, Advice: "unset it in production and while measuring"})
			}
		}
		is := func(want ...string) func(string) bool {
			return func(s string) bool {
				for _, w := range want {
					if s == w {
						return true
					}
				}
				return false
			}
		}
		add("NCCL_DEBUG", is("TRACE"), "NCCL logs every call")
		add("TORCH_DISTRIBUTED_DEBUG", is("DETAIL", "INFO"), "PyTorch checks and logs collectives")
		for _, name := range []string{"NCCL_BLOCKING_WAIT", "TORCH_NCCL_BLOCKING_WAIT"} {
			add(name, is("1", "TRUE", "ON", "Y", "YES"), "the CPU waits for each collective that PyTorch starts")
		}
		return found
	},
}
