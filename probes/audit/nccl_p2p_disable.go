package audit

// NCCLP2PDisable finds direct copies between GPUs forbidden.
var NCCLP2PDisable = Check{
	Name: "nccl-p2p-disable",
	Doc:  "NCCL_P2P_DISABLE=1: all-reduces go through host memory",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || l.single() {
			return nil
		}
		v, ok := l.EnvVar("NCCL_P2P_DISABLE")
		if !ok || v.Value != "1" {
			return nil
		}
		return []Finding{{
			Severity: High,
			Text:     "NCCL_P2P_DISABLE=1 sends every all-reduce of the step through host memory; some take it over from a recipe for other hardware (sgl-project/sglang#29580)",
			Advice:   "unset it for latency at few streams; where throughput at many streams counts, measure both",
			Where:    l.at(v.setting()),
			Cost:     p2pCost,
		}}
	},
}

const p2pCost = "90 to 70 and 65 to 44 tok/s at one stream; at 100 requests the other way, 5000 to 10000 tok/s (rtx6kpro, 8 RTX PRO 6000)"
