package cuda

import (
	"time"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// Request is what a child is to do: one line of JSON on its standard input.
type Request struct {
	Library string        `json:"library,omitempty"` // the driver's; "" for the system's
	Device  int           `json:"device"`
	Probes  []string      `json:"probes"` // names, none for none
	Done    []Done        `json:"done,omitempty"`
	Budget  time.Duration `json:"budget_ns"`
	Memory  unit.Bytes    `json:"memory_bytes,omitempty"` // for operands; 0 for what is free

	// Deadline is that of every wait for the GPU; 0 for five seconds.
	Deadline time.Duration `json:"deadline_ns,omitempty"`

	// Blind leaves telemetry out and says why: an earlier child did not survive
	// the question.
	Blind string `json:"blind,omitempty"`

	// Hang names a probe whose kernel never ends, for tests of the deadline.
	Hang string `json:"hang,omitempty"`
}

// Done is a case that an earlier child has ended, well or not.
type Done struct {
	Probe string `json:"probe"`
	Case  string `json:"case"`
}

// Line is one line of JSON on a child's standard output: one of its fields, or
// none of them, which says that the child lives.
type Line struct {
	GPU      *probes.GPU      `json:"gpu,omitempty"`
	Progress *probes.Progress `json:"progress,omitempty"`
	Result   *probes.Result   `json:"result,omitempty"`
	Lost     bool             `json:"lost,omitempty"`    // with a result: the child can use the GPU no more
	Run      *probes.Run      `json:"run,omitempty"`     // the end, without the results
	Stage    Stage            `json:"stage,omitempty"`   // of what comes before the GPU's line
	Error    string           `json:"error,omitempty"`   // instead of all else
	Missing  bool             `json:"missing,omitempty"` // with an error: the machine lacks something
}

// Stage is what a child does before it has the GPU.
type Stage string

// The stages, in their order.
const (
	stageTelemetry Stage = "telemetry"
	stageOpen      Stage = "open"
)

// How often a child says that it lives, and how long its silence is borne.
const (
	beat    = 2 * time.Second
	silence = 30 * time.Second
)
