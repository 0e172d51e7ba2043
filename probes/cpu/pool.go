//go:build cgo && linux

package cpu

// #include "kernels.h"
// #include <stdlib.h>
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"
)

// Pool is a set of pinned threads that run operations together, each
// operation in as many parts as there are threads.
type Pool struct {
	c       *C.dg_pool
	threads int
	cancel  *C.int
}

// NewPool starts a thread on each of the CPUs; the first runs in the caller.
func NewPool(cpus []int) (*Pool, error) {
	if len(cpus) == 0 {
		return nil, fmt.Errorf("no CPU to run on")
	}
	numbers := make([]C.int, len(cpus))
	for i, c := range cpus {
		numbers[i] = C.int(c)
	}
	p := &Pool{c: C.dg_pool_new(C.int(len(cpus)), &numbers[0]), threads: len(cpus)}
	if p.c == nil {
		return nil, fmt.Errorf("the system starts no %d threads", len(cpus))
	}
	p.cancel = (*C.int)(C.calloc(1, C.size_t(unsafe.Sizeof(C.int(0)))))
	return p, nil
}

// Close ends the threads.
func (p *Pool) Close() {
	C.dg_pool_free(p.c)
	C.free(unsafe.Pointer(p.cancel))
	p.c, p.cancel = nil, nil
}

// Threads is how many parts an operation is run in.
func (p *Pool) Threads() int { return p.threads }

// program is a sequence of operations in C memory; several follow one another.
type program struct {
	ops      *C.dg_op
	size     int // operations of one
	programs int
	ready    bool // each operation knows its pool's cancel flag
}

func newProgram(size, programs int) *program {
	return &program{
		ops:  (*C.dg_op)(C.calloc(C.size_t(size*programs), C.size_t(unsafe.Sizeof(C.dg_op{})))),
		size: size, programs: programs,
	}
}

func (g *program) free() { C.free(unsafe.Pointer(g.ops)); g.ops = nil }

// op is the i-th operation of all programs, to be filled.
func (g *program) op(i int) *C.dg_op {
	return &unsafe.Slice(g.ops, g.size*g.programs)[i]
}

// looksEvery is after how many values a loop in Go looks at its context.
const looksEvery = 1 << 16

// watch raises the flag that kernels look at when ctx ends, until the function
// that it returns is called.
func (p *Pool) watch(ctx context.Context) (leave func()) {
	*p.cancel = 0
	stopped := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		C.dg_flag(p.cancel)
		close(stopped)
	})
	return func() {
		if !unwatch() {
			<-stopped // the flag is C memory of the pool: nobody writes it later
		}
	}
}

// touch makes each page of the memory lie at the node of the thread that will
// go over it, where the threads share size bytes as DG_READ does. What else is
// read by many threads lies evenly over the nodes.
func (p *Pool) touch(ctx context.Context, m *memory) error {
	g := newProgram(1, 1)
	defer g.free()
	o := g.op(0)
	o.run, o.bytes, o.y = (C.dg_kernel)(C.dg_touch), C.int64_t(m.size), m.at
	_, _, err := p.run(ctx, g, 0, 1, false)
	return err
}

// run runs n programs from the first-th on, back to the start after the last,
// and returns the nanoseconds of each, and of each operation where perOp.
func (p *Pool) run(ctx context.Context, g *program, first, n int, perOp bool) (whole, each []int64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	for i := 0; i < g.size*g.programs && !g.ready; i++ {
		g.op(i).cancel = p.cancel
	}
	g.ready = true
	defer p.watch(ctx)()
	// C writes to its own memory, not to Go's.
	times := (*C.int64_t)(C.malloc(C.size_t(8 * n)))
	defer C.free(unsafe.Pointer(times))
	var ops *C.int64_t
	if perOp {
		ops = (*C.int64_t)(C.malloc(C.size_t(8 * n * g.size)))
		defer C.free(unsafe.Pointer(ops))
	}
	runtime.LockOSThread() // the run pins the caller's thread
	defer runtime.UnlockOSThread()
	for done := 0; done < n; {
		at := (first + done) % g.programs
		turn := min(n-done, g.programs-at)
		var o *C.int64_t
		if perOp {
			o = (*C.int64_t)(unsafe.Add(unsafe.Pointer(ops), 8*done*g.size))
		}
		got := C.dg_pool_run(p.c, g.op(at*g.size), C.int(g.size), C.int(turn), o,
			(*C.int64_t)(unsafe.Add(unsafe.Pointer(times), 8*done)), p.cancel)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if int(got) != turn {
			return nil, nil, fmt.Errorf("%d of %d runs ended", int(got), turn)
		}
		done += turn
	}
	whole = append(whole, int64s(times, n)...)
	if perOp {
		each = append(each, int64s(ops, n*g.size)...)
	}
	return whole, each, nil
}

func int64s(p *C.int64_t, n int) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(p)), n)
}
