package gap

import (
	"testing"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

func TestTracedLedger(t *testing.T) {
	ideal := floorOf(roofline.Ideal, map[roofline.Component]float64{roofline.AttentionQKV: 1, roofline.MLPDense: 2})
	layout := floorOf(roofline.Layout, map[roofline.Component]float64{roofline.AttentionQKV: 1.5, roofline.MLPDense: 2})
	latency := layout
	latency.Launch = unit.FromMillis(0.1)
	wait := Nanoseconds(300_000)
	traced := &Traced{
		Step: 10_000_000, Source: "trace",
		ByComponent: map[roofline.Component]Nanoseconds{roofline.AttentionQKV: 2_000_000, roofline.MLPDense: 1_900_000, roofline.Norm: 100_000, roofline.AllReduce: 500_000},
		LaunchBound: 5_000_000, GraphGap: 400_000, BetweenSteps: 100_000, CommWait: &wait,
	}
	if sum := traced.idle() + 4_500_000; sum != traced.Step {
		t.Fatalf("the test's step adds up to %d", sum)
	}
	for _, measured := range []float64{10, 8, 12} {
		l := Attribute(Evidence{Ideal: ideal, Layout: layout, Latency: &latency, Engine: "x", Traced: traced,
			Workload: roofline.Workload{AcceptedTokens: 1}, Measured: unit.FromMillis(measured)})
		// Above the traced step, the trace saw less than the measured one.
		unseen := max(Nanoseconds(measured*1e6)-traced.Step, 0)
		if !l.Closes() || l.Unattributed() != unseen {
			t.Errorf("measured %v: closes %v, unattributed %d", measured, l.Closes(), l.Unattributed())
		}
		sums := map[Cause]Nanoseconds{}
		for _, r := range l.Rungs {
			sums[r.Cause] += r.Time
		}
		want := map[Cause]Nanoseconds{
			Replication: 500_000, Latency: 100_000, Kernel: 500_000 - 100_000 + 100_000, Interference: 300_000, Communication: 200_000,
			DeviceIdle: 300_000, Host: 5_100_000, Profiler: min(Nanoseconds(measured*1e6)-traced.Step, 0),
		}
		for c, v := range want {
			if sums[c] != v {
				t.Errorf("measured %v: %s is %d ns, want %d", measured, c, sums[c], v)
			}
		}
	}
}
