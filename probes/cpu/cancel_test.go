//go:build cgo && linux

package cpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"decodegap/probes"
	"decodegap/probes/decode"
)

// looked is a context that ends at a chosen look at its Err, and counts looks.
type looked struct {
	context.Context
	cancel context.CancelFunc
	end    int64
	looks  atomic.Int64
}

func endingAt(ctx context.Context, look int64) *looked {
	inner, cancel := context.WithCancel(ctx)
	return &looked{Context: inner, cancel: cancel, end: look}
}

func (l *looked) Err() error {
	if l.looks.Add(1) == l.end {
		l.cancel()
	}
	return l.Context.Err()
}

// lives are all probes with a case that is quick.
func lives() map[string]func(context.Context, probes.Host) (probes.Subject, error) {
	out := map[string]func(context.Context, probes.Host) (probes.Subject, error){}
	add := func(p probes.Probe, c probes.Case) {
		out[p.Name] = func(ctx context.Context, h probes.Host) (probes.Subject, error) { return p.Prepare(ctx, h, c) }
	}
	add(Read, probes.Case{Bytes: 1 << 16})
	add(Copy, streamCase(2, 1<<20))
	add(Triad, streamCase(3, 1<<20))
	for p, f := range map[*probes.Probe]Format{&GEMVBF16: BF16Weights, &GEMVFP8: FP8, &GEMVNVFP4: NVFP4, &GEMVMXFP4: MXFP4, &GEMVINT4: INT4} {
		add(*p, gemvCase(f, 2, 128, 256))
	}
	add(ExpertsNVFP4, expertsCase(NVFP4, 2, 2, 8, 64, 96))
	add(ExpertsBF16, expertsCase(BF16Weights, 2, 2, 8, 64, 96))
	add(AttentionGQA, gqaCase("FP8", 4, 2, 64, 300, 2, 0))
	add(AttentionMLA, mlaCase("BF16", 4, 100, 1))
	for _, p := range small() {
		add(p, p.Plan(testHost)[0])
	}
	plan := mixed("NVFP4")
	plan.Layers = append(plan.Layers, plan.Layers...)
	add(AttainableStep(plan, decode.Point{Batch: 2, Context: 70}, probes.Case{}), probes.Case{})
	return out
}

// live is what a session does with a case: it prepares, warms up, times and
// checks.
func live(ctx context.Context, prepare func(context.Context, probes.Host) (probes.Subject, error)) error {
	h := testHost
	h.CPUs = []int{-1, -1}
	s, err := prepare(ctx, h)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, n := range []int{1, 3} {
		if _, err := s.Time(ctx, n); err != nil {
			return err
		}
	}
	c, err := s.Verify()
	if err == nil && !c.OK() {
		return errors.New("the result is wrong")
	}
	return err
}

// TestCancelAnywhere ends each probe at looks at its context from the first to
// the last: it must end with the context's error, having looked hardly again.
func TestCancelAnywhere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, prepare := range lives() {
		whole := endingAt(t.Context(), -1)
		if err := live(whole, prepare); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		all, most := whole.looks.Load(), int64(40)
		if testing.Short() { // under sanitizers
			most = 6
		}
		for n := range min(all, most) {
			end := n + 1
			if all > most {
				end = 1 + random.Int64N(all)
			}
			ctx := endingAt(t.Context(), end)
			err := live(ctx, prepare)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ended at look %d of %d: %v", name, end, all, err)
			}
			if after := ctx.looks.Load() - end; after > 2 {
				t.Errorf("%s: ended at look %d of %d, it looked %d times more", name, end, all, after)
			}
		}
	}
}

// TestCancelLong ends what would take minutes in the middle of its operations;
// the guard is generous, a hang is what it finds.
func TestCancelLong(t *testing.T) {
	scalar := func(c probes.Case) probes.Case { c.ISA = Scalar.String(); return c }
	for name, prepare := range map[string]func(context.Context) (probes.Subject, error){
		"matrix": func(ctx context.Context) (probes.Subject, error) {
			return prepareGEMV(ctx, host(2), scalar(gemvCase(NVFP4, MaxTokens, 1024, 4096)))
		},
		"experts": func(ctx context.Context) (probes.Subject, error) {
			return prepareExperts(ctx, host(2), scalar(expertsCase(NVFP4, 16, 4, 8, 256, 1024)))
		},
		"attention": func(ctx context.Context) (probes.Subject, error) {
			return prepareAttention(ctx, host(2), scalar(mlaCase("BF16", 32, 4096, 1)))
		},
		"read": func(ctx context.Context) (probes.Subject, error) {
			return prepareRead(ctx, host(2), scalar(probes.Case{Bytes: 64 << 20}))
		},
		"barriers": func(ctx context.Context) (probes.Subject, error) { return prepareBarrier(ctx, host(2), probes.Case{}) },
		"waking":   func(ctx context.Context) (probes.Subject, error) { return prepareWake(ctx, host(2), probes.Case{}) },
	} {
		s, err := prepare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		begin := time.Now()
		if _, err := s.Time(ctx, 1<<20); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: a million runs after their context's end: %v", name, err)
		}
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("%s: stopped after %v", name, d)
		}
		cancel()
		s.Close()
	}
}

