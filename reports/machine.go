package reports

import "decodegap/roofline/hardware"

// Machine is what the machine at hand has, of `list hardware`: what the system
// and the NVIDIA driver say, and what the catalogue knows of the GPUs.
type Machine struct {
	Host        ProbedHost   `json:"host"`
	GPUs        []MachineGPU `json:"gpus"`
	WithoutGPUs string       `json:"without_gpus,omitempty"` // why there are none to list

	DriverVersion string   `json:"driver_version,omitempty"`
	CUDAVersion   string   `json:"cuda_version,omitempty"`  // newest the driver serves
	FarthestPath  string   `json:"farthest_path,omitempty"` // between two of the GPUs: PIX, PXB, PHB, NODE, SYS
	PeerToPeer    string   `json:"peer_to_peer,omitempty"`  // ok, or why two of the GPUs do not reach each other's memory
	Warnings      []string `json:"warnings,omitempty"`      // what the driver failed to report
}

// MachineGPU is one GPU as its driver reports it, and its entry of the
// catalogue.
type MachineGPU struct {
	hardware.GPU
	Catalogue      string   `json:"catalogue,omitempty"`        // the entry's name
	WithoutEntry   string   `json:"without_entry,omitempty"`    // why there is none
	SheetGBs       *float64 `json:"sheet_gbs,omitempty"`        // the entry's memory bandwidth, the higher end of a range
	RunningPeakGBs *float64 `json:"running_peak_gbs,omitempty"` // highest memory clock × 2 × bus width / 8
}
