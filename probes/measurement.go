package probes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// How a case is timed.
const (
	blockTime     = 10 * time.Millisecond  // a block takes at least about this long
	mostRuns      = 1 << 14                // in one block
	leastBlocks   = 6                      // below which a median has no interval
	wantedBlocks  = 30                     // at least, where the budget allows
	mostBlocks    = 3000                   // at all
	wantedWidth   = 0.01                   // half the interval over the median
	leastWarm     = 300 * time.Millisecond // clocks rise, pages are touched
	mostWarm      = 5 * time.Second
	stationary    = 0.01 // medians of five blocks and the five before
	mostInvalid   = 0.20 // of the blocks
	mostDrift     = 0.02 // of the reference while a case runs
	noisyWidth    = 0.02 // of the interval, above which a number is called noisy
	harnessLimit  = 1.05 // of the ceiling
	canaryEvery   = 5    // blocks, where no pair is needed
	warmShare     = 4    // of the budget, the most that warming up may take
	invalidReason = 3    // reasons that are listed
)

// measurement is one case while it is timed.
type measurement struct {
	session  *Session
	subject  Subject
	c        Case
	ref      *reference
	deadline time.Time

	runs    int
	pairs   []pair
	windows []Moment      // that each began with
	clocks  []ClockWindow // of a GPU, as many as there are windows while it answers
	reads   []int         // of the reference's blocks, the first of each window
	reasons []string      // distinct evidence
}

// pair is one block of the case and, beside it, one of the reference.
type pair struct {
	seconds float64 // of one run
	share   float64 // of the ceiling, NaN where there is none
	canary  float64 // B/s of the reference, NaN where it did not run
	window  int
	invalid bool
}

// paired says whether each block has one of the reference beside it.
func (m *measurement) paired() bool { return m.ref != nil && m.c.Bytes > 0 }

// take times one block, and the reference where it is due.
func (m *measurement) take(ctx context.Context, canary bool) (pair, error) {
	p := pair{share: math.NaN(), canary: math.NaN()}
	var err error
	if p.seconds, err = timed(ctx, m.subject, m.runs); err != nil {
		return p, err
	}
	if m.ref == nil || !m.paired() && !canary {
		return p, nil
	}
	seconds, err := m.ref.block(ctx)
	if err != nil {
		return p, err
	}
	p.canary = float64(m.ref.c.Bytes) / seconds
	if m.paired() {
		p.share = float64(m.c.Bytes) / p.seconds / p.canary
	}
	return p, nil
}

// run warms up and takes pairs, A B A B, until the interval of the median is
// narrow enough or the time is over.
func (m *measurement) run(ctx context.Context) error {
	var err error
	if m.runs, err = runsFor(ctx, m.subject); err != nil {
		return err
	}
	if err := m.warm(ctx); err != nil {
		return err
	}
	for {
		if err := m.window(ctx); err != nil {
			return err
		}
		values := m.values()
		now := m.session.Clock()
		if len(values) >= wantedBlocks && Summarize(values).HalfWidth() <= wantedWidth || len(m.pairs) >= mostBlocks || now.Add(window).After(m.deadline) && len(m.pairs) >= leastBlocks {
			m.slowWindows()
			return nil
		}
	}
}

// window takes pairs for as long as outside evidence needs, and judges them.
func (m *measurement) window(ctx context.Context) error {
	s := m.session
	begin := s.Clock()
	var before Moment
	if s.Watch != nil {
		before = s.Watch.Now(begin)
	}
	m.windows = append(m.windows, before)
	looks := s.GPU.begin(s.Clock())
	first := len(m.pairs)
	for len(m.pairs) == first || s.Clock().Sub(begin) < window {
		p, err := m.take(ctx, len(m.pairs)%canaryEvery == 0)
		if err != nil {
			return err
		}
		p.window = len(m.windows) - 1
		m.pairs = append(m.pairs, p)
		s.GPU.look(looks, s.Clock())
	}
	evidence := s.GPU.end(looks, s.Clock(), len(m.pairs)-first)
	if s.Watch != nil {
		after := s.Watch.Now(s.Clock())
		evidence = append(evidence, s.Watch.Between(before, after)...)
		m.windows[len(m.windows)-1].clock = after.clock
	}
	looks.moment(&m.windows[len(m.windows)-1])
	m.keep(looks)
	if m.ref != nil {
		m.reads = append(m.reads, len(m.ref.blocks))
	}
	for i := first; i < len(m.pairs); i++ {
		m.pairs[i].invalid = len(evidence) > 0
		if c := m.pairs[i].canary; !math.IsNaN(c) {
			m.ref.blocks = append(m.ref.blocks, refBlock{c, len(evidence) == 0})
		}
	}
	m.reasons = append(m.reasons, evidence...)
	return nil
}

// keep keeps what a GPU did in the window that was just taken.
func (m *measurement) keep(looks *ClockWindow) {
	if looks != nil {
		looks.Window = len(m.windows) - 1
		m.clocks = append(m.clocks, *looks)
	}
}

// slowWindows marks the pairs of windows in which a clock was low.
func (m *measurement) slowWindows() {
	for _, c := range clocks {
		for _, i := range slowClock(m.windows, c.of) {
			m.reasons = append(m.reasons, c.text)
			for j := range m.pairs {
				if m.pairs[j].window == i {
					m.pairs[j].invalid = true
				}
			}
			m.doubtReads(i)
		}
	}
	for i := range m.clocks {
		for _, p := range m.pairs {
			if p.window == m.clocks[i].Window && p.invalid {
				m.clocks[i].Invalid++
			}
		}
	}
}

