package audit

import "strconv"

// NCCLP2PLevel explains how far apart GPUs may be to copy directly.
var NCCLP2PLevel = Check{
	Name: "nccl-p2p-level",
	Doc:  "NCCL_P2P_LEVEL: old numbers, unknown words, levels that forbid P2P on these links",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || l.single() {
			return nil
		}
		v, ok := l.EnvVar("NCCL_P2P_LEVEL")
		if !ok || v.Value == "" {
			return nil
		}
		x := Finding{Where: l.at(v.setting()), Severity: Note}
		level, number := p2pLevel(v.Value)
		x.Text = v.setting().Text
		if number {
			x.Text += " is the old numbering for " + level
			x.Advice = "write NCCL_P2P_LEVEL=" + level + ": the number says something else to every reader"
		}
		switch level {
		case "SYS":
			x.Text += ": P2P is allowed at any distance, across CPU sockets too. It allows a path and speeds up none"
			x.Cost = "+3.6% at one stream against NCCL's own choice, none with a one-shot all-reduce (rtx6kpro)"
		case "LOC":
			x.Severity = High
			x.Text += ": P2P is never used and every all-reduce goes through host memory"
			x.Advice = "unset it for latency at few streams"
			x.Cost = p2pCost
		case "NVL":
			x.Text += ": P2P is used over NVLink only"
			if f.Link == PCIe {
				x.Severity = High
				x.Text += ", and these GPUs have PCIe: every all-reduce goes through host memory"
				x.Advice = "unset it for latency at few streams"
				x.Cost = p2pCost
			}
		case "PIX", "PXB", "PHB":
			x.Text += ": GPUs further apart than that copy through host memory"
			if x.Advice != "" {
				x.Advice += "; "
			}
			x.Advice += "compare it with the distances of `nvidia-smi topo -m`"
			if f.Link == PCIe {
				x.Severity = Low
			}
		case "":
			x.Severity = Low
			x.Text += " is not a level NCCL knows: it is ignored"
			x.Advice = "one of LOC, NVL, PIX, PXB, PHB, SYS, or unset it"
		default:
			return nil // levels inside one socket that newer versions add
		}
		return []Finding{x}
	},
}

// p2pLevel is the level a value means to NCCL (nccl src/graph/paths.cc,
// levelsOldToNew: 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and above SYS); empty if it
// means none. Words are matched in upper case only.
func p2pLevel(value string) (level string, number bool) {
	switch value {
	case "LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PXN", "P2C", "PHB", "SYS":
		return value, false
	}
	if value == "" || !isDigit(value[0]) {
		return "", false
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return "", false
	}
	old := []string{"LOC", "PIX", "PXB", "PHB", "SYS", "SYS"}
	return old[min(n, len(old)-1)], true
}
