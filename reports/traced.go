package reports

import (
	"fmt"
	"math"
)

// Traced is what profiler traces of a point hold beyond the times that joined
// its components.
type Traced struct {
	Steps    []TracedStep `json:"steps"` // one a rank and device; the first explains the ledger
	Timeline *Timeline    `json:"timeline,omitempty"`
	Counters []CounterRow `json:"counters,omitempty"`
}

// CounterRow sets what a component's kernels moved, as hardware counters say,
// against the bytes that its floor counts. All bytes are of one step.
type CounterRow struct {
	Component    string   `json:"component"`
	Launches     int      `json:"launches"`                // that were profiled
	Coverage     float64  `json:"coverage"`                // share of the component's traced kernel time whose kernels have counters, 0 to 1
	ReadBytes    float64  `json:"read_bytes"`              // from DRAM, of the kernels that have counters
	WriteBytes   *float64 `json:"write_bytes,omitempty"`   // to DRAM; absent: not counted
	CountedBytes *float64 `json:"counted_bytes,omitempty"` // what the floor counts: weights and cache; absent where it counts none
	Ratio        *float64 `json:"ratio,omitempty"`         // counters over counted; absent where the counters cover too little of the component
}

// TracedStep is one device's median step: the exclusive times of its
// operations and its idle times add up to it.
type TracedStep struct {
	Rank       int                `json:"rank"`
	Device     int                `json:"device"`
	Name       string             `json:"name,omitempty"` // of the device
	Count      int                `json:"count"`          // steps that the median is of
	FoundBy    string             `json:"found_by"`       // annotation, graph, repetition, given
	Kind       string             `json:"kind,omitempty"` // decode, prefill, mixed, idle: where the step's mark says
	MedianMs   float64            `json:"median_ms"`
	IdleMs     map[string]float64 `json:"idle_ms"`
	IdleGaps   map[string]int     `json:"idle_gaps"` // how many of each kind
	Operations []TracedOperation  `json:"operations"`
}

// TracedOperation sums one kernel, copy or fill of one component in a step.
type TracedOperation struct {
	Component string  `json:"component"`
	Name      string  `json:"name"`
	Library   string  `json:"library,omitempty"`
	Count     int64   `json:"count"`
	Ms        float64 `json:"ms"` // exclusive: what it shares with others goes to one of them
}

// TracedShare is how far, relatively, the parts of a traced step may be from
// it: 0.1 %.
const TracedShare = 1e-3

func (t *Traced) check(at string) error {
	for i := range t.Steps {
		s := &t.Steps[i]
		at := fmt.Sprintf("%s.steps[%d]", at, i)
		var sum float64
		for k, o := range s.Operations {
			if o.Count < 0 || o.Ms < 0 {
				return fmt.Errorf("%s.operations[%d]: %d operations of %g ms, expected neither below 0", at, k, o.Count, o.Ms)
			}
			sum += o.Ms
		}
		for kind, ms := range s.IdleMs {
			if !(ms >= 0 && ms < math.MaxFloat64) {
				return fmt.Errorf("%s.idle_ms.%s: %g, expected a time of at least 0", at, OneLine(kind, 40), ms)
			}
			sum += ms
		}
		if s.MedianMs <= 0 || math.Abs(sum-s.MedianMs) > TracedShare*s.MedianMs {
			return disagree(at+".median_ms", s.MedianMs, sum, "the sum of its operations and idle times")
		}
	}
	if t.Timeline != nil {
		return t.Timeline.check(at + ".timeline")
	}
	return nil
}

// IdleKind is a kind of idle time of a traced step, with its name for people.
type IdleKind struct{ Kind, Name string }

// IdleKinds are all of them, in the order they are shown in.
var IdleKinds = []IdleKind{
	{"launch_bound", "launched late by the host"},
	{"sync_bound", "the host was waiting for the GPU"},
	{"graph_gap", "gaps inside a graph"},
	{"between_steps", "between steps"},
	{"unknown", "cause not known"},
}
