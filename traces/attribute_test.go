package traces

import (
	"math/rand/v2"
	"sort"
	"testing"

	"decodegap/roofline"
)

func TestEagerIsLaunchBound(t *testing.T) {
	w := newWorld(0)
	names := decoder(10)
	w.eager(5, names, 20*us, 5*us)
	s, err := FindSteps(w.Device)
	if err != nil {
		t.Fatal(err)
	}
	p := Attribute(s.Step(), w.Device, w.byName)
	if msg := checkSums(p); msg != "" {
		t.Error(msg)
	}
	n := int64(len(names))
	want := IdleTime{LaunchBound: (n - 1) * 15 * us, BetweenSteps: (15 + 100) * us}
	if p.Idle != want {
		t.Errorf("idle %+v, want %+v", p.Idle, want)
	}
	if got := p.ByComponent[roofline.AttentionCore]; got != 50*us {
		t.Errorf("attention %d ns, want 50 us", got)
	}
	if p.Kernels != len(names) || p.Launches != len(names) || p.GraphReplays != 0 {
		t.Errorf("%d kernels, %d launches, %d replays; want %d, %d, 0", p.Kernels, p.Launches, p.GraphReplays, n, n)
	}
}

func TestGraphGaps(t *testing.T) {
	w, _ := graphWorld(5, decoder(12), false)
	s, err := FindSteps(w.Device)
	if err != nil {
		t.Fatal(err)
	}
	p := Attribute(s.Step(), w.Device, w.byName)
	if msg := checkSums(p); msg != "" {
		t.Error(msg)
	}
	n := int64(len(decoder(12)))
	// 180 us before the input copy, whose launch came late; 18 us behind it.
	want := IdleTime{GraphGap: (n - 1) * 2 * us, LaunchBound: 180 * us, BetweenSteps: 18 * us}
	if p.Idle != want {
		t.Errorf("idle %+v, want %+v", p.Idle, want)
	}
	if p.GraphReplays != 1 || p.Launches != 2 || p.Copies != 1 || p.ByComponent[roofline.Memcpy] != 2*us {
		t.Errorf("%d replays, %d launches, %d copies of %d ns; want 1, 2, 1, 2000", p.GraphReplays, p.Launches, p.Copies, p.ByComponent[roofline.Memcpy])
	}
}

func TestGapCauses(t *testing.T) {
	const end = 100 // us, of the operation before the gap; the next starts at 150
	tests := []struct {
		name         string
		launch, dur  int64 // us
		corr         bool
		sync, length int64
		want         GapCause
		late         int
	}{
		{name: "the launch comes late", launch: 120, dur: 5, corr: true, want: LaunchBound},
		{name: "the launch call lasts into the gap", launch: 95, dur: 50, corr: true, want: LaunchBound},
		{name: "launched in time", launch: 80, dur: 10, corr: true, want: UnknownGap},
		{name: "the host waited for the device", launch: 140, dur: 5, corr: true, sync: 60, length: 50, want: SyncBound},
		{name: "the host waited earlier", launch: 140, dur: 5, corr: true, sync: 60, length: 20, want: LaunchBound},
		{name: "the host was late before it waited", launch: 140, dur: 5, corr: true, sync: 105, length: 10, want: LaunchBound},
		{name: "no launch in the trace", launch: 120, dur: 5, corr: false, want: UnknownGap},
		{name: "clocks disagree", launch: 160, dur: 5, corr: true, want: UnknownGap, late: 1},
	}
	for _, tt := range tests {
		w := newWorld(0)
		w.kernel("a", 0, end*us, w.launch("cudaLaunchKernel", -10*us, us))
		c := w.launch("cudaLaunchKernel", tt.launch*us, tt.dur*us)
		if !tt.corr {
			c = 77
		}
		w.kernel("b", 150*us, 10*us, c)
		if tt.length > 0 {
			w.sync(tt.sync*us, tt.length*us)
			// Another thread that waits all the time holds up nobody here.
			w.Syncs = append(w.Syncs, Event{Start: 0, Dur: 139 * us, Kind: Sync, Stream: 2, Process: 9})
			sort.Slice(w.Syncs, func(i, j int) bool { return w.Syncs[i].Start < w.Syncs[j].Start })
		}
		p := Attribute(WindowStep(w.Device, 0, 160*us).Step(), w.Device, w.byName)
		if len(p.Gaps) != 1 || p.Gaps[0].Cause != tt.want || p.LaunchAfterStart != tt.late {
			t.Errorf("%s: gaps %+v (%d late), want one %s", tt.name, p.Gaps, p.LaunchAfterStart, tt.want)
		}
		if p.Gaps[0].Before != 0 || p.Gaps[0].After != 1 {
			t.Errorf("%s: between operations %d and %d, want 0 and 1", tt.name, p.Gaps[0].Before, p.Gaps[0].After)
		}
	}
}

