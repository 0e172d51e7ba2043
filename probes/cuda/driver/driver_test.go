//go:build cgo && linux

package driver

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/cudatest"
)

const (
	root = "../../.."
	ptx  = ".version 7.4\n.visible .entry copy_words(\n"
)

func open(t *testing.T, flags ...string) *Device {
	t.Helper()
	l, err := Open(cudatest.Library(t, root, flags...))
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Device(0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// TestThreads: calls from any goroutine find the context; the stand-in refuses
// those whose thread has none.
func TestThreads(t *testing.T) {
	d := open(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			m, err := d.Allocate(4096)
			if err != nil {
				t.Errorf("goroutine %d: %v", i, err)
				return
			}
			defer m.Free()
			want := []uint32{1, 2, uint32(i)}
			got := make([]uint32, 3)
			if err := errors.Join(Write(m, 8, want), Read(m, 8, got)); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("goroutine %d: wrote %v, read %v, %v", i, want, got, err)
			}
		})
	}
	all.Wait()
}

// TestBounds: nothing outside an operand is touched.
func TestBounds(t *testing.T) {
	d := open(t)
	m, err := d.Allocate(16)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	for _, offset := range []int64{-1, 13, 17, 1 << 62} {
		if Write(m, offset, []uint32{1}) == nil || Read(m, offset, []uint32{1}) == nil {
			t.Errorf("offset %d of 16 bytes: no error for four bytes", offset)
		}
	}
	if _, err := d.Allocate(0); err == nil {
		t.Error("no error for an operand of no bytes")
	}
}

// TestDependent: without cuLaunchKernelEx a dependent launch is unsupported,
// and a plain one runs.
func TestDependent(t *testing.T) {
	for _, flags := range [][]string{nil, {"-DWITHOUT_LAUNCH_EX"}} {
		d := open(t, flags...)
		m, err := d.Load(ptx)
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("copy_words", 100<<10)
		if err != nil {
			t.Fatal(err)
		}
		l := (&Launch{Kernel: k, Grid: 1, Block: 32}).Arg(uint64(0), uint64(0), uint64(0))
		if err := d.Run(l); err != nil {
			t.Errorf("plain, %v: %v", flags, err)
		}
		l.Dependent = true
		err = d.Run(l)
		var missing *ErrUnsupported
		if flags == nil && err != nil || flags != nil && (!errors.As(err, &missing) || missing.Symbol != "cuLaunchKernelEx" || missing.Needs != 11080) {
			t.Errorf("dependent, %v: %v", flags, err)
		}
		if _, err := d.Graph([]*Launch{l}); (err != nil) != (flags != nil) {
			t.Errorf("dependent in a graph, %v: %v", flags, err)
		}
		// A capture that failed is over: the next one works.
		l.Dependent = false
		g, err := d.Graph([]*Launch{l, l})
		if err != nil || g.Nodes != 2 {
			t.Errorf("graph after, %v: %v", flags, err)
		}
	}
}

// TestLost: after an error that the context does not survive, every call
// returns its cause at once.
func TestLost(t *testing.T) {
	t.Setenv("FAKECUDA_FAULT", "copy_words")
	d := open(t)
	m, err := d.Load(ptx)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("copy_words", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run((&Launch{Kernel: k, Grid: 1, Block: 32}).Arg(uint64(0), uint64(0), uint64(0))); err != nil {
		t.Fatalf("the launch itself: %v", err)
	}
	if err := d.Finish(t.Context(), time.Second); !Lost(err) || !strings.Contains(err.Error(), "CUDA_ERROR_ILLEGAL_ADDRESS") {
		t.Errorf("wait: %v, expected the device to be lost to an illegal address", err)
	}
	if _, err := d.Allocate(1); !Lost(err) {
		t.Errorf("allocation on a lost device: %v", err)
	}
	if d.Lost() == nil {
		t.Error("the device does not know that it is lost")
	}
}

// TestDeadline: a wait ends by its deadline, and so does a call that the
// driver never returns from.
func TestDeadline(t *testing.T) {
	t.Setenv("FAKECUDA_HANG", "copy_words")
	d := open(t)
	m, err := d.Load(ptx)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("copy_words", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run((&Launch{Kernel: k, Grid: 1, Block: 32}).Arg(uint64(0), uint64(0), uint64(0))); err != nil {
		t.Fatal(err)
	}
	var late *ErrDeadline
	if err := d.Finish(t.Context(), 10*time.Millisecond); !errors.As(err, &late) || late.After != 10*time.Millisecond {
		t.Errorf("%v: expected the deadline", err)
	}

	d = open(t)
	d.limit = 50 * time.Millisecond
	t.Setenv("FAKECUDA_STALL", "cuMemAlloc_v2")
	if _, err := d.Allocate(1); !errors.As(err, &late) || late.Call != "cuMemAlloc" {
		t.Errorf("stalled call: %v", err)
	}
}

// TestError: short in %v, the whole log in %+v.
func TestError(t *testing.T) {
	e := &Error{Call: "cuModuleLoadDataEx", Code: 218, Name: "CUDA_ERROR_INVALID_PTX", Log: "first\nsecond\n"}
	if got, want := fmt.Sprintf("%v", e), "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: first"; got != want {
		t.Errorf("%%v: %q, expected %q", got, want)
	}
	if got, want := fmt.Sprintf("%+v", e), "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: first\nfirst\nsecond"; got != want {
		t.Errorf("%%+v: %q, expected %q", got, want)
	}
	if errors.Is(e, probes.ErrUnsupported) || !errors.Is(&Error{Code: outOfMemory}, probes.ErrUnsupported) {
		t.Error("what counts as unsupported is mixed up")
	}
}
