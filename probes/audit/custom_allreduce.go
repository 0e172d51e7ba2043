package audit

// CustomAllReduce finds the engine's own all-reduce switched off.
var CustomAllReduce = Check{
	Name: "custom-allreduce",
	Doc:  "--disable-custom-all-reduce: small all-reduces go through NCCL",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || l.single() {
			return nil
		}
		x, on := l.on("disable-custom-all-reduce")
		if !on {
			return nil
		}
		found := Finding{
			Severity: Medium,
			Text:     x.setting().Text + " leaves the step's small all-reduces to NCCL",
			Advice:   "measure both: the better one depends on what lies between the GPUs",
			Where:    l.at(x.setting()),
			Cost:     "a one-shot all-reduce gave +5 to +11% on 4 PCIe GPUs of one node, -4 to -16% on 8 across two sockets (rtx6kpro)",
		}
		if tp, known := l.TP(); known && tp > 2 && f.Link == PCIe && l.engine == vllm {
			found.Severity = Note
			found.Text += "; vLLM does so by itself with more than two GPUs on PCIe (vllm-project/vllm#56128)"
		}
		return []Finding{found}
	},
}
