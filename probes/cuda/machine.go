//go:build cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/probes/cuda/kernels"
	"decodegap/roofline/unit"
)

// waitLimit is the deadline of every wait for the GPU, by default. What is
// waited for takes tens of milliseconds.
const waitLimit = 5 * time.Second

// callShare is how many such deadlines one call into the driver may take:
// compiling the kernels is one.
const callShare = 12

// Machine is a GPU with the kernels loaded so far.
type Machine struct {
	device  *driver.Device
	library *driver.Library
	modules map[string]*driver.Module
	limit   time.Duration // of every wait
	holding *driver.Kernel
	sparing bool       // graphs of one round: for sanitizers, which make launches dear
	others  []*Machine // further GPUs that a probe asked for, on the same library
}

// Open opens the i-th GPU of the driver at path, "" for the system's. Every
// wait for the GPU ends by the deadline, 0 for the default.
func Open(path string, i int, deadline time.Duration) (*Machine, error) {
	return openAfter(path, i, deadline, func(*driver.Library) {})
}

// openAfter opens the GPU after a look at it while nothing of ours runs there.
func openAfter(path string, i int, deadline time.Duration, look func(*driver.Library)) (*Machine, error) {
	if deadline <= 0 {
		deadline = waitLimit
	}
	l, err := driver.Open(path)
	if err != nil {
		return nil, err
	}
	look(l)
	m, err := openOn(l, i, deadline)
	if err != nil {
		l.Close()
	}
	return m, err
}

// openOn opens a GPU of a library that stays the caller's if that fails.
func openOn(l *driver.Library, i int, deadline time.Duration) (*Machine, error) {
	d, err := l.Device(i, callShare*deadline)
	if err != nil {
		return nil, err
	}
	m := &Machine{device: d, library: l, modules: map[string]*driver.Module{}, limit: deadline}
	if m.holding, err = m.kernel("hold", "hold", 0); err != nil {
		m.leave()
		return nil, err
	}
	return m, nil
}

// leave gives the GPU back, unless it is lost: then only the process's end
// does.
func (m *Machine) leave() (left bool) {
	if m.device.Lost() != nil {
		return false
	}
	for _, mod := range m.modules {
		mod.Unload()
	}
	m.device.Close()
	return true
}

// Close gives the GPU and all that were opened beside it back, and the library
// if none of them is lost.
func (m *Machine) Close() {
	all := m.leave()
	for _, o := range m.others {
		all = o.leave() && all
	}
	if all {
		m.library.Close()
	}
}

// reserve is memory that is left to the driver and to others.
const reserve = 0.1

// Host is what probes may ask of this machine: the process's threads, and the
// GPU. memory bounds what operands may take, 0 for what is free.
func (m *Machine) Host(memory unit.Bytes) probes.Host {
	g := m.device.GPU()
	g.Handle = m
	h := probes.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, GPU: &g, LastLevel: g.L2, Memory: g.Memory, Available: g.Free, Budget: memory}
	if memory == 0 {
		h.Budget = g.Free * (1 - reserve)
	}
	// The reference's operands stay beside those of the case that is timed.
	h.Budget /= 2
	return h
}

// on is the machine of a host.
func on(h probes.Host) (*Machine, error) {
	if h.GPU != nil {
		if m, ok := h.GPU.Handle.(*Machine); ok {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%w: no GPU is open", probes.ErrUnsupported)
}

// kernel loads the best build of a source for this GPU and finds an entry.
func (m *Machine) kernel(source, entry string, shared int) (*driver.Kernel, error) {
	g := m.device.GPU()
	b, err := kernels.Find(source, g.Major, g.Minor)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", probes.ErrUnsupported, err)
	}
	mod := m.modules[b.Name()]
	if mod == nil {
		text, err := b.PTX()
		if err != nil {
			return nil, err
		}
		if mod, err = m.device.Load(text); err != nil {
			return nil, fmt.Errorf("compile %s for %s: %w", b.Name(), g.Name, err)
		}
		m.modules[b.Name()] = mod
	}
	return mod.Kernel(entry, shared)
}

// allocate is device memory that the budget allows.
func (m *Machine) allocate(h probes.Host, size int64) (*driver.Memory, error) {
	if unit.Bytes(size) > h.Budget {
		return nil, fmt.Errorf("%w: operands of %s, the memory budget is %s", probes.ErrUnsupported, unit.Bytes(size), h.Budget)
	}
	return m.device.Allocate(size)
}

// hold keeps the GPU waiting for as long as enqueueing takes.
func (m *Machine) hold(d time.Duration) *driver.Launch {
	return (&driver.Launch{Kernel: m.holding, Grid: 1, Block: 1}).Arg(uint64(d.Nanoseconds()))
}

// run runs launches and waits for their end.
func (m *Machine) run(ctx context.Context, launches ...*driver.Launch) error {
	if err := m.device.Run(launches...); err != nil {
		return err
	}
	return m.device.Finish(ctx, m.limit)
}

// cold is how many second-level caches lie between two uses of one line.
const cold = 5

// copies is how many operand sets of each bytes keep every run cold.
func copies(h probes.Host, each unit.Bytes) (int, error) {
	if each <= 0 {
		return 1, nil
	}
	if h.GPU.L2 <= 0 {
		return 0, errors.New("the driver does not say how large the second-level cache is")
	}
	n := int(cold*h.GPU.L2/each) + 2
	if unit.Bytes(n)*each > h.Budget {
		return 0, fmt.Errorf("%w: %d operand sets of %s keep a second-level cache of %s cold, the memory budget is %s",
			probes.ErrUnsupported, n, each, h.GPU.L2, h.Budget)
	}
	return n, nil
}
