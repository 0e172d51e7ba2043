package probes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"decodegap/roofline"
)

// Session runs probes one after another within a budget. Its zero value with a
// Host is not ready: use NewSession.
type Session struct {
	Host   Host
	Budget time.Duration
	Clock  func() time.Time
	Watch  *Watch    // nil: no outside evidence is looked for
	GPU    *GPUWatch // nil: a GPU's clocks and heat are not looked at

	// Sleep waits before the first probe while the machine is watched; nil
	// leaves that look out.
	Sleep func(context.Context, time.Duration)

	// Continues says that this goes on where another session was lost: the read
	// ceiling is wanted even if no case is left.
	Continues bool

	// Progress is told of each case before it starts; nil for silence.
	Progress func(Progress)

	// Each is told of each result when its case is over; nil for silence.
	Each func(Result)
}

// Progress is where a session stands.
type Progress struct {
	Done, Total int
	Probe, Case string
	Left        time.Duration
}

// NewSession is a session on this machine.
func NewSession(host Host, budget time.Duration) *Session {
	return &Session{
		Host: host, Budget: budget, Clock: time.Now,
		Watch: &Watch{Root: rootFS(), CPUs: affinity(), Self: os.Getpid(), Usage: ownUsage},
		Sleep: func(ctx context.Context, d time.Duration) {
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
		},
	}
}

// leastCase is the time below which no case is begun.
const leastCase = time.Second

// mostTimed is the longest that a case is timed, after its operands are ready,
// when its share of the budget is over: about a hundred pairs. A few pairs of
// many cases would say less than a hundred of the first case of each probe.
const mostTimed = 2 * time.Second

// least is how long each case may at least be timed: half of the budget goes
// round the first case of every probe.
func (s *Session) least(probes int) time.Duration {
	return min(mostTimed, s.Budget/time.Duration(2*max(probes, 1)))
}

// leastPair is the time below which the reference is timed against itself, not
// against a second copy that must be prepared first.
const leastPair = 4 * time.Second

// job is one case to run.
type job struct {
	probe Probe
	c     Case
}

// Run times every case of the chosen probes that the budget allows, the first
// case of each before the second of any. The reference, the first of all that
// provides the read ceiling, is timed beside every one of them, and against a
// second copy of itself for the noise floor. A cancelled context ends the run
// and keeps what is done. All chosen probes are in all.
func (s *Session) Run(ctx context.Context, all, chosen []Probe) *Run {
	begin := s.Clock()
	deadline := begin.Add(s.Budget)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection inside a sample
	run := &Run{}
	s.preflight(ctx, run)
	jobs, absent := s.plan(chosen)
	var ref *reference
	if len(jobs) > 0 || s.Continues { // else there is nothing to time beside it
		ref = s.reference(ctx, all, run)
	}
	if ref != nil {
		defer ref.subject.Close()
		jobs = ref.first(jobs)
	}
	least := s.least(len(chosen))
	var over time.Duration // the most that a case took beyond its share: operands to fill, results to check
	for i, j := range jobs {
		left := deadline.Sub(s.Clock())
		if ctx.Err() != nil || i > 0 && left < leastCase+over {
			for _, rest := range jobs[i:] {
				run.Undone = append(run.Undone, rest.probe.Name+" "+rest.c.Name)
			}
			break
		}
		if s.Progress != nil {
			s.Progress(Progress{Done: i, Total: len(jobs), Probe: j.probe.Name, Case: j.c.Name, Left: left})
		}
		share := max(left/time.Duration(len(jobs)-i), leastCase)
		result := s.one(ctx, j, ref, share, least)
		over = max(over, result.Took-share)
		if ctx.Err() != nil {
			run.Undone = append(run.Undone, j.probe.Name+" "+j.c.Name)
			continue
		}
		run.Results = append(run.Results, result)
		if s.Each != nil {
			s.Each(result)
		}
		if ref != nil && ref.is(j) && result.Outcome == Measured && result.Share != nil {
			run.Noise = noiseOf(result.Share)
		}
		runtime.GC()
	}
	run.Results = append(run.Results, absent...)
	run.Interrupted = ctx.Err() != nil
	ref.ceiling(run)
	s.gpuClocks(run)
	run.Took = s.Clock().Sub(begin)
	return run
}

// preflight watches the machine for a moment before anything of ours runs.
func (s *Session) preflight(ctx context.Context, run *Run) {
	if s.Watch == nil || s.Sleep == nil {
		return
	}
	before := s.Watch.Now(s.Clock())
	s.Sleep(ctx, window)
	for _, e := range s.Watch.Between(before, s.Watch.Now(s.Clock())) {
		run.Notes = append(run.Notes, "before the first probe: "+e)
	}
}

