package traces

import (
	"math/rand/v2"
	"testing"
)

// tensorParallel runs two ranks through the same steps. The second one comes
// to every all-reduce late, so the first waits for it; clock is what the
// second one's clock shows more.
func tensorParallel(steps, perStep int, late, clock int64, r *rand.Rand) (fast, slow *world) {
	fast, slow = newWorld(0), newWorld(1)
	const transfer = 12
	at := 1000 * us
	for k := range steps {
		begin := at
		for range perStep {
			work := 100*us + r.Int64N(20*us)
			fast.kernel("gate_up", at, work, 0)
			slow.kernel("gate_up", at+clock, work+late, 0)
			end := at + work + late + transfer*us
			noise := r.Int64N(us)
			fast.kernel("all_reduce", at+work, end-at-work, 0)
			slow.kernel("all_reduce", at+work+late+clock, transfer*us+noise, 0)
			at = end + us
		}
		fast.mark(GPURange, "decode_step", begin-1, at, uint64(k+1))
		slow.mark(GPURange, "decode_step", begin-1+clock, at+clock, uint64(k+1))
		at += 30*us + r.Int64N(20*us)
	}
	return fast, slow
}

func rankStep(t *testing.T, w *world) RankStep {
	t.Helper()
	s, err := FindSteps(w.Device)
	if err != nil {
		t.Fatal(err)
	}
	p := Attribute(s.Step(), w.Device, w.byName)
	if msg := checkSums(p); msg != "" {
		t.Error(msg)
	}
	return RankStep{w.Device, &p, w.byName}
}

func TestWaitIsTheSkew(t *testing.T) {
	const perStep = 20
	late := 5000 * us
	for _, clock := range []int64{0, 123_456_789, -77_000_000_000} {
		fast, slow := tensorParallel(5, perStep, late, clock, rand.New(rand.NewPCG(1, 2)))
		ranks := []RankStep{rankStep(t, slow), rankStep(t, fast)}
		w := SplitWaits(ranks)
		if w.Longest != 1 || w.Straggler != 0 || len(w.Notes) != 0 {
			t.Fatalf("longest %d, straggler %d, notes %v; want 1, 0, none", w.Longest, w.Straggler, w.Notes)
		}
		got, want := w.Ranks[1].Waiting, perStep*late
		if abs(got-want) > want/100 {
			t.Errorf("clock %d: waiting %d ns, want %d ± 1 %%", clock, got, want)
		}
		if p := ranks[1].Profile; p.CommWait == nil || *p.CommWait != got || *p.CommWait > p.CommExposed() {
			t.Errorf("wait in the profile %v of %d exposed, want %d", p.CommWait, p.CommExposed(), got)
		}
		if w.Ranks[0].Waiting > perStep*us {
			t.Errorf("the straggler waits %d ns, want under %d", w.Ranks[0].Waiting, perStep*us)
		}
		if off := w.Ranks[1].Offset; off == nil || abs(*off+clock) > us {
			t.Errorf("offset %v, want %d", off, -clock)
		}
		if w.Ranks[0].Unmatched != 0 || w.Ranks[0].Matched != 5*perStep {
			t.Errorf("%d matched, %d not; want %d and 0", w.Ranks[0].Matched, w.Ranks[0].Unmatched, 5*perStep)
		}
	}
}

// Ranks rarely begin and end recording at the same collective.
func TestMissingEnds(t *testing.T) {
	for _, known := range []bool{false, true} {
		fast, slow := tensorParallel(6, 20, 300*us, 40_000*us, rand.New(rand.NewPCG(3, 4)))
		fast.GPU = fast.GPU[2*7:]
		slow.GPU = slow.GPU[:len(slow.GPU)-2*9]
		if known {
			fast.Base, slow.Base = 1_700_000_000_000_000_000, 1_700_000_000_000_000_000-40_000*us
		}
		ranks := []RankStep{rankStep(t, fast), rankStep(t, slow)}
		w := SplitWaits(ranks)
		if w.Ranks[0].Matched != 6*20-7-9 || w.Ranks[0].Unmatched != 9 || w.Ranks[1].Unmatched != 7 {
			t.Fatalf("matched %+v", w.Ranks)
		}
		if got, want := w.Ranks[0].Waiting, 20*300*us; abs(got-want) > want/100 {
			t.Errorf("waiting %d ns, want %d ± 1 %%", got, want)
		}
	}
}

func TestOneRankDoesNotKnow(t *testing.T) {
	fast, _ := tensorParallel(4, 5, us, 0, rand.New(rand.NewPCG(1, 1)))
	ranks := []RankStep{rankStep(t, fast)}
	if w := SplitWaits(ranks); w.Longest != -1 || w.Straggler != -1 || ranks[0].Profile.CommWait != nil {
		t.Errorf("one rank: %+v, wait %v; want unknown", w, ranks[0].Profile.CommWait)
	}
}

// Two runs, or two groups of ranks, do not leave their collectives together.
func TestStrangersDoNotWaitForEachOther(t *testing.T) {
	a, _ := tensorParallel(6, 20, 300*us, 0, rand.New(rand.NewPCG(5, 5)))
	b := newWorld(1)
	r := rand.New(rand.NewPCG(6, 6))
	at := int64(0)
	for k := range 6 {
		begin := at
		for range 20 {
			d := 900*us + r.Int64N(900*us)
			b.kernel("all_reduce", at, d, 0)
			at += d + r.Int64N(300*us)
		}
		b.mark(GPURange, "decode_step", begin-1, at, uint64(k+1))
	}
	ranks := []RankStep{rankStep(t, a), rankStep(t, b)}
	w := SplitWaits(ranks)
	if ranks[0].Profile.CommWait != nil || w.Longest != -1 || len(w.Notes) != 1 {
		t.Errorf("strangers: %+v", w)
	}
}

// Waiting behind a computation costs the step nothing.
func TestHiddenWaitingIsNotExposed(t *testing.T) {
	fast, slow := newWorld(0), newWorld(1)
	for k := range int64(4) {
		t0 := (k + 1) * 1000 * us
		fast.op(Kernel, "qkv", 7, t0, 60*us, 0)
		fast.op(Kernel, "all_reduce", 8, t0+10*us, 100*us, 0) // waits until t0+90
		slow.op(Kernel, "qkv", 7, t0, 90*us, 0)
		slow.op(Kernel, "all_reduce", 8, t0+90*us, 20*us, 0)
		for _, w := range []*world{fast, slow} {
			w.mark(GPURange, "decode_step", t0-1, t0+110*us+1, uint64(k+1))
		}
	}
	ranks := []RankStep{rankStep(t, fast), rankStep(t, slow)}
	w := SplitWaits(ranks)
	if got := w.Ranks[0]; got.Waiting != 80*us || got.Exposed != 30*us || got.Transfer != 20*us {
		t.Errorf("%+v, want 80 us of waiting, 30 exposed, 20 transfer", got)
	}
}
