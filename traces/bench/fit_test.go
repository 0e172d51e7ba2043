package bench

import (
	"math"
	"testing"
)

func point(batch, ms float64, input float64) Result {
	output := 100.0
	r := Result{Tool: "t", Concurrency: &batch, TPOT: Summary{Mean: &ms}}
	if input > 0 {
		r.RequestInput, r.RequestOutput = &input, &output
	}
	return r
}

func TestFitRecoversThePlane(t *testing.T) {
	var rs []Result
	for i, batch := range []float64{1, 4, 16, 64, 8} {
		input := []float64{500, 4000, 1000, 2000, 16000}[i]
		rs = append(rs, point(batch, 12+0.5*batch+0.02*batch*(input+50)/1000, input))
	}
	fit, warnings := FitSteps(rs)
	if fit == nil || fit.PerKilotokenMs == nil {
		t.Fatalf("no fit: %v", warnings)
	}
	near(t, "fixed", &fit.FixedMs, 12)
	near(t, "per sequence", &fit.PerSequenceMs, 0.5)
	near(t, "per kilotoken", fit.PerKilotokenMs, 0.02)
	if fit.ResidualMs > 1e-9 || fit.Points != 5 || fit.Statistic != "mean" {
		t.Errorf("%+v", fit)
	}
}

func TestFitResidual(t *testing.T) {
	// t = 10 + batch with errors +1, −2, +1 at equal steps: the line stays.
	rs := []Result{point(1, 12, 0), point(2, 10, 0), point(3, 14, 0)}
	fit, _ := FitSteps(rs)
	near(t, "fixed", &fit.FixedMs, 10)
	near(t, "per sequence", &fit.PerSequenceMs, 1)
	near(t, "residual", &fit.ResidualMs, math.Sqrt(6))
}

func TestFitRefuses(t *testing.T) {
	same := []Result{point(1, 10, 500), point(4, 12, 500), point(16, 20, 500), point(64, 52, 500)}
	fit, _ := FitSteps(same)
	if fit == nil || fit.PerKilotokenMs != nil {
		t.Errorf("one context: %+v, want a fit without a cost per kilotoken", fit)
	}
	other := point(8, 15, 500)
	other.Model = "another"
	flagged := point(128, 9000, 0)
	flagged.Warnings = []Warning{{"overload", ""}}
	for name, tc := range map[string]struct {
		results []Result
		warning string
	}{
		"two points":     {same[:2], ""},
		"narrow batches": {[]Result{point(10, 1, 0), point(12, 2, 0), point(15, 3, 0)}, ""},
		"two batches":    {[]Result{point(1, 1, 0), point(1, 2, 0), point(8, 3, 0)}, ""},
		"two models":     {append(same[:3:3], other), "fit-mixed"},
		"falling times":  {[]Result{point(1, 30, 0), point(4, 20, 0), point(16, 10, 0)}, "fit-not-linear"},
		"below zero":     {[]Result{point(1, 1, 0), point(4, 16, 0), point(16, 256, 0)}, "fit-not-linear"},
		"overloaded":     {append(same[:2:2], flagged), ""},
	} {
		fit, warnings := FitSteps(tc.results)
		if fit != nil {
			t.Errorf("%s: %+v", name, fit)
		}
		if got := len(warnings) == 1 && warnings[0].Code == tc.warning; (tc.warning != "") != got {
			t.Errorf("%s: warnings %v, want %q", name, warnings, tc.warning)
		}
	}
}
