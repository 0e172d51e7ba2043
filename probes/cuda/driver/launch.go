//go:build cgo && linux

package driver

// #include "cuda.h"
import "C"

import (
	"context"
	"fmt"
	"math"
	"time"
	"unsafe"
)

// Launch is one kernel with its grid and parameters, ready to be enqueued.
type Launch struct {
	Kernel      *Kernel
	Grid, Block int
	Shared      int  // bytes of dynamic shared memory of a block
	Dependent   bool // may begin before its predecessor has ended (sm_90)
	Cluster     int  // blocks that run side by side and read each other's shared memory (sm_90); 0 for none
	values      [30]uint64
	offsets     [30]C.int
	words       int // of values
	count       int // of parameters
}

// Arg adds a parameter: uint64 (an address too), uint32, int32, float32, or
// [8]uint64 for a structure of so many addresses.
func (l *Launch) Arg(values ...any) *Launch {
	for _, v := range values {
		l.offsets[l.count] = C.int(8 * l.words)
		l.count++
		if all, ok := v.([8]uint64); ok {
			l.words += copy(l.values[l.words:l.words+len(all)], all[:])
			continue
		}
		var word uint64
		switch v := v.(type) {
		case uint64:
			word = v
		case uint32:
			word = uint64(v)
		case int32:
			word = uint64(uint32(v))
		case float32:
			word = uint64(math.Float32bits(v))
		default:
			panic(fmt.Sprintf("a kernel's parameter of type %T", v))
		}
		l.values[l.words] = word
		l.words++
	}
	return l
}

// enqueue runs on the worker.
func (l *Launch) enqueue(d *Device) error {
	dependent := C.int(0)
	if l.Dependent || l.Cluster > 1 {
		if err := d.lib.lacks("cuLaunchKernelEx"); err != nil {
			return err
		}
	}
	if l.Dependent {
		dependent = 1
	}
	return d.check("launch of "+l.Kernel.name, C.dgc_launch(d.lib.t, l.Kernel.f, C.uint(l.Grid), C.uint(l.Block), C.uint(l.Shared), d.stream,
		dependent, C.uint(l.Cluster), unsafe.Pointer(&l.values[0]), &l.offsets[0], C.int(l.count)))
}

