package audit

// NCCLCuMem finds NCCL kept from the allocator that P2P in containers has
// needed.
var NCCLCuMem = Check{
	Name: "nccl-cumem",
	Doc:  "NCCL_CUMEM_ENABLE=0, which has broken P2P in a container",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || l.single() {
			return nil
		}
		v, ok := l.EnvVar("NCCL_CUMEM_ENABLE")
		if !ok || v.Value != "0" {
			return nil
		}
		return []Finding{{
			Severity: Low,
			Text:     v.setting().Text + ": in one container P2P did not work until it was 1 (gardenlinux#4556); vLLM versions set 0 themselves for NVIDIA/nccl#1234",
			Advice:   "see in the log of NCCL_DEBUG=INFO whether the channels say P2P",
			Where:    l.at(v.setting()),
		}}
	},
}
