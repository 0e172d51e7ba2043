//go:build cgo && linux

package driver

// #include "cuda.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// Device is one GPU. All its calls run on one operating system's thread of its
// own, with the context set at each: Go moves goroutines between threads, and a
// context belongs to one.
type Device struct {
	lib     *Library
	ordinal C.int
	ctx     C.dgc_word
	stream  C.dgc_word
	begin   C.dgc_word // events around what is timed
	end     C.dgc_word

	facts probes.GPU
	limit time.Duration // of one call
	work  chan func()
	lost  atomic.Pointer[ErrLost]
}

// The attributes of CUdevice_attribute that are asked for.
const (
	attrSMs           = 16
	attrComputeMode   = 20
	attrL2Bytes       = 38
	attrMajor         = 75
	attrMinor         = 76
	attrSharedPerSM   = 81
	attrSharedOptIn   = 97
	streamNonBlocking = 1
)

// modeProhibited is the compute mode in which no context can be made.
const modeProhibited = 2

// Device opens the i-th GPU. No call into the driver may take longer than
// limit: compiling kernels takes seconds, a wedged driver for ever.
func (l *Library) Device(i int, limit time.Duration) (*Device, error) {
	n, err := l.Count()
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= n {
		return nil, &ErrUnsupported{Library: l.path, Has: l.version, Reason: fmt.Sprintf("there is no GPU %d: the driver shows %d", i, n) + hidden()}
	}
	d := &Device{lib: l, limit: limit, work: make(chan func())}
	d.facts = probes.GPU{Index: i, Peers: n - 1, Driver: l.Version()}
	go d.serve()
	if err := d.open(i); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// serve is the device's worker. It never unlocks its thread, which so ends
// with it and takes the context's binding along.
func (d *Device) serve() {
	runtime.LockOSThread()
	for f := range d.work {
		f()
	}
}

// do runs a call on the worker, with the context current. A call that does not
// return within the limit loses the device.
func (d *Device) do(name string, call func() error) error {
	if lost := d.lost.Load(); lost != nil {
		return lost
	}
	done := make(chan error, 1)
	d.work <- func() {
		if d.ctx != 0 {
			if err := d.check("cuCtxSetCurrent", C.dgc_cuCtxSetCurrent(d.lib.t, d.ctx)); err != nil {
				done <- err
				return
			}
		}
		done <- call()
	}
	timer := time.NewTimer(d.limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return d.lose(&ErrDeadline{Call: name, After: d.limit})
	}
}

// lose marks the device as unusable; the first cause stays.
func (d *Device) lose(cause error) error {
	d.lost.CompareAndSwap(nil, &ErrLost{Cause: cause})
	return d.lost.Load()
}

// check turns a result into an error, and loses the device where the context
// did not survive it.
func (d *Device) check(call string, r C.dgc_result) error {
	err := d.lib.failure(call, r, "")
	if err != nil && sticky(int(r)) {
		return d.lose(err)
	}
	return err
}

func (d *Device) open(i int) error {
	return d.do("open the GPU", func() error {
		t := d.lib.t
		if err := d.check("cuDeviceGet", C.dgc_cuDeviceGet(t, &d.ordinal, C.int(i))); err != nil {
			return err
		}
		if err := d.describe(); err != nil {
			return err
		}
		if mode, err := d.attribute(attrComputeMode); err == nil && mode == modeProhibited {
			return &ErrUnsupported{Library: d.lib.path, Has: d.lib.version, Reason: fmt.Sprintf("the compute mode of GPU %d is prohibited: nobody may compute on it (nvidia-smi -c DEFAULT, as root, allows it)", i)}
		}
		var ctx C.dgc_word
		if err := d.check("cuDevicePrimaryCtxRetain", C.dgc_cuDevicePrimaryCtxRetain(t, &ctx, d.ordinal)); err != nil {
			return err
		}
		d.ctx = ctx
		if err := d.check("cuCtxSetCurrent", C.dgc_cuCtxSetCurrent(t, ctx)); err != nil {
			return err
		}
		if err := d.check("cuStreamCreate", C.dgc_cuStreamCreate(t, &d.stream, streamNonBlocking)); err != nil {
			return err
		}
		for _, e := range []*C.dgc_word{&d.begin, &d.end} {
			if err := d.check("cuEventCreate", C.dgc_cuEventCreate(t, e, 0)); err != nil {
				return err
			}
		}
		var free, total C.size_t
		if err := d.check("cuMemGetInfo", C.dgc_cuMemGetInfo_v2(t, &free, &total)); err != nil {
			return err
		}
		d.facts.Free = unit.Bytes(free)
		return nil
	})
}

// describe reads what probes may ask of the GPU.
func (d *Device) describe() error {
	t, f := d.lib.t, &d.facts
	const size = 256
	name := make([]C.char, size)
	if err := d.check("cuDeviceGetName", C.dgc_cuDeviceGetName(t, &name[0], size, d.ordinal)); err != nil {
		return err
	}
	name[size-1] = 0
	f.Name = printable(C.GoString(&name[0]))
	var total C.size_t
	if err := d.check("cuDeviceTotalMem", C.dgc_cuDeviceTotalMem_v2(t, &total, d.ordinal)); err != nil {
		return err
	}
	f.Memory = unit.Bytes(total)
	for _, a := range []struct {
		attribute C.int
		to        func(int)
	}{
		{attrMajor, func(v int) { f.Major = v }},
		{attrMinor, func(v int) { f.Minor = v }},
		{attrSMs, func(v int) { f.SMs = v }},
		{attrL2Bytes, func(v int) { f.L2 = unit.Bytes(v) }},
		{attrSharedPerSM, func(v int) { f.SharedPerSM = v }},
		{attrSharedOptIn, func(v int) { f.SharedPerBlock = v }},
	} {
		v, err := d.attribute(a.attribute)
		if err != nil {
			return err
		}
		if v < 0 {
			return fmt.Errorf("the driver says %d of attribute %d", v, a.attribute)
		}
		a.to(v)
	}
	if f.SMs == 0 || f.Major == 0 {
		return fmt.Errorf("the driver says that %s has %d multiprocessors and compute capability %d.%d", f.Name, f.SMs, f.Major, f.Minor)
	}
	return nil
}

// attribute is one number that the driver has of the GPU; on the worker.
func (d *Device) attribute(a C.int) (int, error) {
	var v C.int
	err := d.check("cuDeviceGetAttribute", C.dgc_cuDeviceGetAttribute(d.lib.t, &v, a, d.ordinal))
	return int(v), err
}

// printable keeps what a terminal may be sent.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// GPU is what probes may ask of it.
func (d *Device) GPU() probes.GPU { return d.facts }

// Lost is why the device is unusable, nil where it is not.
func (d *Device) Lost() error {
	if lost := d.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// Close gives the context back and ends the worker. On a lost device it does
// nothing: the calls would not return.
func (d *Device) Close() {
	err := d.do("close the GPU", func() error {
		t := d.lib.t
		if d.begin != 0 {
			C.dgc_cuEventDestroy_v2(t, d.begin)
		}
		if d.end != 0 {
			C.dgc_cuEventDestroy_v2(t, d.end)
		}
		if d.stream != 0 {
			C.dgc_cuStreamDestroy_v2(t, d.stream)
		}
		if d.ctx != 0 {
			C.dgc_cuDevicePrimaryCtxRelease_v2(t, d.ordinal)
		}
		return nil
	})
	if !Lost(err) {
		close(d.work)
	}
}
