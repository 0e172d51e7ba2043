// Package nvml asks the NVIDIA driver which GPUs this machine has. It is the
// only importer of go-nvml, and refuses to change anything: it sets no clock,
// no mode and no limit. Serial numbers and UUIDs are not read.
//
// A driver can hang, and go-nvml ends the process when it calls a function that
// the installed driver lacks. Calls newer than every driver are guarded, but run
// Inventory in a child process all the same.
package nvml

import (
	"context"
	"errors"
	"fmt"

	"decodegap/roofline/hardware"
)

// ErrUnavailable says that there is no NVIDIA driver to ask: the library or the
// driver is missing, or this build has no NVML (not Linux, or without cgo).
var ErrUnavailable = errors.New("NVML is not available")

// Inventory lists the GPUs of this machine. Its error is ErrUnavailable (by
// errors.Is) where there is no driver. What a driver does not report is absent;
// what it fails to report is a warning of the inventory.
func Inventory(ctx context.Context) (hardware.Inventory, error) {
	drv, err := open()
	if err != nil {
		return hardware.Inventory{}, err
	}
	defer drv.Close()
	return read(ctx, drv)
}

// errNotReported is a driver's answer for what this GPU does not have.
var errNotReported = errors.New("not reported")

// driver is the little of NVML that an inventory needs.
type driver interface {
	DriverVersion() (string, error)
	CUDAVersion() (int, error) // 1000·major + 10·minor
	Count() (int, error)
	Device(index int) (device, error)
	DeviceByBusID(id string) (device, error)
	// Path is the way between two devices by index, Peer whether one may read
	// and write the other's memory: hardware.PeerOK or the driver's reason.
	Path(a, b int) (hardware.Path, error)
	Peer(a, b int) (string, error)
	Close()
}

// device is one GPU of a driver.
type device interface {
	Name() (string, error)
	MemoryBytes() (uint64, error)
	BusWidthBits() (uint32, error)
	MaxMemoryClockMHz() (uint32, error)
	MemoryClockMHz() (uint32, error)
	MaxSMClockMHz() (uint32, error)
	PowerLimitMilliwatts() (uint32, error)
	PCIeGen() (int, error)
	PCIeWidth() (int, error)
	MaxPCIeGen() (int, error)
	MaxPCIeWidth() (int, error)
	ActiveNVLinks() (int, error)
	ComputeCapability() (major, minor int, err error)
	MIG() (bool, error)
	BusID() (string, error)
	MemoryUsedBytes() (uint64, error)
	DefaultPowerLimitMilliwatts() (uint32, error)
	NVLinkVersion() (string, error)
	ECC() (bool, error)
	ComputeMode() (string, error)
	ComputeProcesses() (int, error)
	meter
}

// Bounds on what a driver may say.
const (
	maxGPUs    = 256
	maxPathGPU = 16 // paths are asked for pairs of these
)

// read fills an inventory from a driver.
func read(ctx context.Context, drv driver) (hardware.Inventory, error) {
	inv := hardware.Inventory{Schema: hardware.InventorySchema, GPUs: []hardware.GPU{}}
	note := notes{inv: &inv}
	if v, err := drv.DriverVersion(); note.ok("driver version", err) {
		inv.DriverVersion = clean(v)
	}
	if v, err := drv.CUDAVersion(); note.ok("CUDA version", err) && v > 0 {
		inv.CUDAVersion = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	n, err := drv.Count()
	if err != nil {
		return inv, fmt.Errorf("count the GPUs: %w", err)
	}
	if n < 0 || n > maxGPUs {
		return inv, fmt.Errorf("count the GPUs: the driver says %d, expected 0 to %d", n, maxGPUs)
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return inv, fmt.Errorf("read GPU %d: %w", i, err)
		}
		dev, err := drv.Device(i)
		if err != nil {
			return inv, fmt.Errorf("open GPU %d: %w", i, err)
		}
		gpu, err := readDevice(dev, note.of(fmt.Sprintf("GPU %d", i)))
		if err != nil {
			return inv, fmt.Errorf("read GPU %d: %w", i, err)
		}
		inv.GPUs = append(inv.GPUs, gpu)
	}
	inv.FarthestPath = farthest(ctx, drv, min(n, maxPathGPU), note)
	inv.PeerToPeer = peers(ctx, drv, min(n, maxPathGPU), note)
	return inv, nil
}

// pairs calls f with every pair of n GPUs until it returns false or ctx ends.
func pairs(ctx context.Context, n int, f func(a, b int) bool) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			if ctx.Err() != nil || !f(a, b) {
				return
			}
		}
	}
}

// peers says whether all of n GPUs reach each other's memory, empty if unknown.
func peers(ctx context.Context, drv driver, n int, note notes) string {
	var all string
	pairs(ctx, n, func(a, b int) bool {
		p, err := drv.Peer(a, b)
		if !note.ok(fmt.Sprintf("peer access between GPU %d and %d", a, b), err) {
			p = ""
		}
		all = clean(p)
		return p == hardware.PeerOK
	})
	return all
}

// farthest is the longest path between two of n GPUs, empty if any is unknown.
func farthest(ctx context.Context, drv driver, n int, note notes) hardware.Path {
	order := map[hardware.Path]int{
		hardware.PathBoard: 1, hardware.PathSwitch: 2, hardware.PathHost: 3, hardware.PathNode: 4, hardware.PathSystem: 5,
	}
	var far hardware.Path
	pairs(ctx, n, func(a, b int) bool {
		p, err := drv.Path(a, b)
		if !note.ok(fmt.Sprintf("path between GPU %d and %d", a, b), err) || order[p] == 0 {
			far = ""
			return false
		}
		if order[p] > order[far] {
			far = p
		}
		return true
	})
	if ctx.Err() != nil {
		return ""
	}
	return far
}