// doubtReads marks the reference's blocks of a window too.
func (m *measurement) doubtReads(window int) {
	if m.ref == nil {
		return
	}
	end := len(m.ref.blocks)
	if window+1 < len(m.reads) {
		end = m.reads[window+1]
	}
	for i := m.reads[window]; i < end; i++ {
		m.ref.blocks[i].valid = false
	}
}

// warm runs until the medians of five blocks and of the five before agree, for
// at least 0.3 s, and at most 5 s or a quarter of the time there is.
func (m *measurement) warm(ctx context.Context) error {
	begin := m.session.Clock()
	most := min(mostWarm, m.deadline.Sub(begin)/warmShare)
	var values []float64
	for {
		p, err := m.take(ctx, len(values)%canaryEvery == 0)
		if err != nil {
			return err
		}
		v := p.seconds
		if m.paired() {
			v = p.share
		}
		values = append(values, v)
		spent := m.session.Clock().Sub(begin)
		if n := len(values); n >= 10 && spent >= leastWarm && math.Abs(median(values[n-5:])/median(values[n-10:n-5])-1) <= stationary {
			return nil
		}
		if spent >= max(most, leastWarm) {
			return nil
		}
	}
}

// values are those that the verdict is about, of the valid pairs.
func (m *measurement) values() []float64 {
	var out []float64
	for _, p := range m.pairs {
		switch {
		case p.invalid:
		case m.paired():
			out = append(out, p.share)
		default:
			out = append(out, p.seconds)
		}
	}
	return out
}

// fill writes the numbers and the verdict; a result no memory can give is an
// error.
func (m *measurement) fill(r *Result) error {
	r.Blocks, r.Runs, r.Verdict, r.Clocks = len(m.pairs), m.runs, Good, m.clocks
	valid := 0
	for _, p := range m.pairs {
		if p.invalid {
			r.Invalid++
		} else {
			valid++
		}
	}
	worse := func(v Verdict, format string, args ...any) {
		if r.Verdict == Good || v == Unreliable {
			r.Verdict = v
		}
		r.Doubts = append(r.Doubts, fmt.Sprintf(format, args...))
	}
	if float64(r.Invalid) > mostInvalid*float64(len(m.pairs)) {
		worse(Unreliable, "outside evidence against %d of %d blocks", r.Invalid, len(m.pairs))
	}
	keep := func(p pair) bool { return !p.invalid || valid < leastBlocks }
	r.KeptInvalid = valid < leastBlocks && r.Invalid > 0
	if valid < leastBlocks {
		worse(Unreliable, "%d valid blocks are too few for an interval", valid)
	}
	r.Doubts = append(r.Doubts, distinct(m.reasons)...)
	var seconds, shares, canary []float64
	for _, p := range m.pairs {
		if !keep(p) {
			continue
		}
		seconds = append(seconds, p.seconds)
		if m.paired() {
			shares = append(shares, p.share)
		}
		if !math.IsNaN(p.canary) {
			canary = append(canary, p.canary)
		}
	}
	r.Time, r.Share = Summarize(seconds), Summarize(shares)
	judged := r.Time
	if r.Share != nil {
		judged = r.Share
		read := 1 - float64(m.c.Written)/float64(m.c.Bytes)
		if err := plausible(r.Share, read, r.Verdict == Unreliable, worse); err != nil {
			return err
		}
	}
	if w := judged.HalfWidth(); w > noisyWidth && !math.IsInf(w, 0) {
		worse(Noisy, "the interval is ±%.1f %% wide", 100*w)
	}
	if d := drift(canary); d > mostDrift {
		worse(Noisy, "the read ceiling moved by %.0f %% meanwhile", 100*d)
	}
	return nil
}

// plausible refuses a share of which the part that is read certainly lies above
// the ceiling, and doubts one of which it seems to, or of which nothing is
// certain. What is written goes its own way to memory: few cores that copy move
// more bytes than they can read.
func plausible(share *Summary, read float64, unreliable bool, worse func(Verdict, string, ...any)) error {
	const why = "more bytes than the memory delivers: operands were still cached, or the byte count is wrong"
	switch {
	case share.Median*read <= harnessLimit:
	case !unreliable && share.Lo != nil && *share.Lo*read > harnessLimit:
		return fmt.Errorf("%.0f %% of the read ceiling: %s", 100*share.Median*read, why)
	default:
		worse(Unreliable, "%.0f %% of the read ceiling: %s", 100*share.Median*read, why)
	}
	return nil
}

// distinct keeps one reason of each kind, which stands before its colon.
func distinct(reasons []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, r := range reasons {
		kind, _, _ := strings.Cut(r, ":")
		if !seen[kind] && len(out) < invalidReason {
			seen[kind] = true
			out = append(out, r)
		}
	}
	return out
}

// errTime is a kernel's time that cannot be one.
var errTime = errors.New("the kernel returned a time that is none")

// timed is the mean time of n runs in one block.
func timed(ctx context.Context, s Subject, n int) (float64, error) {
	times, err := s.Time(ctx, n)
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, t := range times {
		sum += t
	}
	if len(times) != n || !(sum > 0) || math.IsInf(sum, 0) {
		return 0, fmt.Errorf("%w: %g s for %d runs, %d asked for", errTime, sum, len(times), n)
	}
	return sum / float64(n), nil
}

// runsFor is how many runs make a block: by the second try, since the first
// touches its pages.
func runsFor(ctx context.Context, s Subject) (int, error) {
	n := 1
	for range 3 {
		t, err := timed(ctx, s, n)
		if err != nil {
			return 0, err
		}
		want := int(min(math.Ceil(blockTime.Seconds()/t), mostRuns))
		if want <= 2*n {
			return max(want, 1), nil
		}
		n = want
	}
	return n, nil
}
