package audit

// NCCLFiles finds topology or graph files handed to NCCL.
var NCCLFiles = Check{
	Name: "nccl-files",
	Doc:  "NCCL_GRAPH_FILE and NCCL_TOPO_FILE: right for one machine and GPU count only",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil || l.single() {
			return nil
		}
		var found []Finding
		for _, name := range []string{"NCCL_GRAPH_FILE", "NCCL_TOPO_FILE"} {
			if v, ok := l.EnvVar(name); ok && v.Value != "" {
				found = append(found, Finding{Severity: Note, Where: l.at(v.setting()),
					Text:   name + " describes one machine with one number of GPUs; elsewhere NCCL runs out of memory or falls back (rtx6kpro)",
					Advice: "check that the file was made for this machine and this number of GPUs"})
			}
		}
		return found
	},
}
