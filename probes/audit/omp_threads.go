package audit

import "fmt"

// OMPThreads judges the CPU threads of each worker against the CPUs there are.
var OMPThreads = Check{
	Name: "omp-threads",
	Doc:  "OMP_NUM_THREADS unset, or too many threads for the CPUs the server may use",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || !l.python() {
			return nil
		}
		const cost = "\"TPOT very slow\", cured by this variable alone, no figure (vllm-project/vllm#9113)"
		v, ok := l.EnvVar("OMP_NUM_THREADS")
		if !ok {
			for _, e := range l.Env {
				if e.Name == "OMP_NUM_THREADS" && e.Exported {
					return nil // set to something unknown
				}
			}
			x := Finding{Severity: Low, Where: l.start(), Cost: cost,
				Text:   "OMP_NUM_THREADS is not set here: unless the environment sets it, each worker starts one thread per visible CPU, whatever its quota",
				Advice: "set it to the CPU quota divided by the number of workers"}
			if l.engine == vllm {
				x.Severity = Note
				x.Text = "OMP_NUM_THREADS is not set here; vLLM versions differ in whether they then take 1 thread or one per visible CPU"
			}
			return []Finding{x}
		}
		n, is := whole(v.Value)
		if !is {
			return nil
		}
		ranks, known := l.ranks()
		if !known {
			return []Finding{{Severity: Note, Where: l.at(v.setting()),
				Text: v.setting().Text + " for each worker", Advice: "check that all workers' threads fit the CPU quota"}}
		}
		x := Finding{Severity: Note, Where: l.at(v.setting()),
			Text: fmt.Sprintf("%s for each of %d workers makes up to %d threads", v.setting().Text, ranks, n*ranks)}
		switch {
		case f.CPUs == nil:
			x.Advice = "check that they fit the CPU quota (cpu.max, not the host's count)"
		case n*ranks > *f.CPUs:
			x.Severity, x.Cost = High, cost
			x.Text += fmt.Sprintf(", more than the %d CPUs it may use", *f.CPUs)
			x.Advice = fmt.Sprintf("set it to %d", max(1, *f.CPUs/ranks))
		default:
			return nil
		}
		return []Finding{x}
	},
}

// ranks is the number of GPU workers of the launch.
func (l *Launch) ranks() (int, bool) {
	n := 1
	for _, degree := range []func() (int, bool){l.TP, l.PP, l.DP} {
		d, known := degree()
		if !known {
			return 0, false
		}
		n *= d
	}
	return n, true
}
