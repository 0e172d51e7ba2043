//go:build cgo && linux

package driver

// #include "cuda.h"
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"unsafe"
)

// logBytes bounds what is kept of the compiler's log.
const logBytes = 16 << 10

// Module is a kernel file that the driver has compiled for the device.
type Module struct {
	d *Device
	m C.dgc_word
}

// Load compiles PTX text. What the compiler says is the error's Log.
func (d *Device) Load(ptx string) (*Module, error) {
	text := C.CString(ptx)
	defer C.free(unsafe.Pointer(text))
	m := &Module{d: d}
	// The log belongs to the call, which may outlive its deadline: it is freed
	// where the call ends, not where the wait for it does.
	log := (*C.char)(C.calloc(1, logBytes))
	err := d.do("cuModuleLoadDataEx", func() error {
		defer C.free(unsafe.Pointer(log))
		r := C.dgc_load(d.lib.t, &m.m, text, log, logBytes)
		err := d.lib.failure("cuModuleLoadDataEx", r, C.GoString(log))
		if err != nil && sticky(int(r)) {
			return d.lose(err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Unload frees the module.
func (m *Module) Unload() {
	if m == nil || m.m == 0 {
		return
	}
	_ = m.d.do("cuModuleUnload", func() error {
		return m.d.check("cuModuleUnload", C.dgc_cuModuleUnload(m.d.lib.t, m.m))
	})
	m.m = 0
}

// Kernel is one entry of a module.
type Kernel struct {
	d    *Device
	f    C.dgc_word
	name string
}

// The attributes of CUfunction_attribute that are set.
const attrDynamicShared = 8

// ordinaryShared is what a block may have of shared memory without asking.
const ordinaryShared = 48 << 10

// Kernel finds an entry by name, for launches with so much shared memory.
func (m *Module) Kernel(name string, shared int) (*Kernel, error) {
	k := &Kernel{d: m.d, name: name}
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	err := m.d.do("cuModuleGetFunction", func() error {
		if err := m.d.check("cuModuleGetFunction", C.dgc_cuModuleGetFunction(m.d.lib.t, &k.f, m.m, s)); err != nil || shared <= ordinaryShared {
			return err
		}
		return m.d.check("cuFuncSetAttribute", C.dgc_cuFuncSetAttribute(m.d.lib.t, k.f, attrDynamicShared, C.int(shared)))
	})
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	return k, nil
}

// Resident is how many blocks of a launch fit on one multiprocessor at a time.
func (k *Kernel) Resident(block, shared int) (int, error) {
	var n C.int
	err := k.d.do("cuOccupancyMaxActiveBlocksPerMultiprocessor", func() error {
		return k.d.check("cuOccupancyMaxActiveBlocksPerMultiprocessor",
			C.dgc_cuOccupancyMaxActiveBlocksPerMultiprocessor(k.d.lib.t, &n, k.f, C.int(block), C.size_t(shared)))
	})
	return int(n), err
}
