package gap

import (
	"testing"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

func floorOf(kind roofline.Kind, times map[roofline.Component]float64) roofline.Floor {
	f := roofline.Floor{Kind: kind, Basis: roofline.Sheet}
	for _, c := range roofline.Components {
		if ms, ok := times[c.Name]; ok {
			t := unit.FromMillis(ms)
			f.Terms = append(f.Terms, roofline.Term{Op: roofline.Op{Component: c.Name}, Time: t})
			f.Total += t
		}
	}
	return f
}

func TestLedgerCloses(t *testing.T) {
	ideal := floorOf(roofline.Ideal, map[roofline.Component]float64{
		roofline.AttentionQKV: 0.7003, roofline.Indexer: 0.102, roofline.MoERouter: 0.01645, roofline.Norm: 0.00017, roofline.MoEExperts: 0.8887,
	})
	layout := floorOf(roofline.Layout, map[roofline.Component]float64{
		roofline.AttentionQKV: 1.92834, roofline.Indexer: 0.81586, roofline.MoERouter: 0.13166, roofline.Norm: 0.00132, roofline.MoEExperts: 0.8887,
	})
	latency := layout
	latency.Comm, latency.Launch = unit.FromMillis(1.6354), unit.FromMillis(0.64075)
	for _, measured := range []float64{95.14, 3, 1.7071234567} {
		for _, accepted := range []float64{1, 2.52, 3} {
			l := Attribute(Evidence{
				Ideal: ideal, Layout: layout, Latency: &latency, Engine: "sglang",
				Workload: roofline.Workload{AcceptedTokens: accepted}, Measured: unit.FromMillis(measured),
			})
			if !l.Closes() {
				t.Errorf("measured %v, accepted %v: floor and rungs do not add up: %+v", measured, accepted, l)
			}
			last := l.Rungs[len(l.Rungs)-1]
			if last.Cause != Unattributed {
				t.Errorf("the last rung is %s, want unattributed", last.Cause)
			}
		}
	}
}

func TestReplicationNamesComponents(t *testing.T) {
	ideal := floorOf(roofline.Ideal, map[roofline.Component]float64{roofline.AttentionQKV: 1, roofline.Norm: 0.001})
	layout := floorOf(roofline.Layout, map[roofline.Component]float64{roofline.AttentionQKV: 3, roofline.Norm: 0.005})
	l := Attribute(Evidence{Ideal: ideal, Layout: layout, Workload: roofline.Workload{AcceptedTokens: 1}, Measured: unit.FromMillis(10)})
	want := []struct {
		component roofline.Component
		time      Nanoseconds
	}{{roofline.AttentionQKV, 2_000_000}, {roofline.Other, 4_000}, {roofline.Other, 6_995_000}}
	if len(l.Rungs) != len(want) {
		t.Fatalf("got %d rungs, want %d: %+v", len(l.Rungs), len(want), l.Rungs)
	}
	for i, w := range want {
		if r := l.Rungs[i]; r.Component != w.component || r.Time != w.time {
			t.Errorf("rung %d: got %s %d ns, want %s %d ns", i, r.Component, r.Time, w.component, w.time)
		}
	}
}
