package probes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// bench is a machine made of script: a clock that only subjects move, and
// counters that stand still unless load is set.
type bench struct {
	now  time.Time
	rng  *rand.Rand
	load float64 // CPUs' worth of time that others use
	rate float64 // B/s that memory reads at
	own  time.Duration
	busy time.Duration
}

func newBench() *bench {
	return &bench{now: time.Unix(1000, 0), rng: rand.New(rand.NewPCG(1, 1)), rate: 20e9}
}

func (b *bench) pass(seconds float64) {
	d := time.Duration(seconds * 1e9)
	b.now = b.now.Add(d)
	b.own += d
	b.busy += d + time.Duration(b.load*float64(d))
}

func (b *bench) session(budget time.Duration) *Session {
	return &Session{
		Host: Host{Threads: 2, CPUs: []int{0, 1}}, Budget: budget, Clock: func() time.Time { return b.now },
		Watch: &Watch{Root: statOf{b}, CPUs: []int{0, 1}, Usage: func() (Usage, bool) { return Usage{CPU: b.own}, true }},
	}
}

// kernel is a subject whose runs take the time that memory needs for its bytes,
// times slow.
type kernel struct {
	bench   *bench
	bytes   float64
	fixed   float64 // s, besides
	slow    float64 // of the time, 1 for a kernel as fast as reading
	noise   float64
	wrong   bool
	broken  error // of Time
	closed  *int
	started func()
}

