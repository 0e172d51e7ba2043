//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"fmt"
	"unsafe"

	"decodegap/probes"
)

// memory is an operand's bytes, outside the Go heap: C may keep their address
// for the life of a pool. They begin at a huge page and read as zero.
type memory struct {
	at   unsafe.Pointer
	size int64
}

// allocate returns size bytes, or an error that wraps ErrUnsupported.
func allocate(size int64) (*memory, error) {
	if size < 0 {
		return nil, fmt.Errorf("operand of %d bytes", size)
	}
	at := C.dg_alloc(C.size_t(size))
	if at == nil {
		return nil, fmt.Errorf("%w: the system has no %d bytes of memory to give", probes.ErrUnsupported, size)
	}
	return &memory{at: at, size: size}, nil
}

func (m *memory) free() {
	if m != nil && m.at != nil {
		C.dg_free(m.at, C.size_t(m.size))
		m.at = nil
	}
}

// of views the memory as values of type T.
func of[T any](m *memory) []T {
	var zero T
	return unsafe.Slice((*T)(m.at), m.size/int64(unsafe.Sizeof(zero)))
}