func TestOverlap(t *testing.T) {
	w := newWorld(0)
	w.op(Memcpy, "Memcpy DtoD", 9, 0, 100*us, 0) // under everything
	w.op(Kernel, "all_reduce", 8, 10*us, 60*us, 0)
	w.op(Kernel, "qkv", 7, 20*us, 20*us, 0)
	w.op(Kernel, "gate_up", 7, 30*us, 20*us, 0) // same stream, starts early
	w.op(Kernel, "norm", 7, 120*us, 10*us, 0)
	p := Attribute(WindowStep(w.Device, 0, 130*us).Step(), w.Device, w.byName)
	if msg := checkSums(p); msg != "" {
		t.Error(msg)
	}
	want := map[roofline.Component]int64{
		roofline.Memcpy:       40 * us, // 0–10 and 70–100
		roofline.AllReduce:    30 * us, // 10–20 and 50–70
		roofline.AttentionQKV: 20 * us, // 20–40: it started first
		roofline.MLPDense:     10 * us, // 40–50
		roofline.Norm:         10 * us,
	}
	for c, ns := range want {
		if p.ByComponent[c] != ns {
			t.Errorf("%s %d ns, want %d", c, p.ByComponent[c], ns)
		}
	}
	if len(p.ByComponent) != len(want) || p.Comm != 60*us || p.CommOverlapped != 30*us || p.CommExposed() != 30*us || p.Idle.Total() != 20*us {
		t.Errorf("components %v, comm %d, overlapped %d, idle %+v", p.ByComponent, p.Comm, p.CommOverlapped, p.Idle)
	}
}

// A copy to the host that returns when it is done is a wait; one that only
// queues is not.
func TestBlockingCopyIsSync(t *testing.T) {
	for name, want := range map[string]GapCause{"hipMemcpyWithStream": SyncBound, "cudaMemcpyAsync": LaunchBound} {
		w := newWorld(0)
		w.op(Memcpy, "Memcpy DtoH", 7, 0, 100*us, w.launch(name, -10*us, 115*us))
		w.kernel("a", 150*us, 10*us, w.launch("hipLaunchKernel", 130*us, 5*us))
		p := Attribute(WindowStep(w.Device, 0, 160*us).Step(), w.Device, w.byName)
		if len(p.Gaps) != 1 || p.Gaps[0].Cause != want {
			t.Errorf("%s: gaps %+v, want one %s", name, p.Gaps, want)
		}
	}
}

// Over random operations, whatever the window, sums are exact, segments and
// gaps tile the window, and no owner is weaker or later than another
// operation that runs.
func TestSumsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	kinds := []Kind{Kernel, Kernel, Kernel, Memcpy, Memset}
	names := []string{"all_reduce", "qkv", "norm", "send", "gate_up", "copy"}
	for round := range 400 {
		w := newWorld(0)
		for range r.IntN(60) {
			c := uint64(r.IntN(20))
			w.op(kinds[r.IntN(len(kinds))], names[r.IntN(len(names))], r.Int64N(3), r.Int64N(1000), r.Int64N(40), c)
			if c != 0 && r.IntN(3) > 0 {
				w.Launches = append(w.Launches, Event{Start: r.Int64N(1000), Dur: r.Int64N(20), Kind: Launch, Stream: 1, Corr: c, Process: 9})
			}
		}
		for range r.IntN(6) {
			w.sync(r.Int64N(1000), r.Int64N(100))
		}
		for _, events := range [][]Event{w.GPU, w.Launches, w.Syncs} {
			sort.SliceStable(events, func(i, j int) bool { return events[i].Start < events[j].Start })
		}
		start := r.Int64N(900)
		st := WindowStep(w.Device, start, start+1+r.Int64N(300)).Step()
		p := Attribute(st, w.Device, w.byName)
		if msg := checkSums(p); msg != "" {
			t.Fatalf("round %d: %s", round, msg)
		}
		owner := make([]int, st.Wall()) // by nanosecond: operation + 1, or -1 in a gap
		for _, s := range p.Segments {
			for x := s.Start; x < s.End; x++ {
				owner[x-st.Start] = s.Op + 1
			}
		}
		for _, g := range p.Gaps {
			for x := g.Start; x < g.End; x++ {
				owner[x-st.Start] = -1
			}
		}
		var comm int64
		for x := range owner {
			best, bestClass, anyComm := -1, classes, false
			for i, e := range w.GPU {
				at := st.Start + int64(x)
				if e.Start > at || e.End() <= at {
					continue
				}
				c := classOf(componentOf(e, i, w.byName))
				anyComm = anyComm || c == communicates
				if c < bestClass {
					best, bestClass = i, c
				}
			}
			want := best + 1
			if best < 0 {
				want = -1
			}
			if owner[x] != want {
				t.Fatalf("round %d: ns %d is owned by %d, want %d", round, x, owner[x], want)
			}
			if anyComm {
				comm++
			}
		}
		if comm != p.Comm || p.CommOverlapped < 0 {
			t.Fatalf("round %d: comm %d ns (%d overlapped), want %d", round, p.Comm, p.CommOverlapped, comm)
		}
	}
}

// Operations that an earlier step started and a later one starts are clipped.
func TestStepsTile(t *testing.T) {
	w, _ := graphWorld(6, decoder(12), false)
	w.op(Kernel, "send", 9, 1500*us, 4000*us, 0) // across steps
	sort.SliceStable(w.GPU, func(i, j int) bool { return w.GPU[i].Start < w.GPU[j].Start })
	s, err := FindSteps(w.Device)
	if err != nil {
		t.Fatal(err)
	}
	ops := 0
	for k, st := range s.All {
		if msg := checkSums(Attribute(st, w.Device, w.byName)); msg != "" {
			t.Errorf("step %d: %s", k, msg)
		}
		if k > 0 && s.All[k-1].End != st.Start {
			t.Errorf("step %d starts at %d, the one before ends at %d", k, st.Start, s.All[k-1].End)
		}
		ops += st.Ops
	}
	if ops != len(w.GPU)-1 { // the first copy lies before the first step
		t.Errorf("%d operations in steps, want %d", ops, len(w.GPU)-1)
	}
}