// gpuClocks sums up what the GPU did while blocks were taken.
func (s *Session) gpuClocks(run *Run) {
	var all []ClockWindow
	for _, r := range run.Results {
		all = append(all, r.Clocks...)
	}
	run.MemoryMHz, run.PState = memoryClock(all)
	if err := s.GPU.Gone(); err != nil {
		run.Notes = append(run.Notes, fmt.Sprintf("telemetry ended during the run: %v; the windows after that have no clock record", err))
	}
}

// plan lists the cases round by round, and the probes that cannot run at all
// as results.
func (s *Session) plan(chosen []Probe) (jobs []job, absent []Result) {
	var plans [][]job
	most := 0
	for _, p := range chosen {
		if err := check(p, s.Host); err != nil {
			absent = append(absent, Result{Probe: p.Name, Outcome: outcomeOf(err), Reason: err.Error()})
			continue
		}
		var plan []job
		for _, c := range p.Plan(s.Host) {
			plan = append(plan, job{p, c})
		}
		plans = append(plans, plan)
		most = max(most, len(plan))
	}
	for round := range most {
		for _, plan := range plans {
			if round < len(plan) {
				jobs = append(jobs, plan[round])
			}
		}
	}
	return jobs, absent
}

func check(p Probe, h Host) error {
	if p.Check == nil {
		return nil
	}
	return p.Check(h)
}

func outcomeOf(err error) Outcome {
	if errors.Is(err, ErrUnsupported) {
		return Unsupported
	}
	return Failed
}

// one prepares, times and checks one case within a budget, and times it for
// that long, if that is needed, also where preparing took the budget.
func (s *Session) one(ctx context.Context, j job, ref *reference, budget, least time.Duration) Result {
	begin := s.Clock()
	r := Result{Probe: j.probe.Name, Case: j.c}
	fail := func(err error) Result {
		r = Result{Probe: j.probe.Name, Case: j.c, Outcome: outcomeOf(err), Reason: err.Error(), Took: s.Clock().Sub(begin)}
		return r
	}
	var subject Subject
	if ref != nil && ref.is(j) && budget < leastPair {
		subject = ref.subject // no time for a second copy
	} else {
		var err error
		if subject, err = j.probe.Prepare(ctx, s.Host, j.c); err != nil {
			return fail(err)
		}
		defer subject.Close()
	}
	deadline := begin.Add(budget)
	if d := s.Clock().Add(least); d.After(deadline) {
		deadline = d
	}
	m := &measurement{session: s, subject: subject, c: j.c, ref: ref, deadline: deadline}
	if err := m.run(ctx); err != nil {
		return fail(err)
	}
	checked, err := subject.Verify()
	if err != nil {
		return fail(fmt.Errorf("the result could not be checked: %w", err))
	}
	if !checked.OK() {
		return fail(fmt.Errorf("the result is wrong: relative L2 distance %.3g from float64 over %d values, allowed %.3g", checked.RelativeL2, checked.Values, checked.Bound))
	}
	r.Outcome, r.Kernel, r.Checked = Measured, subject.Kernel(), checked
	if err := m.fill(&r); err != nil {
		return fail(err)
	}
	r.Parts = parts(subject, r.Time.Median)
	r.Took = s.Clock().Sub(begin)
	return r
}

// noiseOf is how far the median of an A/A pair's ratios may lie from 1.
func noiseOf(share *Summary) *float64 {
	if share.Lo == nil {
		return nil
	}
	n := max(*share.Hi-1, 1-*share.Lo)
	return &n
}

// reference finds and prepares the read ceiling's probe.
func (s *Session) reference(ctx context.Context, all []Probe, run *Run) *reference {
	for _, p := range all {
		if len(p.Provides) == 0 || p.Provides[0] != roofline.DRAMRead {
			continue
		}
		err := check(p, s.Host)
		var cases []Case
		if err == nil {
			cases = p.Plan(s.Host)
		}
		if err == nil && len(cases) == 0 {
			err = fmt.Errorf("it plans no case here: %w", ErrUnsupported)
		}
		var subject Subject
		if err == nil {
			subject, err = p.Prepare(ctx, s.Host, cases[0])
		}
		if err != nil {
			run.Notes = append(run.Notes, fmt.Sprintf("no read ceiling, no shares of it: %s: %v", p.Name, err))
			return nil
		}
		return &reference{probe: p, c: cases[0], subject: subject}
	}
	run.Notes = append(run.Notes, "no read ceiling, no shares of it: no probe of this device measures one")
	return nil
}
