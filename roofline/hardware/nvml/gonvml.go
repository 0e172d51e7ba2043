//go:build linux && cgo

package nvml

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"decodegap/roofline/hardware"
)

// open loads libnvidia-ml and starts it.
func open() (driver, error) {
	lib := nvml.New()
	if ret := lib.Init(); ret != nvml.SUCCESS {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, reason(ret))
	}
	return library{lib}, nil
}

// reason words the returns that people meet most.
func reason(ret nvml.Return) string {
	switch ret {
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return "libnvidia-ml.so.1 was not found; is the NVIDIA driver installed, and visible in this container?"
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return "the NVIDIA driver is not loaded"
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return "the driver's library and kernel module differ in version; a reboot is due"
	case nvml.ERROR_NO_PERMISSION:
		return "no permission to talk to the driver"
	}
	return ret.Error()
}

// library adapts go-nvml. Every call asks first whether the installed library
// has the function: go-nvml binds lazily, and a missing one kills the process.
type library struct{ lib nvml.Interface }

func (l library) has(symbol string) error {
	if l.lib.Extensions().LookupSymbol(symbol) != nil {
		return errNotReported
	}
	return nil
}

// failure turns a return into an error; what the GPU lacks is errNotReported.
func failure(ret nvml.Return) error {
	switch ret {
	case nvml.SUCCESS:
		return nil
	case nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_FUNCTION_NOT_FOUND, nvml.ERROR_NOT_FOUND:
		return errNotReported
	}
	return ret
}

// ask calls one function of NVML if the library has it.
func ask[T any](l library, symbol string, call func() (T, nvml.Return)) (T, error) {
	var zero T
	if err := l.has(symbol); err != nil {
		return zero, err
	}
	v, ret := call()
	if err := failure(ret); err != nil {
		return zero, err
	}
	return v, nil
}

func (l library) Close() { l.lib.Shutdown() }

func (l library) DriverVersion() (string, error) {
	return ask(l, "nvmlSystemGetDriverVersion", l.lib.SystemGetDriverVersion)
}

func (l library) CUDAVersion() (int, error) {
	return ask(l, "nvmlSystemGetCudaDriverVersion", l.lib.SystemGetCudaDriverVersion)
}

func (l library) Count() (int, error) {
	return ask(l, "nvmlDeviceGetCount_v2", l.lib.DeviceGetCount)
}

func (l library) Device(i int) (device, error) {
	dev, err := ask(l, "nvmlDeviceGetHandleByIndex_v2", func() (nvml.Device, nvml.Return) { return l.lib.DeviceGetHandleByIndex(i) })
	if err != nil {
		return nil, err
	}
	return gpu{l, dev}, nil
}

// pair asks about two devices by index.
func pair[T any](l library, symbol string, a, b int, call func(one, other nvml.Device) (T, nvml.Return)) (T, error) {
	return ask(l, symbol, func() (T, nvml.Return) {
		var zero T
		one, ret := l.lib.DeviceGetHandleByIndex(a)
		if ret != nvml.SUCCESS {
			return zero, ret
		}
		other, ret := l.lib.DeviceGetHandleByIndex(b)
		if ret != nvml.SUCCESS {
			return zero, ret
		}
		return call(one, other)
	})
}

func (l library) Path(a, b int) (hardware.Path, error) {
	level, err := pair(l, "nvmlDeviceGetTopologyCommonAncestor", a, b, l.lib.DeviceGetTopologyCommonAncestor)
	if err != nil {
		return "", err
	}
	switch level {
	case nvml.TOPOLOGY_INTERNAL, nvml.TOPOLOGY_SINGLE:
		return hardware.PathBoard, nil
	case nvml.TOPOLOGY_MULTIPLE:
		return hardware.PathSwitch, nil
	case nvml.TOPOLOGY_HOSTBRIDGE:
		return hardware.PathHost, nil
	case nvml.TOPOLOGY_NODE:
		return hardware.PathNode, nil
	case nvml.TOPOLOGY_SYSTEM:
		return hardware.PathSystem, nil
	}
	return "", fmt.Errorf("unknown level %d", level)
}
