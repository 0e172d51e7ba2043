package hardware

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"

	"decodegap/roofline/unit"
)

// InventorySchema identifies an inventory document.
const InventorySchema = "decodegap/inventory/1"

// Inventory is what the driver says about the GPUs of this machine. It holds no
// serial numbers and no UUIDs.
type Inventory struct {
	Schema        string `json:"schema"`
	DriverVersion string `json:"driver_version,omitempty"`
	CUDAVersion   string `json:"cuda_version,omitempty"` // newest the driver serves, "13.0"
	GPUs          []GPU  `json:"gpus"`

	// FarthestPath is the longest PCIe way between two of the GPUs; absent for
	// one GPU or where the driver does not say.
	FarthestPath Path `json:"farthest_path,omitempty"`

	// PeerToPeer says whether every GPU may read and write every other's memory
	// (PeerOK), or else the driver's reason of the first pair that may not;
	// absent for one GPU or where the driver does not say.
	PeerToPeer string `json:"peer_to_peer,omitempty"`

	Warnings []string `json:"warnings,omitempty"` // what could not be read, and why
}

// GPU is one device as its driver reports it. What the driver does not report
// is absent.
type GPU struct {
	Name              string   `json:"name"`
	MemoryBytes       *uint64  `json:"memory_bytes,omitempty"`
	BusWidthBits      *uint32  `json:"bus_width_bits,omitempty"`
	MaxMemoryClockMHz *uint32  `json:"max_memory_clock_mhz,omitempty"`
	MemoryClockMHz    *uint32  `json:"memory_clock_mhz,omitempty"` // now; low while idle
	MaxSMClockMHz     *uint32  `json:"max_sm_clock_mhz,omitempty"`
	PowerLimitW       *float64 `json:"power_limit_w,omitempty"`
	PCIeGen           *int     `json:"pcie_gen,omitempty"`       // now; low while idle
	PCIeWidth         *int     `json:"pcie_width,omitempty"`     // now, lanes
	MaxPCIeGen        *int     `json:"max_pcie_gen,omitempty"`   // of card and slot
	MaxPCIeWidth      *int     `json:"max_pcie_width,omitempty"` // of card and slot, lanes
	ActiveNVLinks     *int     `json:"active_nvlinks,omitempty"` // links that are up
	ComputeCapability string   `json:"compute_capability,omitempty"`
	MIG               *bool    `json:"mig,omitempty"` // true: the GPU is partitioned

	BusID              string   `json:"pci_bus_id,omitempty"`
	MemoryUsedBytes    *uint64  `json:"memory_used_bytes,omitempty"` // now, by all processes and the driver
	DefaultPowerLimitW *float64 `json:"default_power_limit_w,omitempty"`
	NVLinkVersion      string   `json:"nvlink_version,omitempty"`    // of the links that are up, "4.0"
	ECC                *bool    `json:"ecc,omitempty"`               // of its memory
	ComputeMode        string   `json:"compute_mode,omitempty"`      // default, exclusive_process, exclusive_thread, prohibited
	ComputeProcesses   *int     `json:"compute_processes,omitempty"` // that have a context on it now
}

// PeerOK says that every GPU may read and write every other's memory.
const PeerOK = "ok"

// Path is the kind of way between two GPUs, in nvidia-smi's words.
type Path string

// The paths, nearest first.
const (
	PathBoard  Path = "PIX" // at most one PCIe switch
	PathSwitch Path = "PXB" // several PCIe switches
	PathHost   Path = "PHB" // a PCIe host bridge
	PathNode   Path = "NODE"
	PathSystem Path = "SYS" // the link between CPU sockets
)

// Topology is what the inventory shows of the wiring, with the evidence in
// words. False where it shows nothing: one GPU, or no path reported.
func (inv Inventory) Topology() (name, evidence string, ok bool) {
	if len(inv.GPUs) < 2 {
		return "", "", false
	}
	if linked, links := inv.allLinked(); linked {
		return NVLink, fmt.Sprintf("driver: every GPU has at least %d NVLinks up", links), true
	}
	switch inv.FarthestPath {
	case PathBoard, PathSwitch:
		name = PCIeSwitch
	case PathHost, PathNode:
		name = PCIeHost
	case PathSystem:
		name = TwoSocket
	default:
		return "", "", false
	}
	return name, fmt.Sprintf("driver: the farthest two GPUs are %s apart", inv.FarthestPath), true
}

