//go:build cgo && linux

package driver

// #cgo CFLAGS: -std=gnu11 -Wall
// #cgo LDFLAGS: -ldl
// #include "cuda.h"
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

// Variable is the environment's way to name the library.
const Variable = "DECODEGAP_LIBCUDA"

// leastVersion is the oldest driver that has all that is needed: CUDA 11.4.
const leastVersion = 11040

// Library is an open libcuda.
type Library struct {
	t       *C.dgc_cuda
	path    string // as it was looked for
	version int
}

// Open loads the driver: from path, or else from DECODEGAP_LIBCUDA, or else
// libcuda.so.1 as the loader finds it. What is missing is an *ErrUnsupported.
func Open(path string) (*Library, error) {
	if path == "" {
		path = os.Getenv(Variable)
	}
	name := path
	var cpath *C.char
	if path == "" {
		name = "libcuda.so.1"
	} else {
		cpath = C.CString(path)
		defer C.free(unsafe.Pointer(cpath))
	}
	const size = 1024
	why := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(why))
	t := C.dgc_open(cpath, why, size)
	if t == nil {
		return nil, &ErrUnsupported{Library: name, Reason: "the NVIDIA driver's library was not loaded: " + C.GoString(why)}
	}
	l := &Library{t: t, path: name}
	if err := l.start(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// start looks at the version before the symbols: an old driver is named as
// such, not as its first missing function.
func (l *Library) start() error {
	if l.t.cuDriverGetVersion != nil {
		var v C.int
		if r := C.dgc_cuDriverGetVersion(l.t, &v); r == 0 {
			l.version = int(v)
		}
	}
	if l.version > 0 && l.version < leastVersion {
		return &ErrUnsupported{Library: l.path, Needs: leastVersion, Has: l.version}
	}
	for i := C.int(0); ; i++ {
		s := C.dgc_symbol_at(i)
		if s == nil {
			break
		}
		if s.spared == 0 && C.dgc_has(l.t, i) == 0 {
			return l.missing(s)
		}
	}
	if err := l.failure("cuInit", C.dgc_cuInit(l.t, 0), ""); err != nil {
		return &ErrUnsupported{Library: l.path, Has: l.version, Reason: err.Error() + hidden()}
	}
	return nil
}

// visible is the variable that hides GPUs from a process.
const visible = "CUDA_VISIBLE_DEVICES"

// hidden is the next step where GPUs may be hidden, "" where they are not.
func hidden() string {
	if v, set := os.LookupEnv(visible); set {
		return fmt.Sprintf("; %s=%q hides GPUs from this process: unset it, or name one by index or UUID (nvidia-smi -L)", visible, printable(v))
	}
	return ""
}

func (l *Library) missing(s *C.dgc_symbol) error {
	return &ErrUnsupported{Library: l.path, Symbol: C.GoString(s.name), Needs: int(s.version), Has: l.version}
}

// lacks is an error where the library has not the named function.
func (l *Library) lacks(name string) error {
	for i := C.int(0); ; i++ {
		s := C.dgc_symbol_at(i)
		if s == nil || C.GoString(s.name) == name {
			if s == nil || C.dgc_has(l.t, i) != 0 {
				return nil
			}
			return l.missing(s)
		}
	}
}

// Version is the driver's: "13.0", of the CUDA it was made for.
func (l *Library) Version() string { return version(l.version) }

// Count is how many GPUs the driver shows this process.
func (l *Library) Count() (int, error) {
	var n C.int
	if err := l.failure("cuDeviceGetCount", C.dgc_cuDeviceGetCount(l.t, &n), ""); err != nil {
		return 0, err
	}
	return int(n), nil
}

// BusID is the PCI address of the i-th GPU, as the driver's management library
// knows it too: that counts GPUs in another order, and hides none. No context
// is made.
func (l *Library) BusID(i int) (string, error) {
	if err := l.lacks("cuDeviceGetPCIBusId"); err != nil {
		return "", err
	}
	var d C.int
	if err := l.failure("cuDeviceGet", C.dgc_cuDeviceGet(l.t, &d, C.int(i)), ""); err != nil {
		return "", err
	}
	var id [64]C.char
	if err := l.failure("cuDeviceGetPCIBusId", C.dgc_cuDeviceGetPCIBusId(l.t, &id[0], C.int(len(id)-1), d), ""); err != nil {
		return "", err
	}
	return printable(C.GoString(&id[0])), nil
}

// Close unloads the library; no device of it may be in use.
func (l *Library) Close() { C.dgc_close(l.t); l.t = nil }

// failure turns a result into an error.
func (l *Library) failure(call string, r C.dgc_result, log string) error {
	if r == 0 {
		return nil
	}
	e := &Error{Call: call, Code: int(r), Log: log}
	var name *C.char
	if C.dgc_cuGetErrorName(l.t, r, &name) == 0 && name != nil {
		e.Name = C.GoString(name)
	}
	return e
}
