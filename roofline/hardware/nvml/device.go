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
	if mw := value(note, "power limit", dev.PowerLimitMilliwatts); mw != nil {
		watts := float64(*mw) / 1000
		g.PowerLimitW = &watts
	}
	g.PCIeGen = value(note, "PCIe generation", dev.PCIeGen)
	g.PCIeWidth = value(note, "PCIe width", dev.PCIeWidth)
	g.MaxPCIeGen = value(note, "highest PCIe generation", dev.MaxPCIeGen)
	g.MaxPCIeWidth = value(note, "highest PCIe width", dev.MaxPCIeWidth)
	if n, err := dev.ActiveNVLinks(); note.ok("NVLinks", err) {
		g.ActiveNVLinks = &n
	}
	if major, minor, err := dev.ComputeCapability(); note.ok("compute capability", err) {
		g.ComputeCapability = fmt.Sprintf("%d.%d", major, minor)
	}
	if on, err := dev.MIG(); note.ok("MIG mode", err) {
		g.MIG = &on
	}
	return g, nil
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
