package roofline

import (
	"math"
	"testing"

	"decodegap/roofline/unit"
)

func TestAllReduceFormulas(t *testing.T) {
	l := Link{Alpha: unit.FromMicros(2), Beta: 50e9}
	// 8 GPUs, 1 MB: worked by hand.
	for name, want := range map[string]float64{
		"ring":      14*2 + 2*7.0/8*1e6/50e9*1e6,
		"tree":      6*2 + 2*1e6/50e9*1e6,
		"one-shot":  2 + 7*1e6/50e9*1e6,
		"two-shot":  4 + 2*7.0/8*1e6/50e9*1e6,
		"in-switch": 2 + 1.125*1e6/50e9*1e6,
	} {
		for _, a := range AllReduceAlgorithms {
			if got := a.Time(l, 8, 1e6).Micros(); a.Name == name && math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s: %v µs, want %v", name, got, want)
			}
		}
	}
	if a, _ := FastestAllReduce(l, 8, 12288); a.Name != "one-shot" {
		t.Errorf("12 KB: %s is fastest, want one-shot", a.Name)
	}
	if a, _ := FastestAllReduce(l, 8, 64e6); a.Name != "two-shot" {
		t.Errorf("64 MB: %s is fastest, want two-shot", a.Name)
	}
	if _, d := FastestAllReduce(l, 1, 1e6); d != 0 {
		t.Errorf("one GPU takes %v", d)
	}
}

func TestExchangeTime(t *testing.T) {
	l := Link{Alpha: unit.FromMicros(2), Beta: 50e9}
	for kind, want := range map[Component]float64{AllGather: 2 + 7.0/8*20, ReduceScatter: 2 + 7.0/8*20, AllToAll: 2 + 20} {
		if got, ok := ExchangeTime(l, kind, 8, 1e6); !ok || math.Abs(got.Micros()-want) > 1e-9*want {
			t.Errorf("%s: %v µs, %v, want %v", kind, got.Micros(), ok, want)
		}
	}
	if _, ok := ExchangeTime(l, AllReduce, 8, 1e6); ok {
		t.Error("an all-reduce has algorithms of its own")
	}
}

func TestRanksHit(t *testing.T) {
	// GLM-5: 8 of 256 experts over 8 ranks reach 5.29 ranks.
	if got := RanksHit(8, 256, 8); math.Abs(got-5.29) > 0.005 {
		t.Errorf("got %v ranks, want 5.29", got)
	}
	if got := RanksHit(4, 8, 7); got != 4 {
		t.Errorf("7 of 8 experts over 4 ranks: got %v", got)
	}
	if got := RanksHit(1, 8, 2); math.Abs(got-1) > 1e-12 {
		t.Errorf("one rank: got %v", got)
	}
}
