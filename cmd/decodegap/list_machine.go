package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/term"
	"decodegap/probes"
	"decodegap/reports"
	"decodegap/roofline/hardware"
	"decodegap/roofline/unit"
)

// thisMachineHas is what the system and the NVIDIA driver say of this machine,
// and what the catalogue knows of its GPUs. A machine without GPU or driver is
// one that says why.
func thisMachineHas(ctx context.Context, env *environment) *reports.Machine {
	m := &reports.Machine{Host: assemble.Host(probes.Detect(env.bench().host(), 0)), GPUs: []reports.MachineGPU{}}
	inv, err := inventory(ctx)
	switch {
	case err != nil:
		m.WithoutGPUs = err.Error()
		return m
	case len(inv.GPUs) == 0:
		m.WithoutGPUs = "the driver reports no GPU"
	}
	m.DriverVersion, m.CUDAVersion, m.Warnings = inv.DriverVersion, inv.CUDAVersion, inv.Warnings
	m.FarthestPath, m.PeerToPeer = string(inv.FarthestPath), inv.PeerToPeer
	for _, g := range inv.GPUs {
		one := reports.MachineGPU{GPU: g}
		if peak, ok := g.RunningPeak(); ok {
			gbs := float64(peak) / 1e9
			one.RunningPeakGBs = &gbs
		}
		if d, err := hardware.Match(g); err != nil {
			one.WithoutEntry = err.Error()
		} else {
			one.Catalogue, one.SheetGBs = d.Name, &d.BandwidthGBs.Hi
		}
		m.GPUs = append(m.GPUs, one)
	}
	return m
}

// writeMachine prints it for people, in front of the catalogue.
func writeMachine(w io.Writer, m *reports.Machine, width int) error {
	fmt.Fprintln(w, "this machine")
	name := m.Host.CPU
	if name == "" {
		name = m.Host.Arch + " CPU"
	}
	writeWrapped(w, fmt.Sprintf("CPU: %s, %d cores, %d threads, %s", name, m.Host.Cores, m.Host.Threads, hostLine(m.Host)), width, "  ")
	if m.WithoutGPUs != "" {
		writeWrapped(w, "no GPU: "+m.WithoutGPUs, width, "  ")
	}
	for i, g := range m.GPUs {
		writeWrapped(w, fmt.Sprintf("GPU %d: %s", i, strings.Join(gpuParts(g), ", ")), width, "  ")
	}
	var parts []string
	for _, p := range []struct{ what, value string }{{"driver", m.DriverVersion}, {"for CUDA", m.CUDAVersion}, {"farthest two GPUs", m.FarthestPath}, {"peer access", m.PeerToPeer}} {
		if p.value != "" {
			parts = append(parts, p.what+" "+p.value)
		}
	}
	if len(parts) > 0 {
		writeWrapped(w, strings.Join(parts, ", "), width, "  ")
	}
	for _, warn := range m.Warnings {
		writeWrapped(w, "warning: "+warn, width, "  ")
	}
	_, err := fmt.Fprintln(w, "\ncatalogue")
	return err
}

// gpuParts is what the driver and the catalogue say of one GPU.
func gpuParts(g reports.MachineGPU) []string {
	parts := []string{g.Name}
	say := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(g.Catalogue != "", "in the catalogue as %s", g.Catalogue)
	say(g.MemoryBytes != nil, "memory %s", bytesOf(g.MemoryBytes))
	say(g.RunningPeakGBs != nil, "bus %s bit × 2 × %s MHz = %s GB/s", told(g.BusWidthBits), told(g.MaxMemoryClockMHz), told(g.RunningPeakGBs))
	say(g.SheetGBs != nil, "sheet %s GB/s", told(g.SheetGBs))
	say(g.MaxSMClockMHz != nil, "SM clock up to %s MHz", told(g.MaxSMClockMHz))
	say(g.PowerLimitW != nil, "power limit %s W", told(g.PowerLimitW))
	say(g.MaxPCIeGen != nil && g.MaxPCIeWidth != nil, "PCIe %s ×%s", told(g.MaxPCIeGen), told(g.MaxPCIeWidth))
	say(g.PCIeGen != nil && g.PCIeWidth != nil && (told(g.PCIeGen) != told(g.MaxPCIeGen) || told(g.PCIeWidth) != told(g.MaxPCIeWidth)),
		"now %s ×%s", told(g.PCIeGen), told(g.PCIeWidth))
	say(g.ActiveNVLinks != nil, "%s NVLinks up", told(g.ActiveNVLinks))
	say(g.ECC != nil && *g.ECC, "ECC on")
	say(g.ECC != nil && !*g.ECC, "ECC off")
	say(g.MIG != nil && *g.MIG, "MIG on")
	say(g.ComputeMode != "" && g.ComputeMode != "default", "compute mode %s", g.ComputeMode)
	if n := g.ComputeProcesses; n != nil && *n > 0 {
		parts = append(parts, map[bool]string{true: "1 process computes on it", false: told(n) + " processes compute on it"}[*n == 1])
	}
	say(g.WithoutEntry != "", "%s", g.WithoutEntry)
	return parts
}

// told is a value as people read it, "" of none.
func told[T int | uint32 | float64](v *T) string {
	if v == nil {
		return ""
	}
	if f := float64(*v); f != math.Trunc(f) {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return fmt.Sprint(*v)
}

func bytesOf(v *uint64) string {
	if v == nil {
		return ""
	}
	return unit.Bytes(*v).String()
}

// machineTable is the machine and the table of the catalogue behind it.
func machineTable(w io.Writer, m *reports.Machine, t term.Table, width int) error {
	if m != nil {
		if err := writeMachine(w, m, width); err != nil {
			return err
		}
	}
	return t.Write(w, width)
}
