package probes

import (
	"time"

	"decodegap/roofline"
)

// Outcome is how a case ended.
type Outcome string

// The outcomes.
const (
	Measured    Outcome = "measured"
	Unsupported Outcome = "unsupported" // with the reason: not a failure
	Failed      Outcome = "failed"      // with the reason: no number
)

// Verdict says how far a measured number may be relied on.
type Verdict string

// The verdicts, best first.
const (
	Good       Verdict = "good"
	Noisy      Verdict = "noisy"      // valid, but wide or beside a moving ceiling
	Unreliable Verdict = "unreliable" // outside evidence speaks against too many samples, or there are too few
)

// Result is one case that was tried. Only a measured one has numbers.
type Result struct {
	Probe   string
	Case    Case
	Outcome Outcome
	Reason  string // why it is unsupported or failed

	Kernel  string
	Verdict Verdict
	Doubts  []string // why the verdict is no better, most telling first

	Time    *Summary      // seconds of one run, one value a block
	Share   *Summary      // of the read ceiling measured beside it, one value a pair; nil where bytes mean nothing
	Blocks  int           // taken, the invalid ones included
	Invalid int           // of them, by outside evidence
	Clocks  []ClockWindow // of a GPU, in the order of the blocks; none without telemetry
	// KeptInvalid says that the values are of all blocks, the invalid ones
	// included, since too few others are left.
	KeptInvalid bool
	Runs        int                            // in one block
	Parts       map[roofline.Component]float64 // seconds of a step's components, adding up to the median; nil for other probes
	Checked     Correctness
	Took        time.Duration // preparation and check included
}

// Run is what a session measured.
type Run struct {
	Results []Result

	// Read is the read ceiling in B/s, one value a block over the whole run;
	// nil without a reference. ReadKernel says what read.
	Read        *Summary
	ReadVerdict Verdict
	ReadProbe   string
	ReadKernel  string
	ReadDoubts  []string

	// Noise is how far two preparations of the reference differed in this
	// run: the half-width that a difference must exceed to mean anything. Nil
	// where the pair was not measured.
	Noise *float64

	// MemoryMHz and PState are a GPU's usual memory clock and P-state while
	// blocks were taken; nil without telemetry.
	MemoryMHz *uint32
	PState    *int

	Undone      []string // cases the budget or an interrupt left, "cpu/read M=1"
	Interrupted bool
	Notes       []string // about the machine before the first probe
	Took        time.Duration
}

// Ceilings are what a floor may take from a run: the read bandwidth, and of
// each other resource that a probe provides the best case.
func (r *Run) Ceilings(all []Probe) []Ceiling {
	var out []Ceiling
	if r.Read != nil {
		out = append(out, Ceiling{Resource: roofline.DRAMRead, Unit: "B/s", Value: r.Read, Verdict: r.ReadVerdict,
			By: r.ReadProbe, Kernel: r.ReadKernel})
	}
	for _, p := range all {
		for _, resource := range p.Provides {
			if resource == roofline.DRAMRead {
				continue
			}
			if c, ok := r.best(p, resource); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// Ceiling is one resource's rate or latency as probed.
type Ceiling struct {
	Resource   roofline.Resource
	Unit       string // B/s, FLOP/s, s
	Value      *Summary
	Verdict    Verdict
	By, Kernel string
}

// best is the ceiling of a resource from the best case of a probe: the most
// operations a second, or the shortest time. A reliable case stands before an
// unreliable one.
func (r *Run) best(p Probe, resource roofline.Resource) (Ceiling, bool) {
	var best Ceiling
	found := false
	for _, one := range r.Results {
		if one.Probe != p.Name || one.Outcome != Measured {
			continue
		}
		c := Ceiling{Resource: resource, Verdict: one.Verdict, By: p.Name + " " + one.Case.Name, Kernel: one.Kernel}
		switch {
		case rated(resource):
			if one.Case.FLOPs <= 0 {
				continue
			}
			c.Unit, c.Value = "FLOP/s", reciprocals(one.Time.Values, float64(one.Case.FLOPs))
		default:
			c.Unit, c.Value = "s", one.Time
		}
		better := !found || c.Verdict != Unreliable && best.Verdict == Unreliable
		if found && (c.Verdict == Unreliable) == (best.Verdict == Unreliable) {
			better = c.Value.Median > best.Value.Median == rated(resource)
		}
		if better {
			best, found = c, true
		}
	}
	return best, found
}

// rated says whether a resource is a rate of operations, not a time.
func rated(r roofline.Resource) bool {
	switch r {
	case roofline.TensorFP4, roofline.TensorFP8, roofline.TensorINT8, roofline.TensorBF16, roofline.TensorFP16:
		return true
	}
	return false
}

// reciprocals summarizes amount ÷ seconds.
func reciprocals(seconds []float64, amount float64) *Summary {
	rates := make([]float64, len(seconds))
	for i, s := range seconds {
		rates[i] = amount / s
	}
	return Summarize(rates)
}
