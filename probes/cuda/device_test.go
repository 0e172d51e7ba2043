//go:build cgo && linux && device

package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// The tests of this file need a GPU: make gpu-test builds them into a program
// that needs no Go where it runs.

// wanted narrows the probes down: DECODEGAP_PROBES=cuda/read,cuda/gemv_bf16.
func wanted() []string {
	if v := os.Getenv("DECODEGAP_PROBES"); v != "" {
		return strings.Split(v, ",")
	}
	var names []string
	for _, p := range All {
		names = append(names, p.Name)
	}
	return names
}

// budget is DECODEGAP_BUDGET, or two minutes.
func budget(t *testing.T) time.Duration {
	v := os.Getenv("DECODEGAP_BUDGET")
	if v == "" {
		return 2 * time.Minute
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		t.Fatalf("DECODEGAP_BUDGET: %v", err)
	}
	return d
}

func runOn(t *testing.T, req Request) *Outcome {
	t.Helper()
	p := &Parent{Command: thisProgram()}
	out, err := p.Run(t.Context(), req)
	if errors.Is(err, probes.ErrUnsupported) {
		t.Skipf("no GPU to test on: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDevice runs every probe on the GPU at hand and prints what it reached.
// Each result was checked against float64 by the session; a wrong one fails.
func TestDevice(t *testing.T) {
	out := runOn(t, Request{Probes: wanted(), Budget: budget(t)})
	g, run := out.GPU, out.Run
	t.Logf("%s, compute capability %d.%d, %d multiprocessors, L2 %s, driver for CUDA %s, took %s", g.Name, g.Major, g.Minor, g.SMs, g.L2, g.Driver, run.Took.Round(time.Second))
	if run.Read == nil {
		t.Error("no read ceiling")
	} else {
		t.Logf("read ceiling %.0f GB/s (%s, %s)", run.Read.Median/1e9, run.ReadKernel, run.ReadVerdict)
	}
	if run.Noise != nil {
		t.Logf("noise floor %.2f %%", 100**run.Noise)
	}
	for _, n := range run.Notes {
		t.Log(n)
	}
	for _, u := range run.Undone {
		t.Errorf("not done within the budget: %s", u)
	}
	for _, r := range run.Results {
		if r.Outcome != probes.Measured {
			t.Logf("%-18s %-24s %s: %s", r.Probe, r.Case.Name, r.Outcome, r.Reason)
			if r.Outcome == probes.Failed {
				t.Fail()
			}
			continue
		}
		share := "-"
		if r.Share != nil {
			share = fmt.Sprintf("%.3f", r.Share.Median)
		}
		t.Logf("%-18s %-24s %9.2f µs  %6.0f GB/s  share %s ±%.1f %% %-10s rel L2 %.1e of %d  [%s] %s", r.Probe, r.Case.Name, 1e6*r.Time.Median,
			float64(r.Case.Bytes)/r.Time.Median/1e9, share, 100*r.Time.HalfWidth(), r.Verdict, r.Checked.RelativeL2, r.Checked.Values, r.Kernel, strings.Join(r.Doubts, "; "))
	}
}

// TestDeviceHang: a kernel that never ends costs its own results and not the
// others.
func TestDeviceHang(t *testing.T) {
	out := runOn(t, Request{Probes: []string{"cuda/copy", "cuda/gemv_nvfp4"}, Budget: 15 * time.Second, Hang: "cuda/copy"})
	outcomes := map[string]probes.Outcome{}
	for _, r := range out.Run.Results {
		t.Logf("%s %s: %s %s", r.Probe, r.Case.Name, r.Outcome, r.Reason)
		if r.Probe == "cuda/copy" && !strings.Contains(r.Reason, "did not end within") {
			t.Errorf("%s: expected the deadline as the reason", r.Probe)
		}
		if outcomes[r.Probe] == "" || r.Outcome == probes.Measured {
			outcomes[r.Probe] = r.Outcome
		}
	}
	if outcomes["cuda/copy"] != probes.Failed || outcomes["cuda/gemv_nvfp4"] != probes.Measured {
		t.Errorf("outcomes %v: expected the copy to fail and the product to be measured", outcomes)
	}
	if out.Run.Read == nil {
		t.Error("no read ceiling after the child was lost")
	}
}

// TestDeviceChecks has each probe run one graph of each case and its output
// checked, and prints the time of one: what compute-sanitizer can go over,
// slowly. With DECODEGAP_SPARING=1 it is the first case of each, in graphs of
// one round.
func TestDeviceChecks(t *testing.T) {
	m, err := Open("", 0, 5*time.Minute)
	if errors.Is(err, probes.ErrUnsupported) {
		t.Skipf("no GPU to test on: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.sparing = os.Getenv("DECODEGAP_SPARING") != ""
	h := m.Host(8 << 30)
	for _, name := range wanted() {
		for _, p := range All {
			if p.Name != name {
				continue
			}
			plan := p.Plan(h)
			if m.sparing {
				plan = plan[:min(len(plan), 1)]
			}
			for _, c := range plan {
				s, err := p.Prepare(t.Context(), h, c)
				if errors.Is(err, probes.ErrUnsupported) {
					t.Logf("%s %s: %v", p.Name, c.Name, err)
					continue
				}
				if err != nil {
					t.Errorf("%s %s: %+v", p.Name, c.Name, err)
					continue
				}
				seconds, err := s.Time(t.Context(), 1)
				if err != nil {
					t.Errorf("%s %s: %+v", p.Name, c.Name, err)
				} else {
					t.Logf("%s %s: %.2f µs [%s]", p.Name, c.Name, 1e6*seconds[0], s.Kernel())
				}
				got, err := s.Verify()
				if err != nil || !got.OK() {
					t.Errorf("%s %s: %+v, %v", p.Name, c.Name, got, err)
				}
				s.Close()
			}
		}
	}
}

// TestDeviceAbsentRank: a rank that never arrives is found by the others'
// kernels, within their own patience, and the GPUs can be used on.
func TestDeviceAbsentRank(t *testing.T) {
	m, err := Open("", 0, 4*time.Second)
	if errors.Is(err, probes.ErrUnsupported) || err == nil && AllReduce.Check(m.Host(0)) != nil {
		t.Skip("fewer than two GPUs to test on")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := m.Host(0)
	s, err := AllReduce.Prepare(t.Context(), h, AllReduce.Plan(h)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := s.(*exchange)
	all := e.ranks
	if err := e.clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err = all[0].m.device.Time(t.Context(), m.limit, []*driver.Graph{all[0].graph}, all[0].meeting)
	late := e.late()
	t.Logf("after %s: %v, %v", time.Since(begin).Round(time.Millisecond), err, late)
	if err != nil || late == nil {
		t.Errorf("expected the graph to end by itself and the absent rank to be named")
	}
	if _, err := e.Time(t.Context(), 1); err != nil {
		t.Errorf("after that: %v", err)
	}
}
