package traces

import (
	"errors"
	"strings"
	"testing"
)

func TestStepsByRepetition(t *testing.T) {
	for _, layers := range []int{2, 28, 94} {
		w := newWorld(0)
		starts := w.eager(6, decoder(layers), 20*us, 5*us)
		s, err := FindSteps(w.Device)
		if err != nil {
			t.Fatalf("%d layers: %v", layers, err)
		}
		if s.FoundBy != ByRepetition || len(s.All) != 6 {
			t.Errorf("%d layers: %d steps by %s, want 6 by repetition", layers, len(s.All), s.FoundBy)
			continue
		}
		for k, st := range s.All {
			if st.Start != starts[k] {
				t.Errorf("%d layers: step %d starts at %d, want %d", layers, k, st.Start, starts[k])
			}
		}
	}
}

// Every fourth step has a kernel more, as when a cache block is taken.
func TestRepetitionWithExtraKernels(t *testing.T) {
	w := newWorld(0)
	names := decoder(12)
	at, want := int64(0), 0
	for k := range 12 {
		seq := names
		if k%4 == 3 {
			seq = append(append([]string{}, names[:30]...), append([]string{"take_block"}, names[30:]...)...)
		}
		for _, n := range seq {
			w.kernel(n, at, 3*us, 0)
			at += 4 * us
		}
		at += 100 * us
		want++
	}
	s, err := FindSteps(w.Device)
	if err != nil || len(s.All) != want {
		t.Fatalf("%d steps, %v; want %d", len(s.All), err, want)
	}
}

func TestNoSteps(t *testing.T) {
	if _, err := FindSteps(Device{}); !errors.Is(err, ErrNoWork) {
		t.Errorf("empty device: %v, want ErrNoWork", err)
	}
	same := newWorld(0)
	for k := range int64(100) {
		same.kernel("triad", k*10*us, 9*us, 0)
	}
	if s, err := FindSteps(same.Device); !errors.Is(err, ErrNoSteps) {
		t.Errorf("one kernel over and over: %d steps, %v; want ErrNoSteps", len(s.All), err)
	}
}

// graphWorld replays a decode graph with an input copy before each replay.
func graphWorld(steps int, names []string, marks bool) (*world, []int64) {
	w := newWorld(0)
	var starts []int64
	t := 1000 * us
	for k := range steps {
		w.op(Memcpy, "Memcpy HtoD", 7, t-20*us, 2*us, w.launch("cudaMemcpyAsync", t-80*us, 5*us))
		starts = append(starts, t)
		end := w.replay(names, t, 12*us, 10*us)
		if marks {
			w.mark(GPURange, "decode_step", t-1, end+1, uint64(k+1))
		}
		t = end + 200*us
	}
	return w, starts
}

func TestStepsByGraphAreThoseOfTheMarks(t *testing.T) {
	marked, starts := graphWorld(5, decoder(12), true)
	byMark, err := FindSteps(marked.Device)
	if err != nil || byMark.FoundBy != ByAnnotation {
		t.Fatalf("by %s, %v; want annotation", byMark.FoundBy, err)
	}
	bare, _ := graphWorld(5, decoder(12), false)
	byGraph, err := FindSteps(bare.Device)
	if err != nil || byGraph.FoundBy != ByGraph || len(byGraph.All) != len(byMark.All) {
		t.Fatalf("%d steps by %s, %v; want %d by graph", len(byGraph.All), byGraph.FoundBy, err, len(byMark.All))
	}
	for k := range byGraph.All {
		a, b := byMark.All[k], byGraph.All[k]
		if a.Start != b.Start || a.End != b.End || a.Start != starts[k] || a.Ops != b.Ops || a.Busy != b.Busy {
			t.Errorf("step %d: by mark %+v, by graph %+v", k, a, b)
		}
	}
}

// The pieces that an engine cuts around attention are no steps.
func TestPiecewiseGraphsAreNotSteps(t *testing.T) {
	w := newWorld(0)
	at := 1000 * us
	const layers, steps = 24, 6
	for range steps {
		w.kernel("embedding", at, 5*us, w.launch("cudaLaunchKernel", at-50*us, 5*us))
		at += 6 * us
		for range layers {
			at = w.replay([]string{"norm", "qkv", "rope", "out", "norm", "gate_up", "silu", "down", "add"}, at, 6*us, 5*us) + us
			w.kernel("attention", at, 5*us, w.launch("cudaLaunchKernel", at-50*us, 5*us))
			at += 6 * us
		}
		w.kernel("lm_head", at, 50*us, w.launch("cudaLaunchKernel", at-50*us, 5*us))
		at += 51 * us
		w.kernel("argmax", at, 5*us, w.launch("cudaLaunchKernel", at-50*us, 5*us))
		at += 300 * us
	}
	s, err := FindSteps(w.Device)
	if err != nil || len(s.All) != steps || s.FoundBy != ByRepetition {
		t.Errorf("%d steps by %s, %v; want %d by repetition", len(s.All), s.FoundBy, err, steps)
	}
}

// A host mark of half a second over 10 ms of work, a stray fill at its start.
func TestHostMarkIsNotTheStep(t *testing.T) {
	w := newWorld(0)
	w.mark(Range, "step[DECODE bs=32]", 0, 465_000*us, 4)
	w.kernel("fill", 100*us, 4*us, w.launch("hipLaunchKernel", 80*us, 10*us))
	end := w.replay(decoder(12), 460_000*us, 12*us, 11*us)
	w.kernel("later", end+1000*us, us, w.launch("hipLaunchKernel", 470_000*us, 10*us)) // not under the mark
	s, err := FindSteps(w.Device)
	if err != nil || s.FoundBy != ByAnnotation || len(s.All) != 1 {
		t.Fatalf("%+v, %v; want one step by annotation", s, err)
	}
	st := s.Step()
	if st.Start != 460_000*us || st.End != end || !st.Open || st.Mark.Batch != 32 {
		t.Errorf("step %+v, want %d to %d", st, 460_000*us, end)
	}
}

