//go:build cgo && linux

package driver

// #include "cuda.h"
import "C"

import "fmt"

// alreadyEnabled is CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED.
const alreadyEnabled = 704

// Reach lets this device's kernels use a peer's memory by its address. A
// driver that refuses is an ErrUnsupported. That it agrees does not say that
// what is written arrives: some hosts claim what their IOMMU prevents.
func (d *Device) Reach(peer *Device) error {
	for _, name := range []string{"cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess"} {
		if err := d.lib.lacks(name); err != nil {
			return err
		}
	}
	return d.do("reach a peer", func() error {
		var yes C.int
		if err := d.check("cuDeviceCanAccessPeer", C.dgc_cuDeviceCanAccessPeer(d.lib.t, &yes, d.ordinal, peer.ordinal)); err != nil {
			return err
		}
		if yes == 0 {
			return &ErrUnsupported{Library: d.lib.path, Has: d.lib.version,
				Reason: fmt.Sprintf("GPU %d cannot access the memory of GPU %d", d.facts.Index, peer.facts.Index)}
		}
		r := C.dgc_cuCtxEnablePeerAccess(d.lib.t, peer.ctx, 0)
		if r == alreadyEnabled {
			return nil
		}
		return d.check("cuCtxEnablePeerAccess", r)
	})
}

// CopyTo copies all of from, on this device, to memory of a peer by the
// driver's own way: through the host where there is none between them. All that
// was enqueued must have ended.
func (d *Device) CopyTo(peer *Device, to, from *Memory) error {
	if err := d.lib.lacks("cuMemcpyPeer"); err != nil {
		return err
	}
	if err := to.holds(0, int(from.size)); err != nil {
		return err
	}
	return d.do("cuMemcpyPeer", func() error {
		return d.check("cuMemcpyPeer", C.dgc_cuMemcpyPeer(d.lib.t, to.at, peer.ctx, from.at, d.ctx, C.size_t(from.size)))
	})
}
