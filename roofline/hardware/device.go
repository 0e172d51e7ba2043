// Package hardware is the GPU catalogue: what each part's data sheet says, every
// figure with its source, and how long small all-reduces take on the ways GPUs
// are wired together.
//
// It refuses to guess. A figure nobody published is absent, a figure on which
// sources disagree is a range, a rate that needs structured sparsity is not
// here at all, and a name that fits two parts is an error that lists both.
package hardware

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Link is how a GPU reaches its neighbours in one machine.
type Link string

// The links a device file may name.
const (
	LinkNVLink Link = "nvlink"          // soldered or module NVLink, always there
	LinkBridge Link = "nvlink-bridge"   // a PCIe card that may carry a bridge to one neighbour
	LinkFabric Link = "infinity-fabric" // AMD's mesh between modules
	LinkPCIe   Link = "pcie"            // PCIe and nothing else
	LinkSoC    Link = "soc"             // one GPU in one chip; boxes talk over a network
)

// Device is one GPU as its data sheet describes it. Matrix rates are dense. A
// nil figure is one that the part lacks or that nobody published.
type Device struct {
	Name          string   `json:"name"`
	Vendor        string   `json:"vendor"` // NVIDIA, AMD
	Architecture  string   `json:"architecture"`
	Aliases       []string `json:"aliases"`
	ReportedNames []string `json:"reported_names"` // as NVML prints them
	Link          Link     `json:"link"`

	MemoryKind     Text    `json:"memory_kind"`
	MemoryGB       Figure  `json:"memory_gb"`     // marketed size
	BandwidthGBs   Figure  `json:"bandwidth_gbs"` // 1e9 B/s
	MemoryClockMHz *Figure `json:"memory_clock_mhz,omitempty"`
	BusWidthBits   *Figure `json:"bus_width_bits,omitempty"`

	BF16TFLOPS *Figure `json:"bf16_tflops,omitempty"` // FP32 accumulation
	FP16TFLOPS *Figure `json:"fp16_tflops,omitempty"` // FP32 accumulation
	FP8TFLOPS  *Figure `json:"fp8_tflops,omitempty"`  // FP32 accumulation
	FP4TFLOPS  *Figure `json:"fp4_tflops,omitempty"`
	INT8TOPS   *Figure `json:"int8_tops,omitempty"`

	// GeForce parts run twice as fast when they accumulate in FP16. These rates
	// are for people; no ceiling uses them.
	FP16FP16AccumulateTFLOPS *Figure `json:"fp16_fp16_accumulate_tflops,omitempty"`
	FP8FP16AccumulateTFLOPS  *Figure `json:"fp8_fp16_accumulate_tflops,omitempty"`

	SMs               *Figure `json:"sms,omitempty"` // AMD: compute units
	L2MB              *Figure `json:"l2_mb,omitempty"`
	LastLevelCacheMB  *Figure `json:"last_level_cache_mb,omitempty"` // AMD's memory-side cache
	NVLinkGBs         *Figure `json:"nvlink_gbs,omitempty"`          // both directions together
	FabricOneWayGBs   *Figure `json:"fabric_oneway_gbs,omitempty"`   // Infinity Fabric, each way
	PCIeGen           *Figure `json:"pcie_gen,omitempty"`
	PCIeLanes         *Figure `json:"pcie_lanes,omitempty"`
	TDPW              *Figure `json:"tdp_w,omitempty"`
	ComputeCapability *Text   `json:"compute_capability,omitempty"` // CUDA parts only

	Notes []string `json:"notes,omitempty"`
}

// CUDA says whether the part runs CUDA, and with it CUDA graphs.
func (d Device) CUDA() bool { return d.Vendor == vendorNVIDIA }

const (
	vendorNVIDIA = "NVIDIA"
	vendorAMD    = "AMD"
)

// maxDeviceFile bounds a device file; the longest of the catalogue has 5 kB.
const maxDeviceFile = 64 << 10

