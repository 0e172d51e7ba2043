package audit

import "strings"

// CPUOffload finds weights or cache kept in host memory.
var CPUOffload = Check{
	Name: "cpu-offload",
	Doc:  "weights, layers or cache placed in host memory",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil {
			return nil
		}
		var found []Finding
		add := func(x Flag, what string) {
			found = append(found, Finding{
				Severity: High,
				Text:     what + " (" + x.setting().Text + "): each step reads it over PCIe or computes it on the CPU",
				Advice:   "fit it on the GPUs: a smaller weight or cache format, a shorter context, another GPU",
				Where:    l.at(x.setting()),
				Cost:     "10 against 25 tok/s and more with all of it on the GPU (ollama#11688)",
			})
		}
		if x, ok := l.Flag("cpu-offload-gb"); ok && !x.Unresolved && !zero(x.Value) {
			add(x, "weights are kept in host memory")
		}
		if l.engine != llamacpp {
			return found
		}
		if x, on := l.on("cpu-moe"); on {
			add(x, "the experts of every layer are kept on the CPU")
		}
		if x, ok := l.Flag("n-cpu-moe"); ok && !x.Unresolved && !zero(x.Value) {
			add(x, "the experts of some layers are kept on the CPU")
		}
		if x, ok := l.Flag("override-tensor"); ok && strings.Contains(x.Value, "=CPU") {
			add(x, "tensors are kept on the CPU")
		}
		if x, ok := l.Flag("n-gpu-layers"); ok && x.Value == "0" {
			add(x, "no layer is on a GPU")
		}
		if x, on := l.on("no-kv-offload"); on {
			add(x, "the cache is kept on the CPU")
		}
		return found
	},
}

func zero(text string) bool { return strings.Trim(text, "0.") == "" }