// allLinked says whether NVLink joins every GPU: all have links up, and either
// there are two of them or the part is one that comes on an NVLink board. A
// bridge only joins pairs.
func (inv Inventory) allLinked() (ok bool, links int) {
	for i, g := range inv.GPUs {
		if g.ActiveNVLinks == nil || *g.ActiveNVLinks == 0 {
			return false, 0
		}
		if d, err := Match(g); len(inv.GPUs) > 2 && (err != nil || d.Link != LinkNVLink) {
			return false, 0
		}
		if i == 0 || *g.ActiveNVLinks < links {
			links = *g.ActiveNVLinks
		}
	}
	return true, links
}

// RunningPeak is the bandwidth of the memory bus at the highest clock the
// driver allows, in B/s: clock × 2 × width / 8. False if the driver does not
// report both. It belongs beside the sheet's figure, not in its place.
func (g GPU) RunningPeak() (unit.BytesPerSecond, bool) {
	return g.peakAt(g.MaxMemoryClockMHz)
}

// CurrentPeak is the same at the clock of this moment. It means something only
// while the GPU works: an idle one lowers its clock.
func (g GPU) CurrentPeak() (unit.BytesPerSecond, bool) {
	return g.peakAt(g.MemoryClockMHz)
}

func (g GPU) peakAt(clockMHz *uint32) (unit.BytesPerSecond, bool) {
	if clockMHz == nil || g.BusWidthBits == nil || *clockMHz == 0 || *g.BusWidthBits == 0 {
		return 0, false
	}
	return peak(float64(*clockMHz), float64(*g.BusWidthBits)), true
}

// Limits of an inventory document.
const (
	maxInventory = 1 << 20
	maxGPUs      = 1024
	maxWarnings  = 1024
	maxText      = 400
)

// ReadInventory reads an inventory document, such as a child process printed,
// and refuses one that is too long, has fields it does not know, or holds
// control characters.
func ReadInventory(r io.Reader) (Inventory, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInventory+1))
	if err != nil {
		return Inventory{}, fmt.Errorf("read the GPU inventory: %w", err)
	}
	if len(data) > maxInventory {
		return Inventory{}, fmt.Errorf("GPU inventory: longer than %d bytes", maxInventory)
	}
	var inv Inventory
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&inv); err != nil {
		return Inventory{}, fmt.Errorf("GPU inventory: near byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Inventory{}, fmt.Errorf("GPU inventory: text after the document at byte %d", dec.InputOffset())
	}
	if err := inv.check(); err != nil {
		return Inventory{}, fmt.Errorf("GPU inventory: %w", err)
	}
	return inv, nil
}

func (inv Inventory) check() error {
	if inv.Schema != InventorySchema {
		return fmt.Errorf("schema %q: expected %q", shorten(inv.Schema), InventorySchema)
	}
	if len(inv.GPUs) > maxGPUs || len(inv.Warnings) > maxWarnings {
		return fmt.Errorf("more than %d GPUs or %d warnings", maxGPUs, maxWarnings)
	}
	switch inv.FarthestPath {
	case "", PathBoard, PathSwitch, PathHost, PathNode, PathSystem:
	default:
		return fmt.Errorf("farthest_path %q: expected PIX, PXB, PHB, NODE or SYS", shorten(string(inv.FarthestPath)))
	}
	texts := append([]string{inv.DriverVersion, inv.CUDAVersion, inv.PeerToPeer}, inv.Warnings...)
	for i, g := range inv.GPUs {
		if g.Name == "" || len(g.Name) > maxNameBytes {
			return fmt.Errorf("gpu %d: name missing or longer than %d bytes", i, maxNameBytes)
		}
		texts = append(texts, g.Name, g.ComputeCapability, g.BusID, g.NVLinkVersion, g.ComputeMode)
	}
	for _, t := range texts {
		if len(t) > maxText || Printable(t) != t {
			return fmt.Errorf("text %q: too long or not printable", shorten(t))
		}
	}
	return nil
}

// Printable replaces what must not reach a terminal by '?'.
func Printable(s string) string {
	return string(bytes.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, []byte(s)))
}