// flagAt makes an operation look for its cancel flag where it writes: the first
// value that is not zero ends it.
func flagAt(o *op, at unsafe.Pointer) {
	*(*unsafe.Pointer)(unsafe.Pointer(&o.cancel)) = at
}

// TestKernelsStop: a kernel whose flag rises while it works leaves the rest of
// its output as it was.
func TestKernelsStop(t *testing.T) {
	for _, isa := range Supported() {
		for name, c := range map[string]struct {
			prepare prepareFunc
			c       probes.Case
			op      int
		}{
			"matrix":      {prepareGEMV, gemvCase(BF16Weights, 1, 4096, 64), 0},
			"long rows":   {prepareGEMV, gemvCase(NVFP4, 1, 1024, 256), 0},
			"experts, up": {prepareExperts, expertsCase(BF16Weights, 1, 8, 16, 256, 64), 0},
			"attention":   {prepareAttention, gqaCase("BF16", 8, 8, 64, 300, 4, 0), 0},
			"copy":        {Copy.Prepare, streamCase(2, 4<<20), 0},
			"triad":       {Triad.Prepare, streamCase(3, 4<<20), 0},
		} {
			c.c.ISA = isa.String()
			h := testHost
			h.CPUs = []int{-1}
			prepared, err := c.prepare(t.Context(), h, c.c)
			if errors.Is(err, probes.ErrUnsupported) {
				continue // not written for this instruction set
			}
			if err != nil {
				t.Fatal(err)
			}
			s := prepared.(*subject)
			if _, err := s.Time(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			o := s.op(c.op)
			size := map[string]int{"matrix": 4096, "long rows": 1024, "experts, up": 8 * 256, "attention": 4 * 8 * 64, "copy": 1 << 20, "triad": 1 << 20}[name]
			out := unsafe.Slice((*float32)(o.y), size)
			clear(out)
			flagAt(o, o.y)
			if _, _, err := s.pool.run(t.Context(), s.program, 0, 1, false); err != nil {
				t.Fatal(err)
			}
			written := 0
			for _, v := range out {
				if v != 0 {
					written++
				}
			}
			if written == 0 || written > size*3/4 {
				t.Errorf("%s, %s: %d of %d values were written behind the flag", name, isa, written, size)
			}
			s.Close()
		}
	}
}

// TestReadStops: a read that nobody wants reads nothing.
func TestReadStops(t *testing.T) {
	for _, isa := range Supported() {
		h := testHost
		h.CPUs = []int{-1}
		s, err := prepareRead(t.Context(), h, probes.Case{Bytes: 4 << 20, ISA: isa.String()})
		if errors.Is(err, probes.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Time(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		o := s.(*readSubject).op(0)
		whole := *(*uint64)(o.y)
		flag, err := allocate(4)
		if err != nil {
			t.Fatal(err)
		}
		of[int32](flag)[0] = 1
		flagAt(o, flag.at)
		if _, _, err := s.(*readSubject).pool.run(t.Context(), s.(*readSubject).program, 0, 1, false); err != nil {
			t.Fatal(err)
		}
		if got := *(*uint64)(o.y); got != 0 || got == whole {
			t.Errorf("%s: %#x was read, %#x is the whole", isa, got, whole)
		}
		s.Close()
		flag.free()
	}
}

// TestInterruptedRead: what whole series read stays checked after one that was
// interrupted, and the ceiling with it.
func TestInterruptedRead(t *testing.T) {
	s, err := prepareRead(t.Context(), host(2), probes.Case{Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Verify(); err == nil {
		t.Error("nothing has run, and it is right")
	}
	if _, err := s.Time(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Time(ctx, 1<<20); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if c, err := s.Verify(); err != nil || !c.OK() {
		t.Errorf("after an interrupt: %+v, %v", c, err)
	}
	of[uint64](s.(*readSubject).memory[1])[5]++
	if _, err := s.Time(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Verify(); err != nil || c.OK() {
		t.Errorf("a wrong value was read: %+v, %v", c, err)
	}
}
