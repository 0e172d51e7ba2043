//go:build cgo && linux

package driver

// #include "cuda.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Memory is bytes on a device.
type Memory struct {
	d    *Device
	at   C.dgc_ptr
	size int64
}

// Allocate takes size bytes of the device; too few left are a
// probes.ErrUnsupported.
func (d *Device) Allocate(size int64) (*Memory, error) {
	if size <= 0 {
		return nil, fmt.Errorf("operand of %d bytes", size)
	}
	m := &Memory{d: d, size: size}
	err := d.do("cuMemAlloc", func() error {
		return d.check("cuMemAlloc", C.dgc_cuMemAlloc_v2(d.lib.t, &m.at, C.size_t(size)))
	})
	if err != nil {
		return nil, fmt.Errorf("%d bytes of device memory: %w", size, err)
	}
	return m, nil
}

// Free gives the memory back.
func (m *Memory) Free() {
	if m == nil || m.at == 0 {
		return
	}
	_ = m.d.do("cuMemFree", func() error {
		return m.d.check("cuMemFree", C.dgc_cuMemFree_v2(m.d.lib.t, m.at))
	})
	m.at = 0
}

// Size is its bytes.
func (m *Memory) Size() int64 { return m.size }

// Address is that of a byte, to hand to a kernel.
func (m *Memory) Address(offset int64) uint64 { return uint64(m.at) + uint64(offset) }

func (m *Memory) holds(offset int64, n int) error {
	if offset < 0 || offset > m.size || int64(n) > m.size-offset {
		return fmt.Errorf("bytes %d to %d of device memory of %d", offset, offset+int64(n), m.size)
	}
	return nil
}

// Write copies from the host. All that was enqueued must have ended (Finish).
func Write[T any](m *Memory, offset int64, from []T) error {
	n := len(from) * int(unsafe.Sizeof(*new(T)))
	if err := m.holds(offset, n); err != nil || n == 0 {
		return err
	}
	return m.d.do("cuMemcpyHtoD", func() error {
		return m.d.check("cuMemcpyHtoD", C.dgc_cuMemcpyHtoD_v2(m.d.lib.t, m.at+C.dgc_ptr(offset), unsafe.Pointer(&from[0]), C.size_t(n)))
	})
}

// Read copies to the host. All that was enqueued must have ended (Finish).
func Read[T any](m *Memory, offset int64, to []T) error {
	n := len(to) * int(unsafe.Sizeof(*new(T)))
	if err := m.holds(offset, n); err != nil || n == 0 {
		return err
	}
	return m.d.do("cuMemcpyDtoH", func() error {
		return m.d.check("cuMemcpyDtoH", C.dgc_cuMemcpyDtoH_v2(m.d.lib.t, unsafe.Pointer(&to[0]), m.at+C.dgc_ptr(offset), C.size_t(n)))
	})
}

// Fill enqueues setting all bytes to one value.
func (m *Memory) Fill(value byte) error {
	return m.d.do("cuMemsetD8Async", func() error {
		return m.d.check("cuMemsetD8Async", C.dgc_cuMemsetD8Async(m.d.lib.t, m.at, C.uchar(value), C.size_t(m.size), m.d.stream))
	})
}