func TestProfilerStepHoldsManySteps(t *testing.T) {
	w, starts := graphWorld(8, decoder(12), false)
	w.mark(GPURange, "ProfilerStep#1", starts[0]-1, starts[3], 1)
	w.mark(GPURange, "ProfilerStep#2", starts[4]-1, starts[7], 2)
	if s, err := FindSteps(w.Device); err != nil || s.FoundBy != ByGraph || len(s.All) != 8 {
		t.Errorf("%d steps by %s, %v; want 8 by graph", len(s.All), s.FoundBy, err)
	}
}

// One shadow a stream makes one step, not two.
func TestShadowsOfAllStreamsAreOneStep(t *testing.T) {
	w := newWorld(0)
	for k := range int64(3) {
		t0 := (k + 1) * 1000 * us
		w.op(Kernel, "a", 7, t0, 100*us, 0)
		w.op(Kernel, "b", 8, t0+50*us, 100*us, 0)
		w.mark(GPURange, "decode_step", t0-1, t0+100*us+1, uint64(k+1))
		w.mark(GPURange, "decode_step", t0+50*us-1, t0+150*us+1, uint64(k+1))
	}
	s, err := FindSteps(w.Device)
	if err != nil || len(s.All) != 3 || s.All[0].Busy != 150*us || s.All[2].End != 3150*us {
		t.Errorf("%+v, %v; want three steps, 150 us busy", s.All, err)
	}
}

func TestSetAside(t *testing.T) {
	w := newWorld(0)
	at := 1000 * us
	step := func(name string, dur int64) {
		w.kernel("k", at, dur, 0)
		w.mark(GPURange, name, at-1, at+dur+1, uint64(len(w.Ranges)+1))
		at += dur + 10*us
	}
	const decode = "execute_context_0(0)_generation_4(4)"
	step("execute_context_1(700)_generation_0(0)", 9000*us)
	step(decode, 3000*us) // warm-up
	for k := range int64(9) {
		step(decode, 1000*us+k*us)
	}
	step("execute_context_0(0)_generation_2(2)", 600*us)
	step(decode, 4000*us)
	step(decode, 1004*us)
	s, err := FindSteps(w.Device)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"": 10, "prefill": 1, "warm-up": 1, "another batch": 1, "outlier": 1}
	got := map[string]int{}
	for _, st := range s.All {
		got[st.Aside]++
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%d steps aside as %q, want %d (all: %v)", got[k], k, n, got)
		}
	}
	if s.Counts != 10 || s.Step().Wall() != 1014*us {
		t.Errorf("%d count, median %d ns; want 10, 1014 us (the lower middle)", s.Counts, s.Step().Wall())
	}
	if len(s.Notes) != 5 {
		t.Errorf("notes %v, want one for each reason, and one for the last step", s.Notes)
	}
}

// The median step is the one in the middle, the lower of two. The last step
// has no end of its own, which is said whether it counts or not.
func TestMedianRule(t *testing.T) {
	for _, tt := range []struct {
		walls       []int64 // µs
		median      int64
		of          int
		lastCounted bool
	}{
		{[]int64{1000, 1001, 1002, 1003, 1004, 1005, 1006}, 1002, 6, false},
		{[]int64{1000, 1001, 1002, 1003, 1004, 1005, 500}, 1002, 6, false}, // no outlier: its end is not known
		{[]int64{1003, 1001, 1002, 1000, 1005}, 1001, 4, false},
		{[]int64{1002, 1001, 1003, 1000}, 1002, 3, false},
		{[]int64{1002, 1001, 1003}, 1002, 3, true},
		{[]int64{1001, 1000}, 1000, 2, true},
	} {
		w, at := newWorld(0), 1000*us
		for k, wall := range tt.walls {
			w.kernel("k", at, wall*us, 0)
			w.mark(GPURange, "decode_step", at-1, at+wall*us+1, uint64(k+1))
			at += wall * us
		}
		s, err := FindSteps(w.Device)
		if err != nil {
			t.Fatal(err)
		}
		if s.Step().Wall() != tt.median*us || s.MedianOf != tt.of || s.Counts != len(tt.walls) {
			t.Errorf("%v: median %d ns of %d, %d count; want %d µs of %d", tt.walls, s.Step().Wall(), s.MedianOf, s.Counts, tt.median, tt.of)
		}
		if len(s.Notes) != 1 || s.Notes[0].Code != "last-step-open" || strings.Contains(s.Notes[0].Text, "counts all the same") != tt.lastCounted {
			t.Errorf("%v: notes %v", tt.walls, s.Notes)
		}
	}
}

// A capture that begins and ends inside a step says what it leaves out.
func TestRepetitionSaysWhatIsCutOff(t *testing.T) {
	names := decoder(12)
	seven := make([]string, 0, 7*len(names))
	for range 7 {
		seven = append(seven, names...)
	}
	w, at := newWorld(0), int64(0)
	for i, n := range seven[10 : len(seven)-20] {
		if (i+10)%len(names) == 0 {
			at += 100 * us
		}
		w.kernel(n, at, 3*us, 0)
		at += 4 * us
	}
	s, err := FindSteps(w.Device)
	if err != nil || len(s.All) != 5 {
		t.Fatalf("%d steps, %v; want the 5 whole ones", len(s.All), err)
	}
	cut := 0
	for _, n := range s.Notes {
		if n.Code == "step-cut-off" {
			cut++
		}
	}
	if cut != 2 {
		t.Errorf("notes %v, want one for each end", s.Notes)
	}
}
