package probes

import (
	"decodegap/roofline/hardware"
	"decodegap/roofline/unit"
)

// GPU is what probes may ask of the graphics processor of a session.
type GPU struct {
	Name           string     `json:"name"` // as the driver has it
	Index          int        `json:"index"`
	Major          int        `json:"major"` // compute capability
	Minor          int        `json:"minor"`
	SMs            int        `json:"sms"` // multiprocessors
	L2             unit.Bytes `json:"l2_bytes"`
	Memory         unit.Bytes `json:"memory_bytes"`
	Free           unit.Bytes `json:"free_bytes"`             // when it was opened
	SharedPerSM    int        `json:"shared_per_sm_bytes"`    // shared memory of one multiprocessor
	SharedPerBlock int        `json:"shared_per_block_bytes"` // the most that one block may ask for
	Peers          int        `json:"peers,omitempty"`        // GPUs besides this one that the driver shows
	Driver         string     `json:"driver_cuda,omitempty"`  // CUDA version of the driver, "13.0"

	// Reported is what the driver's management library says of it, before the
	// first probe; nil without telemetry, and NoTelemetry says why.
	Reported    *hardware.GPU `json:"reported,omitempty"`
	NoTelemetry string        `json:"no_telemetry,omitempty"`
	Notes       []string      `json:"notes,omitempty"` // what was found before the first probe

	// Handle is the back end's own: what its probes run on. Nil in a host that
	// is only described.
	Handle any `json:"-"`
}
