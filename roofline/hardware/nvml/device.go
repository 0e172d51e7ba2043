package nvml

import (
	"errors"
	"fmt"

	"decodegap/roofline/hardware"
)

// readDevice reads one GPU; only its name is required.
func readDevice(dev device, note notes) (hardware.GPU, error) {
	name, err := dev.Name()
	if err != nil {
		return hardware.GPU{}, fmt.Errorf("name: %w", err)
	}
	g := hardware.GPU{Name: clean(name)}
	if g.Name == "" {
		return hardware.GPU{}, errors.New("name: the driver says nothing")
	}
	g.MemoryBytes = value(note, "memory size", dev.MemoryBytes)
	g.BusWidthBits = value(note, "memory bus width", dev.BusWidthBits)
	g.MaxMemoryClockMHz = value(note, "highest memory clock", dev.MaxMemoryClockMHz)
	g.MemoryClockMHz = value(note, "memory clock", dev.MemoryClockMHz)
	g.MaxSMClockMHz = value(note, "highest SM clock", dev.MaxSMClockMHz)
	g.PowerLimitW = watts(value(note, "power limit", dev.PowerLimitMilliwatts))
	g.DefaultPowerLimitW = watts(value(note, "default power limit", dev.DefaultPowerLimitMilliwatts))
	g.PCIeGen = value(note, "PCIe generation", dev.PCIeGen)
	g.PCIeWidth = value(note, "PCIe width", dev.PCIeWidth)
	g.MaxPCIeGen = value(note, "highest PCIe generation", dev.MaxPCIeGen)
	g.MaxPCIeWidth = value(note, "highest PCIe width", dev.MaxPCIeWidth)
	g.ActiveNVLinks = said(note, "NVLinks", dev.ActiveNVLinks)
	if major, minor, err := dev.ComputeCapability(); note.ok("compute capability", err) {
		g.ComputeCapability = fmt.Sprintf("%d.%d", major, minor)
	}
	g.MIG = said(note, "MIG mode", dev.MIG)
	if g.ActiveNVLinks != nil && *g.ActiveNVLinks > 0 {
		if v, err := dev.NVLinkVersion(); note.ok("NVLink version", err) {
			g.NVLinkVersion = clean(v)
		}
	}
	g.ECC = said(note, "ECC mode", dev.ECC)
	g.ComputeProcesses = said(note, "compute processes", dev.ComputeProcesses)
	g.MemoryUsedBytes = said(note, "used memory", dev.MemoryUsedBytes)
	if id, err := dev.BusID(); note.ok("PCI address", err) {
		g.BusID = clean(id)
	}
	if mode, err := dev.ComputeMode(); note.ok("compute mode", err) {
		g.ComputeMode = clean(mode)
	}
	return g, nil
}

func watts(milliwatts *uint32) *float64 {
	if milliwatts == nil {
		return nil
	}
	w := float64(*milliwatts) / 1000
	return &w
}

// said reads one property of which 0 means something too.
func said[T any](note notes, what string, get func() (T, error)) *T {
	v, err := get()
	if !note.ok(what, err) {
		return nil
	}
	return &v
}

// value reads one number, absent if the driver does not report it or says 0,
// which is how NVML reports "unknown" for all of these.
func value[T uint64 | uint32 | int](note notes, what string, get func() (T, error)) *T {
	v, err := get()
	if !note.ok(what, err) || v <= 0 {
		return nil
	}
	return &v
}

// notes collects what a driver failed to report.
type notes struct {
	inv  *hardware.Inventory
	what string
}

func (n notes) of(what string) notes { return notes{n.inv, what + ": "} }

// ok says whether there is a value. A GPU that lacks the property is silent; any
// other failure is a warning.
func (n notes) ok(what string, err error) bool {
	if err == nil {
		return true
	}
	if !errors.Is(err, errNotReported) && len(n.inv.Warnings) < maxGPUs {
		n.inv.Warnings = append(n.inv.Warnings, clean(n.what+what+": "+err.Error()))
	}
	return false
}

// clean makes a driver's text safe to print and to send on.
func clean(s string) string {
	const most = 300
	if len(s) > most {
		s = s[:most]
	}
	return hardware.Printable(s)
}
