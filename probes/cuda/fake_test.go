//go:build cgo && linux

package cuda

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/cudatest"
)

const root = "../.."

// fakeRequest is one of the stand-in's two probes, with short waits.
func fakeRequest(library string) Request {
	return Request{Library: library, Probes: []string{"cuda/read", "cuda/copy"}, Budget: time.Minute, Deadline: 500 * time.Millisecond}
}

// outcomes are the results by probe.
func outcomes(run *probes.Run) map[string]probes.Result {
	all := map[string]probes.Result{}
	for _, r := range run.Results {
		all[r.Probe] = r
	}
	return all
}

// TestWhole goes the whole way: library, device, kernels, graphs, events,
// checks, session, child and parent.
func TestWhole(t *testing.T) {
	lib := cudatest.Library(t, root)
	var seen []string
	p := &Parent{Command: thisProgram(), Progress: func(p probes.Progress) { seen = append(seen, p.Probe) }}
	out, err := p.Run(t.Context(), fakeRequest(lib))
	if err != nil {
		t.Fatal(err)
	}
	if out.GPU.Name != "Fake [31mGPU" || out.GPU.SMs != 2 || out.GPU.Driver != "13.0" {
		t.Errorf("GPU %+v", out.GPU)
	}
	// The stand-in reads 2 bytes a nanosecond after a microsecond.
	rate := func(bytes float64) float64 { return bytes / (1e-6 + bytes/2e9) }
	got := outcomes(out.Run)
	for _, name := range []string{"cuda/read", "cuda/copy"} {
		r := got[name]
		if r.Outcome != probes.Measured || r.Time == nil {
			t.Errorf("%s: %s %s", name, r.Outcome, r.Reason)
			continue
		}
		bytes := float64(r.Case.Bytes)
		if v := bytes / r.Time.Median; math.Abs(v/rate(bytes)-1) > 1e-3 {
			t.Errorf("%s: %g B/s, the script says %g", name, v, rate(bytes))
		}
	}
	if out.Run.Read == nil || math.Abs(out.Run.Read.Median/rate(float64(got["cuda/read"].Case.Bytes))-1) > 1e-3 {
		t.Errorf("read ceiling %+v", out.Run.Read)
	}
	if len(out.Run.Results) != 2 || len(seen) != 2 {
		t.Errorf("%d results, told of %q", len(out.Run.Results), seen)
	}
}

// TestMissing: what a machine lacks is an error that wraps ErrUnsupported and
// names it.
func TestMissing(t *testing.T) {
	plain := cudatest.Library(t, root)
	for _, c := range []struct {
		name, library string
		variables     []string
		want          string
	}{
		{"no library", "/nowhere/libcuda.so.1", nil, "/nowhere/libcuda.so.1: the NVIDIA driver's library was not loaded"},
		{"no GPU", plain, []string{"FAKECUDA_DEVICES=0"}, "there is no GPU 0"},
		{"old driver", plain, []string{"FAKECUDA_VERSION=10020"}, "is for CUDA 10.2, probes need 11.4"},
		{"missing symbol", cudatest.Library(t, root, "-DWITHOUT_GRAPHS"), nil, "has no cuGraphLaunch"},
		{"init", plain, []string{"FAKECUDA_FAIL=cuInit:100"}, "cuInit: CUDA_ERROR_NO_DEVICE"},
		{"PTX too new", plain, []string{"FAKECUDA_FAIL=cuModuleLoadDataEx:222"}, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Parent{Command: thisProgram(c.variables...)}
			_, err := p.Run(t.Context(), fakeRequest(c.library))
			if !errors.Is(err, probes.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: expected it to be unsupported and to say %q", err, c.want)
			}
		})
	}
}

