package audit

import "strings"

// Profiler finds a server that is traced, debugged or made to dump.
var Profiler = Check{
	Name: "profiler",
	Doc:  "a profiler or debugger around the server, injection and core-dump variables, tracing flags",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil {
			return nil
		}
		var found []Finding
		for _, name := range l.Wrappers {
			x := Finding{Severity: Medium, Where: l.start(), Advice: "measure without it",
				Text: "the server runs under " + name + ": what is measured holds its cost too"}
			switch name {
			case "numactl", "taskset":
				continue
			case "ncu", "compute-sanitizer", "valgrind", "gdb", "cuda-gdb", "strace", "ltrace":
				x.Severity = High
			}
			found = append(found, x)
		}
		for _, v := range l.Env {
			if v.Exported && !v.Unresolved && v.Value != "" && v.Value != "0" && intrudes(v.Name) {
				found = append(found, Finding{Severity: Medium, Where: l.at(v.setting()), Advice: "unset it while measuring",
					Text: v.Name + " is set: a tool is loaded into the process, or the GPU stops for core dumps"})
			}
		}
		for _, name := range []string{"enable-layerwise-nvtx-tracing", "enable-layerwise-nvtx-marker", "collect-detailed-traces", "ray-workers-use-nsight"} {
			if x, on := l.on(name); on {
				found = append(found, Finding{Severity: Medium, Where: l.at(x.setting()), Advice: "measure without it",
					Text: x.setting().Text + " adds work to every layer or step"})
			}
		}
		return found
	},
}

func intrudes(name string) bool {
	switch name {
	case "CUDA_INJECTION32_PATH", "CUDA_INJECTION64_PATH", "CUDA_PROFILE", "COMPUTE_PROFILE",
		"CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_COREDUMP_FILE", "CUDA_DEVICE_WAITS_ON_EXCEPTION":
		return true
	}
	return strings.HasPrefix(name, "NSYS_")
}