// ParseDevice reads one device file. Unknown fields, figures without a source
// and text after the object are errors; file names the input in them.
func ParseDevice(file string, data []byte) (Device, error) {
	var d Device
	if len(data) > maxDeviceFile {
		return d, fmt.Errorf("device file %s: %d bytes, the limit is %d", file, len(data), maxDeviceFile)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return Device{}, fmt.Errorf("device file %s: near byte %d: %w", file, dec.InputOffset(), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Device{}, fmt.Errorf("device file %s: text after the object at byte %d", file, dec.InputOffset())
	}
	if err := d.check(); err != nil {
		return Device{}, fmt.Errorf("device file %s: %w", file, err)
	}
	return d, nil
}

// check finds what the decoder cannot: missing fields and values no part has.
func (d Device) check() error {
	if fold(d.Name) == "" {
		return fmt.Errorf("name: missing")
	}
	if d.Vendor != vendorNVIDIA && d.Vendor != vendorAMD {
		return fmt.Errorf("vendor %q: expected %s or %s", d.Vendor, vendorNVIDIA, vendorAMD)
	}
	switch d.Link {
	case LinkNVLink, LinkBridge, LinkFabric, LinkPCIe, LinkSoC:
	default:
		return fmt.Errorf("link %q: expected nvlink, nvlink-bridge, infinity-fabric, pcie or soc", d.Link)
	}
	if d.CUDA() != (d.ComputeCapability != nil) {
		return fmt.Errorf("compute_capability: CUDA parts have one, others do not")
	}
	if (d.MemoryClockMHz == nil) != (d.BusWidthBits == nil) {
		return fmt.Errorf("memory_clock_mhz and bus_width_bits: give both or neither")
	}
	if d.MemoryKind.Value == "" {
		return fmt.Errorf("memory_kind: missing")
	}
	for _, f := range d.figures() {
		if f.required && f.figure == nil {
			return fmt.Errorf("%s: missing", f.name)
		}
		if f.figure != nil && f.figure.Hi > f.most {
			return fmt.Errorf("%s: %g is above %g, which no part reaches: check the unit", f.name, f.figure.Hi, f.most)
		}
	}
	return nil
}

// namedFigure is one figure with its JSON name and an upper bound that only a
// wrong unit can exceed.
type namedFigure struct {
	name     string
	figure   *Figure
	most     float64
	required bool
}

func (d *Device) figures() []namedFigure {
	required := func(f *Figure) *Figure {
		if f.Hi == 0 {
			return nil
		}
		return f
	}
	return []namedFigure{
		{"memory_gb", required(&d.MemoryGB), 4096, true},
		{"bandwidth_gbs", required(&d.BandwidthGBs), 100_000, true},
		{"memory_clock_mhz", d.MemoryClockMHz, 40_000, false},
		{"bus_width_bits", d.BusWidthBits, 65_536, false},
		{"bf16_tflops", d.BF16TFLOPS, 50_000, false},
		{"fp16_tflops", d.FP16TFLOPS, 50_000, false},
		{"fp8_tflops", d.FP8TFLOPS, 100_000, false},
		{"fp4_tflops", d.FP4TFLOPS, 200_000, false},
		{"int8_tops", d.INT8TOPS, 100_000, false},
		{"fp16_fp16_accumulate_tflops", d.FP16FP16AccumulateTFLOPS, 50_000, false},
		{"fp8_fp16_accumulate_tflops", d.FP8FP16AccumulateTFLOPS, 100_000, false},
		{"sms", d.SMs, 2048, false},
		{"l2_mb", d.L2MB, 2048, false},
		{"last_level_cache_mb", d.LastLevelCacheMB, 8192, false},
		{"nvlink_gbs", d.NVLinkGBs, 20_000, false},
		{"fabric_oneway_gbs", d.FabricOneWayGBs, 20_000, false},
		{"pcie_gen", d.PCIeGen, 8, false},
		{"pcie_lanes", d.PCIeLanes, 16, false},
		{"tdp_w", d.TDPW, 5000, false},
	}
}
