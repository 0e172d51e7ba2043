package probes

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// reference is the read kernel that runs beside every case.
type reference struct {
	probe   Probe
	c       Case
	subject Subject
	runs    int // in one block, 0 until the first

	blocks []refBlock
}

// refBlock is one block of the reference: the rate it read at, and whether
// anything outside spoke against it.
type refBlock struct {
	rate  float64 // B/s
	valid bool
}

// is says whether a job is the reference's own case: its pair is an A/A pair.
func (r *reference) is(j job) bool { return j.probe.Name == r.probe.Name && j.c.Name == r.c.Name }

// first puts the A/A pair before all other jobs.
func (r *reference) first(jobs []job) []job {
	rest := slices.DeleteFunc(slices.Clone(jobs), r.is)
	return append([]job{{r.probe, r.c}}, rest...)
}

// block times the reference once and returns the seconds of one run.
func (r *reference) block(ctx context.Context) (float64, error) {
	if r.runs == 0 {
		n, err := runsFor(ctx, r.subject)
		if err != nil {
			return 0, fmt.Errorf("the read ceiling: %w", err)
		}
		r.runs = n
	}
	t, err := timed(ctx, r.subject, r.runs)
	if err != nil {
		return 0, fmt.Errorf("the read ceiling: %w", err)
	}
	return t, nil
}

// ceiling sums the reference's blocks up for the run: the valid ones, or all
// of them, marked, where most are not.
func (r *reference) ceiling(run *Run) {
	if r == nil || len(r.blocks) == 0 {
		return
	}
	checked, err := r.subject.Verify()
	if err != nil || !checked.OK() {
		run.Notes = append(run.Notes, fmt.Sprintf("no read ceiling: %s read wrong values (relative L2 %.3g, allowed %.3g)", r.probe.Name, checked.RelativeL2, checked.Bound))
		return
	}
	var all, valid []float64
	for _, b := range r.blocks {
		all = append(all, b.rate)
		if b.valid {
			valid = append(valid, b.rate)
		}
	}
	run.ReadProbe, run.ReadKernel, run.ReadVerdict = r.probe.Name, r.subject.Kernel(), Good
	if bad := len(all) - len(valid); float64(bad) > mostInvalid*float64(len(all)) || len(valid) < leastBlocks {
		run.ReadVerdict = Unreliable
		run.ReadDoubts = append(run.ReadDoubts, fmt.Sprintf("outside evidence against %d of %d blocks", bad, len(all)))
	}
	if len(valid) < leastBlocks {
		valid = all
	}
	run.Read = Summarize(valid)
	if d := drift(valid); d > mostDrift && run.ReadVerdict == Good {
		run.ReadVerdict = Noisy
		run.ReadDoubts = append(run.ReadDoubts, fmt.Sprintf("it moved by %.0f %% during the run", 100*d))
	}
}

// drift is how far the median of a third of values lies from that of all, at
// most; 0 of too few.
func drift(values []float64) float64 {
	if len(values) < 9 {
		return 0
	}
	all := median(values)
	third := len(values) / 3
	var most float64
	for i := range 3 {
		most = max(most, math.Abs(median(values[i*third:(i+1)*third])/all-1))
	}
	return most
}
