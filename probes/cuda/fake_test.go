//go:build cgo && linux

package cuda

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
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

// foreign is a library of another machine: an ELF file's head for 32-bit Arm.
func foreign(t *testing.T) string {
	return file(t, append([]byte("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x28\x00\x01\x00\x00\x00"), make([]byte, 4096)...))
}

func text(t *testing.T) string {
	return file(t, []byte(strings.Repeat("libcuda is not here: install the driver\n", 100)))
}

func file(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestChildren: whatever a child writes instead of its lines is one error, or
// costs the case that it was at.
func TestChildren(t *testing.T) {
	const gpu, at = `{"gpu":{"name":"G"}}`, `{"progress":{"Probe":"cuda/read","Case":"one"}}`
	for _, c := range []struct{ name, script, want string }{
		{"nothing", "exit 0", "ended early: without a word"},
		{"words", "echo hello", "ended early: it wrote what is no line of the protocol: invalid character"},
		{"a cut line", `printf '{"gpu":{"na'`, "it wrote what is no line of the protocol: unexpected end of JSON input"},
		{"another shape", `echo '{"result":7}'`, "it wrote what is no line of the protocol: json: cannot unmarshal number"},
		{"a line without end", "head -c 40000000 /dev/zero", "ended early: bufio.Scanner: token too long"},
		{"lines without end", "while :; do echo '{}'; done", "writes lines without end"},
		{"an end of its own", "echo 'cannot go on' >&2; exit 9", "ended early: exit status 9: cannot go on"},
		{"an end in a case", "echo '" + gpu + "'; echo '" + at + "'; exit 9", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Parent{Command: func(ctx context.Context) *exec.Cmd {
				return exec.CommandContext(ctx, "/bin/sh", "-c", c.script)
			}}
			out, err := p.Run(t.Context(), Request{Probes: []string{"cuda/read"}, Budget: time.Second})
			if c.want != "" {
				if err == nil || errors.Is(err, probes.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v: expected it to say %q", err, c.want)
				}
				return
			}
			if err != nil || len(out.Run.Results) != 1 || !strings.Contains(out.Run.Results[0].Reason, "exit status 9") || out.Run.Results[0].Outcome != probes.Failed {
				t.Errorf("%+v, %v: expected the case to fail once", out, err)
			}
		})
	}
}

// TestVisible: a GPU that is named by its UUID is the one that is probed.
func TestVisible(t *testing.T) {
	p := &Parent{Command: thisProgram("CUDA_VISIBLE_DEVICES=GPU-0f0f0f0f-1111-2222-3333-444444444444", "FAKECUDA_NAME=NVIDIA H200 MIG 1g.18gb", telemetryVariable+"=plain")}
	out, err := p.Run(t.Context(), fakeRequest(cudatest.Library(t, root)))
	if err != nil {
		t.Fatal(err)
	}
	if out.GPU.Name != "NVIDIA H200 MIG 1g.18gb" || out.GPU.Reported == nil || outcomes(out.Run)["cuda/copy"].Outcome != probes.Measured {
		t.Errorf("GPU %+v, %+v", out.GPU, outcomes(out.Run)["cuda/copy"])
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
		{"busy", plain, []string{"FAKECUDA_FAIL=cuDevicePrimaryCtxRetain:46"}, "CUDA_ERROR_DEVICE_UNAVAILABLE: another process has the GPU to itself"},
		{"prohibited", plain, []string{"FAKECUDA_MODE=2"}, "the compute mode of GPU 0 is prohibited"},
		{"all hidden", plain, []string{"CUDA_VISIBLE_DEVICES="}, `CUDA_ERROR_NO_DEVICE; CUDA_VISIBLE_DEVICES="" hides GPUs`},
		{"another is visible", plain, []string{"CUDA_VISIBLE_DEVICES=GPU-ffffffff-1111-2222-3333-444444444444"}, `CUDA_VISIBLE_DEVICES="GPU-ffffffff-1111-2222-3333-444444444444" hides GPUs`},
		{"another machine's", foreign(t), nil, "libcuda.so.1: the NVIDIA driver's library was not loaded"},
		{"a text", text(t), nil, "invalid ELF header"},
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
		{name: "killed", variables: []string{"FAKECUDA_KILL=copy_words"}, want: probes.Failed, reason: "ended early: signal: killed (by somebody, or by the kernel for want of memory"},
		{name: "garbage", variables: []string{"FAKECUDA_BABBLE=copy_words"}, want: probes.Failed, reason: "ended early: it wrote what is no line of the protocol"},
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

// TestStalledInit: a driver whose first call never returns is told, in time.
func TestStalledInit(t *testing.T) {
	p := &Parent{Command: thisProgram("FAKECUDA_STALL=cuInit")}
	req := fakeRequest(cudatest.Library(t, root))
	req.Deadline = 20 * time.Millisecond
	if _, err := p.Run(t.Context(), req); err == nil || !strings.Contains(err.Error(), "did not open the GPU within 260ms") {
		t.Errorf("%v", err)
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