func (k *kernel) Time(ctx context.Context, n int) ([]float64, error) {
	if k.started != nil {
		k.started()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if k.broken != nil {
		return nil, k.broken
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = (k.bytes/k.bench.rate*k.slow + k.fixed) * (1 + k.noise*(2*k.bench.rng.Float64()-1))
		k.bench.pass(out[i])
	}
	return out, nil
}

func (k *kernel) Verify() (Correctness, error) {
	c := Correctness{RelativeL2: 1e-6, Bound: 1e-4, Values: 64}
	if k.wrong {
		c.RelativeL2 = 0.5
	}
	return c, nil
}

func (k *kernel) Kernel() string { return "scripted" }
func (k *kernel) Close() {
	if k.closed != nil {
		*k.closed++
	}
}

// probe makes a probe of one case out of a kernel.
func probe(name string, bytes float64, make func() *kernel) Probe {
	return Probe{Name: name,
		Plan: func(Host) []Case { return []Case{{Name: "one", Bytes: unit.Bytes(bytes)}} },
		Prepare: func(context.Context, Host, Case) (Subject, error) {
			return make(), nil
		}}
}

func (b *bench) read() Probe {
	p := probe("cpu/read", 1e6, func() *kernel { return &kernel{bench: b, bytes: 1e6, slow: 1, noise: 0.02} })
	p.Provides = []roofline.Resource{roofline.DRAMRead}
	return p
}

func (b *bench) gemv(slow float64) Probe {
	return probe("cpu/gemv", 4e6, func() *kernel { return &kernel{bench: b, bytes: 4e6, slow: slow, noise: 0.02} })
}

func find(t *testing.T, run *Run, name string) Result {
	t.Helper()
	for _, r := range run.Results {
		if r.Probe == name {
			return r
		}
	}
	t.Fatalf("no result of %s in %+v", name, run.Results)
	return Result{}
}

func near(got, want, by float64) bool { return math.Abs(got/want-1) <= by }

func TestSession(t *testing.T) {
	b := newBench()
	router := probe("cpu/router", 0, func() *kernel { return &kernel{bench: b, fixed: 4e-6, noise: 0.01} })
	router.Provides = []roofline.Resource{roofline.GraphNode}
	all := []Probe{b.read(), b.gemv(1.25), router}
	run := b.session(time.Minute).Run(t.Context(), all, all)
	gemv, r, aa := find(t, run, "cpu/gemv"), find(t, run, "cpu/router"), find(t, run, "cpu/read")
	if gemv.Verdict != Good || !near(gemv.Share.Median, 0.8, 0.01) || !near(gemv.Time.Median, 4e6/20e9*1.25, 0.01) || gemv.Invalid != 0 {
		t.Errorf("gemv: %s %v, share %g, time %g", gemv.Verdict, gemv.Doubts, gemv.Share.Median, gemv.Time.Median)
	}
	if gemv.Blocks < wantedBlocks || gemv.Runs < 30 || len(gemv.Time.Values) != gemv.Blocks || gemv.Share.HalfWidth() > wantedWidth {
		t.Errorf("gemv: %d blocks of %d runs, half-width %g", gemv.Blocks, gemv.Runs, gemv.Share.HalfWidth())
	}
	if r.Share != nil || !near(r.Time.Median, 4e-6, 0.01) || r.Verdict != Good {
		t.Errorf("router: %+v", r)
	}
	if !near(aa.Share.Median, 1, 0.01) || run.Noise == nil || *run.Noise > 0.01 {
		t.Errorf("A/A: share %g, noise %v", aa.Share.Median, run.Noise)
	}
	if run.Read == nil || !near(run.Read.Median, 20e9, 0.01) || run.ReadVerdict != Good || run.Took > 30*time.Second {
		t.Errorf("read %+v %s %v, took %s", run.Read, run.ReadVerdict, run.ReadDoubts, run.Took)
	}
	ceilings := run.Ceilings(all)
	if len(ceilings) != 2 || ceilings[0].Resource != roofline.DRAMRead || ceilings[1].Unit != "s" || !near(ceilings[1].Value.Median, 4e-6, 0.01) {
		t.Errorf("ceilings %+v", ceilings)
	}
}

// TestShareHoldsWhereTheMachineMoves: memory that slows down to a third moves
// the times, not the share, and the result says that the ceiling moved.
func TestShareHoldsWhereTheMachineMoves(t *testing.T) {
	b := newBench()
	p := b.gemv(1.25)
	prepare := p.Prepare
	p.Prepare = func(ctx context.Context, h Host, c Case) (Subject, error) {
		s, err := prepare(ctx, h, c)
		n := 0
		s.(*kernel).started = func() {
			if n++; n > 30 {
				b.rate = 20e9 / (1 + float64(n-30)/50)
			}
		}
		s.(*kernel).noise = 0.3
		return s, err
	}
	all := []Probe{b.read(), p}
	r := find(t, b.session(30*time.Second).Run(t.Context(), all, all), "cpu/gemv")
	if !near(r.Share.Median, 0.8, 0.05) || r.Verdict != Noisy || !strings.Contains(strings.Join(r.Doubts, ";"), "the read ceiling moved") {
		t.Errorf("share %g, %s: %v", r.Share.Median, r.Verdict, r.Doubts)
	}
}

// TestLoad: under load the numbers are there, and marked.
func TestLoad(t *testing.T) {
	b := newBench()
	b.load = 0.5
	all := []Probe{b.read(), b.gemv(1.25)}
	s := b.session(20 * time.Second)
	s.Sleep = func(_ context.Context, d time.Duration) { b.pass(d.Seconds()) }
	run := s.Run(t.Context(), all, all)
	r := find(t, run, "cpu/gemv")
	if r.Outcome != Measured || r.Verdict != Unreliable || r.Invalid != r.Blocks || r.Time == nil || r.Share == nil {
		t.Errorf("gemv: %+v", r)
	}
	if text := strings.Join(r.Doubts, ";"); !strings.Contains(text, "load: other processes took 0.5") {
		t.Errorf("doubts %q", text)
	}
	if run.Read == nil || run.ReadVerdict != Unreliable {
		t.Errorf("read %+v %s", run.Read, run.ReadVerdict)
	}
	if len(run.Notes) != 1 || !strings.Contains(run.Notes[0], "before the first probe: load") {
		t.Errorf("notes %q", run.Notes)
	}
}

// TestLoadForAWhile: samples go for outside evidence only, are counted, and a
// few of them leave the rest good.
func TestLoadForAWhile(t *testing.T) {
	b := newBench()
	p := b.gemv(1.25)
	prepare := p.Prepare
	p.Prepare = func(ctx context.Context, h Host, c Case) (Subject, error) {
		s, err := prepare(ctx, h, c)
		s.(*kernel).noise = 0.99
		n := 0
		s.(*kernel).started = func() {
			n++
			b.load = 0
			if n > 60 && n < 75 {
				b.load = 1
			}
		}
		return s, err
	}
	all := []Probe{b.read(), p}
	r := find(t, b.session(8*time.Second).Run(t.Context(), all, all), "cpu/gemv")
	if r.Invalid == 0 || r.Invalid > r.Blocks/5 || r.Verdict == Unreliable || len(r.Time.Values) != r.Blocks-r.Invalid {
		t.Errorf("%d of %d blocks invalid, %s, %d values", r.Invalid, r.Blocks, r.Verdict, len(r.Time.Values))
	}
}

func TestOutcomes(t *testing.T) {
	b := newBench()
	absent := probe("cpu/amx", 0, nil)
	absent.Check = func(Host) error { return fmt.Errorf("no AMX: %w", ErrUnsupported) }
	large := probe("cpu/large", 1, nil)
	large.Prepare = func(context.Context, Host, Case) (Subject, error) {
		return nil, fmt.Errorf("too little memory: %w", ErrUnsupported)
	}
	wrong := probe("cpu/wrong", 4e6, func() *kernel { return &kernel{bench: b, bytes: 4e6, slow: 1.2, wrong: true} })
	crash := probe("cpu/crash", 4e6, func() *kernel { return &kernel{bench: b, broken: errors.New("thread gone")} })
	hot := probe("cpu/hot", 4e6, func() *kernel { return &kernel{bench: b, bytes: 4e6, slow: 0.8, noise: 0.01} })
	frozen := probe("cpu/frozen", 4e6, func() *kernel { return &kernel{bench: b} })
	all := []Probe{b.read(), absent, large, wrong, crash, hot, frozen}
	run := b.session(time.Minute).Run(t.Context(), all, all)
	for name, want := range map[string]struct {
		outcome Outcome
		reason  string
	}{
		"cpu/amx":    {Unsupported, "no AMX: not supported here"},
		"cpu/large":  {Unsupported, "too little memory: not supported here"},
		"cpu/wrong":  {Failed, "the result is wrong: relative L2 distance 0.5"},
		"cpu/crash":  {Failed, "thread gone"},
		"cpu/hot":    {Failed, "125 % of the read ceiling: more bytes than the memory delivers"},
		"cpu/frozen": {Failed, "a time that is none"},
	} {
		r := find(t, run, name)
		if r.Outcome != want.outcome || !strings.Contains(r.Reason, want.reason) || r.Time != nil || r.Share != nil {
			t.Errorf("%s: %s %q, want %s %q", name, r.Outcome, r.Reason, want.outcome, want.reason)
		}
	}
}

// TestWritten: a copy may move more bytes than can be read, as long as it does
// not read more.
func TestWritten(t *testing.T) {
	b := newBench()
	moves := func(name string, slow float64) Probe {
		p := probe(name, 4e6, func() *kernel { return &kernel{bench: b, bytes: 4e6, slow: slow, noise: 0.01} })
		p.Plan = func(Host) []Case { return []Case{{Name: "one", Bytes: 4e6, Written: 2e6}} }
		return p
	}
	all := []Probe{b.read(), moves("cpu/copy", 0.7), moves("cpu/hot", 0.4)}
	run := b.session(time.Minute).Run(t.Context(), all, all)
	if r := find(t, run, "cpu/copy"); r.Outcome != Measured || r.Share == nil || r.Share.Median < 1.4 {
		t.Errorf("%s %s, share %+v", r.Outcome, r.Reason, r.Share)
	}
	if r := find(t, run, "cpu/hot"); r.Outcome != Failed || !strings.Contains(r.Reason, "125 % of the read ceiling") {
		t.Errorf("%s %s", r.Outcome, r.Reason)
	}
}

// TestWithoutReference: no read ceiling, no shares, and a note that says so.
func TestWithoutReference(t *testing.T) {
	b := newBench()
	read := b.read()
	read.Check = func(Host) error { return fmt.Errorf("no kernel: %w", ErrUnsupported) }
	all := []Probe{read, b.gemv(1)}
	run := b.session(10*time.Second).Run(t.Context(), all, all)
	if r := find(t, run, "cpu/gemv"); r.Outcome != Measured || r.Share != nil || r.Time == nil {
		t.Errorf("%+v", r)
	}
	if run.Read != nil || run.Noise != nil || len(run.Notes) != 1 || !strings.Contains(run.Notes[0], "no kernel") || len(run.Ceilings(all)) != 0 {
		t.Errorf("read %v, notes %q", run.Read, run.Notes)
	}
}

// TestBudget: cases beyond it are named, each probe's first before any's
// second, and the time is kept to within one case.
func TestBudget(t *testing.T) {
	b := newBench()
	var all []Probe
	all = append(all, b.read())
	for i := range 6 {
		p := b.gemv(1.25)
		p.Name = fmt.Sprintf("cpu/p%d", i)
		p.Plan = func(Host) []Case {
			return []Case{{Name: "first", Bytes: 4e6}, {Name: "second", Bytes: 4e6}}
		}
		all = append(all, p)
	}
	run := b.session(8*time.Second).Run(t.Context(), all, all)
	if n := len(run.Results) + len(run.Undone); n != 13 || len(run.Undone) < 3 || run.Interrupted {
		t.Errorf("%d results, undone %q", len(run.Results), run.Undone)
	}
	for _, u := range run.Undone {
		if !strings.HasSuffix(u, "second") {
			t.Errorf("%s was left before all first ones were done", u)
		}
	}
	if run.Took > 10*time.Second {
		t.Errorf("took %s of 8s", run.Took)
	}
}

// TestShortBudget: where preparing took the time, the reference is held against
// itself and not prepared again.
func TestShortBudget(t *testing.T) {
	b := newBench()
	read := b.read()
	prepare, prepared := read.Prepare, 0
	read.Prepare = func(ctx context.Context, h Host, c Case) (Subject, error) {
		prepared++
		b.pass(10)
		return prepare(ctx, h, c)
	}
	run := b.session(3*time.Second).Run(t.Context(), []Probe{read}, []Probe{read})
	if r := find(t, run, "cpu/read"); prepared != 1 || r.Outcome != Measured || run.Noise == nil || run.Took > 13*time.Second {
		t.Errorf("prepared %d times, took %s, %+v", prepared, run.Took, r)
	}
}

// TestSlowToPrepare: a first case is timed for long enough also where preparing
// it took its share of the budget.
func TestSlowToPrepare(t *testing.T) {
	b := newBench()
	all := []Probe{b.read()}
	for i := range 5 {
		p := probe(fmt.Sprintf("cpu/p%d", i), 4e6, func() *kernel { return &kernel{bench: b, bytes: 4e6, slow: 1.2, noise: 0.2} })
		prepare := p.Prepare
		p.Prepare = func(ctx context.Context, h Host, c Case) (Subject, error) {
			b.pass(11)
			return prepare(ctx, h, c)
		}
		all = append(all, p)
	}
	run := b.session(time.Minute).Run(t.Context(), all, all)
	if len(run.Undone) > 0 || run.Took > 75*time.Second {
		t.Errorf("undone %q, took %s", run.Undone, run.Took)
	}
	for _, r := range run.Results {
		if r.Blocks < wantedBlocks {
			t.Errorf("%s: %d blocks", r.Probe, r.Blocks)
		}
	}
}

// TestInterrupt: what is finished stays, the rest is named, operands are freed.
func TestInterrupt(t *testing.T) {
	b := newBench()
	ctx, cancel := context.WithCancel(t.Context())
	closed := 0
	stop := probe("cpu/stop", 4e6, func() *kernel { return &kernel{bench: b, bytes: 4e6, slow: 1, started: cancel, closed: &closed} })
	all := []Probe{b.read(), b.gemv(1.25), stop, {Name: "cpu/never", Plan: func(Host) []Case { return []Case{{Name: "one"}} }}}
	run := b.session(time.Minute).Run(ctx, all, all)
	if !run.Interrupted || len(run.Results) != 2 || run.Read == nil || closed != 1 {
		t.Errorf("interrupted %v, %d results, read %v, closed %d", run.Interrupted, len(run.Results), run.Read, closed)
	}
	if len(run.Undone) != 2 {
		t.Errorf("undone %q", run.Undone)
	}
}

// TestSlowdownBetweenRuns is the acceptance in small: ten per cent less of one
// kernel is slower, the same kernel on a machine that has moved is the same.
func TestSlowdownBetweenRuns(t *testing.T) {
	measure := func(seed uint64, rate, slow float64) (share []float64, noise float64) {
		b := newBench()
		b.rng, b.rate = rand.New(rand.NewPCG(seed, seed)), rate
		all := []Probe{b.read(), b.gemv(slow)}
		run := b.session(20*time.Second).Run(t.Context(), all, all)
		return find(t, run, "cpu/gemv").Share.Values, *run.Noise
	}
	first, n1 := measure(1, 20e9, 1.25)
	again, n2 := measure(2, 9e9, 1.25)
	slowed, n3 := measure(3, 20e9, 1.25*1.1)
	margin := max(DefaultMargin, n1, n2, n3)
	if r := Compare(first, again, margin); r.Change != Same {
		t.Errorf("A/A: %+v", r)
	}
	if r := Compare(first, slowed, margin); r.Change != Slower {
		t.Errorf("10 %% slower: %+v", r)
	}
	if r := Compare(slowed, first, margin); r.Change != Faster {
		t.Errorf("10 %% faster: %+v", r)
	}
}

// statOf is /proc/stat of a bench.
type statOf struct{ b *bench }

func (s statOf) Open(name string) (fs.File, error) { return s.tree().Open(name) }

func (s statOf) tree() fstest.MapFS {
	ticks := int(s.b.busy / tick)
	return fstest.MapFS{"proc/stat": {Data: fmt.Appendf(nil, "cpu0 %d 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n", ticks)}}
}

// TestSlowPreparation leaves cases undone rather than pass the budget by the
// time that filling operands takes.
func TestSlowPreparation(t *testing.T) {
	b := newBench()
	slow := func(name string) Probe {
		p := b.gemv(1.2)
		p.Name = name
		prepare := p.Prepare
		p.Prepare = func(ctx context.Context, h Host, c Case) (Subject, error) {
			b.pass(8)
			return prepare(ctx, h, c)
		}
		return p
	}
	all := []Probe{b.read(), slow("cpu/a"), slow("cpu/b"), slow("cpu/c"), slow("cpu/d")}
	run := b.session(20*time.Second).Run(t.Context(), all, all)
	if run.Took > 22*time.Second || len(run.Undone) == 0 {
		t.Errorf("took %s of a budget of 20 s, %d undone", run.Took, len(run.Undone))
	}
}