// TestFailures: what fails costs its own results, says why, and leaves the
// others and the read ceiling.
func TestFailures(t *testing.T) {
	lib := cudatest.Library(t, root)
	for _, c := range []struct {
		name      string
		variables []string
		hang      string
		want      probes.Outcome // of the copy
		reason    string
	}{
		{name: "sticky error", variables: []string{"FAKECUDA_FAULT=copy_words"}, want: probes.Failed, reason: "CUDA_ERROR_ILLEGAL_ADDRESS"},
		{name: "kernel without end", variables: []string{"FAKECUDA_HANG=copy_words"}, want: probes.Failed, reason: "did not end within 500ms"},
		{name: "test hook", hang: "cuda/copy", want: probes.Failed, reason: "did not end within 500ms"},
		{name: "crash", variables: []string{"FAKECUDA_CRASH=copy_words"}, want: probes.Failed, reason: "ended early: exit status 2: SIGABRT"},
		{name: "wrong result", variables: []string{"FAKECUDA_WRONG=copy_words"}, want: probes.Failed, reason: "the result is wrong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Parent{Command: thisProgram(c.variables...)}
			req := fakeRequest(lib)
			req.Hang = c.hang
			out, err := p.Run(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			got := outcomes(out.Run)
			if r := got["cuda/copy"]; r.Outcome != c.want || !strings.Contains(r.Reason, c.reason) || r.Time != nil {
				t.Errorf("copy: %s %q, expected %s because of %q and no number", r.Outcome, r.Reason, c.want, c.reason)
			}
			if r := got["cuda/read"]; r.Outcome != probes.Measured {
				t.Errorf("read: %s %q, expected it to be measured", r.Outcome, r.Reason)
			}
			if len(out.Run.Results) != 2 {
				t.Errorf("%d results, expected one of each", len(out.Run.Results))
			}
			if out.Run.Read == nil {
				t.Error("no read ceiling")
			}
		})
	}
}

// TestOutOfMemory: no memory for the operands is an outcome, without numbers.
func TestOutOfMemory(t *testing.T) {
	p := &Parent{Command: thisProgram("FAKECUDA_FAIL=cuMemAlloc_v2:2")}
	out, err := p.Run(t.Context(), fakeRequest(cudatest.Library(t, root)))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Run.Results {
		if r.Outcome != probes.Unsupported || !strings.Contains(r.Reason, "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY") {
			t.Errorf("%s: %s %q", r.Probe, r.Outcome, r.Reason)
		}
	}
	if len(out.Run.Results) != 2 || out.Run.Read != nil {
		t.Errorf("%d results, read ceiling %v", len(out.Run.Results), out.Run.Read)
	}
}

// TestCompile: what the driver's compiler says reaches the error.
func TestCompile(t *testing.T) {
	p := &Parent{Command: thisProgram("FAKECUDA_FAIL=cuModuleLoadDataEx:218")}
	_, err := p.Run(t.Context(), fakeRequest(cudatest.Library(t, root)))
	if err == nil || errors.Is(err, probes.ErrUnsupported) || !strings.Contains(err.Error(), "CUDA_ERROR_INVALID_PTX: ptxas application ptx input, line 9; error   : scripted") {
		t.Errorf("%v: expected the compiler's words", err)
	}
}

// TestStalledDriver: a call that never returns loses the child's GPU, again
// and again, and still ends.
func TestStalledDriver(t *testing.T) {
	p := &Parent{Command: thisProgram("FAKECUDA_STALL=cuStreamEndCapture")}
	req := fakeRequest(cudatest.Library(t, root))
	req.Deadline = 20 * time.Millisecond
	out, err := p.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Run.Results {
		if r.Outcome != probes.Failed || !strings.Contains(r.Reason, "make a graph did not end within 240ms") {
			t.Errorf("%s: %s %q", r.Probe, r.Outcome, r.Reason)
		}
	}
	if len(out.Run.Results) != 2 || out.Run.Read != nil {
		t.Errorf("%d results, read ceiling %v", len(out.Run.Results), out.Run.Read)
	}
}

// TestInterrupted: a cancelled context ends the child and keeps what is done.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &Parent{Command: thisProgram(), Progress: func(p probes.Progress) {
		if p.Probe == "cuda/copy" {
			cancel()
		}
	}}
	out, err := p.Run(ctx, fakeRequest(cudatest.Library(t, root)))
	if err != nil {
		t.Fatal(err)
	}
	got := outcomes(out.Run)
	if !out.Run.Interrupted || got["cuda/read"].Outcome != probes.Measured || len(out.Run.Results) != 1 {
		t.Errorf("interrupted %v, results %+v", out.Run.Interrupted, got)
	}
}