// Run enqueues launches one after another.
func (d *Device) Run(launches ...*Launch) error {
	return d.do("launch", func() error {
		for _, l := range launches {
			if err := l.enqueue(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// Graph is a fixed sequence of launches, which the GPU starts by itself one
// after another.
type Graph struct {
	d     *Device
	exec  C.dgc_word
	Nodes int
}

// relaxed is CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: the worker's own calls alone
// are watched for what capture forbids.
const threadLocal = 1

// Graph makes a graph of launches.
func (d *Device) Graph(launches []*Launch) (*Graph, error) {
	g := &Graph{d: d, Nodes: len(launches)}
	err := d.do("make a graph", func() error {
		t := d.lib.t
		if err := d.check("cuStreamBeginCapture", C.dgc_cuStreamBeginCapture_v2(t, d.stream, threadLocal)); err != nil {
			return err
		}
		var failed error
		for _, l := range launches {
			if failed = l.enqueue(d); failed != nil {
				break
			}
		}
		var graph C.dgc_word
		err := d.check("cuStreamEndCapture", C.dgc_cuStreamEndCapture(t, d.stream, &graph))
		if graph != 0 {
			defer C.dgc_cuGraphDestroy(t, graph)
		}
		if failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
		if err := d.check("cuGraphInstantiate", C.dgc_cuGraphInstantiateWithFlags(t, &g.exec, graph, 0)); err != nil {
			return err
		}
		return d.check("cuGraphUpload", C.dgc_cuGraphUpload(t, g.exec, d.stream))
	})
	if err != nil {
		g.Free()
		return nil, err
	}
	return g, nil
}

// Free gives the graph's memory back.
func (g *Graph) Free() {
	if g == nil || g.exec == 0 {
		return
	}
	_ = g.d.do("cuGraphExecDestroy", func() error {
		return g.d.check("cuGraphExecDestroy", C.dgc_cuGraphExecDestroy(g.d.lib.t, g.exec))
	})
	g.exec = 0
}

// Time runs graphs one after another, behind what keeps the GPU waiting until
// all of them are enqueued, and returns the seconds from the first to the end of
// the last by the GPU's events.
func (d *Device) Time(ctx context.Context, deadline time.Duration, graphs []*Graph, before ...*Launch) (float64, error) {
	err := d.do("enqueue graphs", func() error {
		t := d.lib.t
		for _, l := range before {
			if err := l.enqueue(d); err != nil {
				return err
			}
		}
		if err := d.check("cuEventRecord", C.dgc_cuEventRecord(t, d.begin, d.stream)); err != nil {
			return err
		}
		for _, g := range graphs {
			if err := d.check("cuGraphLaunch", C.dgc_cuGraphLaunch(t, g.exec, d.stream)); err != nil {
				return err
			}
		}
		return d.check("cuEventRecord", C.dgc_cuEventRecord(t, d.end, d.stream))
	})
	if err != nil {
		return 0, err
	}
	if err := d.wait(ctx, deadline, "a timed graph"); err != nil {
		return 0, err
	}
	var ms C.float
	err = d.do("cuEventElapsedTime", func() error {
		return d.check("cuEventElapsedTime", C.dgc_cuEventElapsedTime(d.lib.t, &ms, d.begin, d.end))
	})
	return float64(ms) * 1e-3, err
}

// TimeStream enqueues launches one after another without a graph, and returns
// the seconds from the first to the end of the last by the GPU's events, and
// those that the host needed to enqueue them.
func (d *Device) TimeStream(ctx context.Context, deadline time.Duration, launches []*Launch) (gpu, host float64, err error) {
	err = d.do("enqueue launches", func() error {
		t := d.lib.t
		if err := d.check("cuEventRecord", C.dgc_cuEventRecord(t, d.begin, d.stream)); err != nil {
			return err
		}
		begin := time.Now()
		for _, l := range launches {
			if err := l.enqueue(d); err != nil {
				return err
			}
		}
		host = time.Since(begin).Seconds()
		return d.check("cuEventRecord", C.dgc_cuEventRecord(t, d.end, d.stream))
	})
	if err != nil {
		return 0, 0, err
	}
	if err := d.wait(ctx, deadline, "timed launches"); err != nil {
		return 0, 0, err
	}
	var ms C.float
	err = d.do("cuEventElapsedTime", func() error {
		return d.check("cuEventElapsedTime", C.dgc_cuEventElapsedTime(d.lib.t, &ms, d.begin, d.end))
	})
	return float64(ms) * 1e-3, host, err
}

// Finish waits until all that was enqueued has ended.
func (d *Device) Finish(ctx context.Context, deadline time.Duration) error {
	err := d.do("cuEventRecord", func() error {
		return d.check("cuEventRecord", C.dgc_cuEventRecord(d.lib.t, d.end, d.stream))
	})
	if err != nil {
		return err
	}
	return d.wait(ctx, deadline, "the work enqueued")
}

// How the event is asked for: often at first, since most blocks are short.
const (
	pollFirst = 50 * time.Microsecond
	pollLast  = 2 * time.Millisecond
	grace     = 150 * time.Millisecond // for what runs when a context is cancelled
)

// wait polls the end event. A deadline that passes loses the device; after a
// cancelled context what runs is left to end by itself.
func (d *Device) wait(ctx context.Context, deadline time.Duration, what string) error {
	begin := time.Now()
	var cancelled time.Time
	for pause := pollFirst; ; pause = min(2*pause, pollLast) {
		ready := false
		err := d.do("cuEventQuery", func() error {
			r := C.dgc_cuEventQuery(d.lib.t, d.end)
			if r == notReady {
				return nil
			}
			ready = r == 0
			return d.check("cuEventQuery", r)
		})
		now := time.Now()
		switch {
		case err != nil:
			return err
		case ready:
			return ctx.Err()
		case now.Sub(begin) > deadline:
			return d.lose(&ErrDeadline{Call: what, After: deadline})
		case ctx.Err() != nil && cancelled.IsZero():
			cancelled = now
		case !cancelled.IsZero() && now.Sub(cancelled) > grace:
			return ctx.Err()
		}
		time.Sleep(pause)
	}
}
