package gap

import (
	"strings"
	"testing"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// TestCeilingRung: what probes reached below the sheet is a cause of its own,
// and kernels are held against what was probed, not against the sheet.
func TestCeilingRung(t *testing.T) {
	at := func(kind roofline.Kind, factor float64) roofline.Floor {
		f := floorOf(kind, map[roofline.Component]float64{roofline.AttentionQKV: 1.5 * factor, roofline.MLPDense: 2 * factor})
		f.Memory = f.Total
		return f
	}
	ideal, layout := at(roofline.Ideal, 1), at(roofline.Layout, 1)
	probed := at(roofline.Layout, 1.25)
	probed.Basis = roofline.Probed
	latency := probed
	latency.Kind, latency.Launch = roofline.Latency, unit.FromMillis(0.1)
	traced := &Traced{Step: 6_000_000, Source: "trace", LaunchBound: 500_000,
		ByComponent: map[roofline.Component]Nanoseconds{roofline.AttentionQKV: 2_500_000, roofline.MLPDense: 3_000_000}}
	for _, accepted := range []float64{1, 2.5} {
		for _, tr := range []*Traced{nil, traced} {
			e := Evidence{Ideal: ideal, Layout: layout, Latency: &latency, Probed: &probed, ProbedBy: "probed today by cpu/read",
				Boundaries: "stage boundaries", Traced: tr, Workload: roofline.Workload{AcceptedTokens: accepted}, Measured: unit.FromMillis(6 / accepted)}
			l := Attribute(e)
			if !l.Closes() {
				t.Errorf("accepted %g, traced %v: floor and rungs do not add up: %+v", accepted, tr != nil, l)
			}
			sums := map[Cause]Nanoseconds{}
			for _, r := range l.Rungs {
				sums[r.Cause] += r.Time
				if r.Cause == CeilingLoss && (!strings.Contains(r.Text, "80.0 % of its sheet bandwidth") || !strings.Contains(r.Evidence, "probed today by cpu/read")) {
					t.Errorf("ceiling rung %q by %q", r.Text, r.Evidence)
				}
				if r.Cause == Latency && r.Text != "0 stage boundaries" {
					t.Errorf("latency rung %q", r.Text)
				}
			}
			if want := Nanoseconds(875_000 / accepted); sums[CeilingLoss] != want {
				t.Errorf("accepted %g: ceiling %d ns, want %d", accepted, sums[CeilingLoss], want)
			}
			if want := Nanoseconds(1_125_000 / accepted); tr != nil && sums[Kernel] != want {
				t.Errorf("accepted %g: kernels %d ns beyond what was probed, want %d", accepted, sums[Kernel], want)
			}
		}
	}
	if l := Attribute(Evidence{Ideal: ideal, Layout: layout, Workload: roofline.Workload{AcceptedTokens: 1}, Measured: unit.FromMillis(6)}); len(l.Rungs) != 1 {
		t.Errorf("without probes: %+v", l.Rungs)
	}
}
