package assemble

import (
	"fmt"
	"time"

	"decodegap/probes"
	"decodegap/reports"
	"decodegap/roofline/hardware"
)

// Who tells of a GPU while probes run on it.
const (
	nvmlTelemetry = "nvml"
	noTelemetry   = "none"
)

// watched says who told of a GPU while the probes ran.
func watched(doc *reports.ProbedGPU, g *probes.GPU) {
	doc.Telemetry, doc.Reported = nvmlTelemetry, g.Reported
	if g.Reported == nil {
		doc.Telemetry, doc.WithoutTelemetry = noTelemetry, g.NoTelemetry
		if doc.WithoutTelemetry == "" {
			doc.WithoutTelemetry = "nobody was asked"
		}
	}
}

// memoryBus is what a GPU's memory delivers at its clock while blocks were
// taken, nil where clock or width are unknown. An instance of a partitioned GPU
// has a part of the bus, and nobody says which.
func memoryBus(run *probes.Run, g *probes.GPU) *reports.MemoryBus {
	if g == nil || g.Reported == nil || run.MemoryMHz == nil || g.Reported.MIG != nil && *g.Reported.MIG {
		return nil
	}
	now := *g.Reported
	now.MemoryClockMHz = run.MemoryMHz
	peak, ok := now.CurrentPeak()
	if !ok {
		return nil
	}
	return &reports.MemoryBus{MemoryClockMHz: int(*run.MemoryMHz), BusWidthBits: int(*now.BusWidthBits), PState: run.PState, Peak: rounded(float64(peak))}
}

// lowClock is the share of the highest memory clock below which a note is due.
// GeForce cards compute at 97.4 % of it, in P2.
const lowClock = 0.97

// gpuNotes are what was found of a GPU before the first probe, and a memory
// clock that stayed low.
func gpuNotes(run *probes.Run, g *probes.GPU) []string {
	if g == nil {
		return nil
	}
	notes := g.Notes
	if r := g.Reported; r != nil && r.MaxMemoryClockMHz != nil && run.MemoryMHz != nil && float64(*run.MemoryMHz) < lowClock*float64(*r.MaxMemoryClockMHz) {
		state := ""
		if run.PState != nil {
			state = fmt.Sprintf(" in P%d", *run.PState)
		}
		notes = append(notes, fmt.Sprintf("the memory clock was %d MHz%s, its highest is %d MHz: the read ceiling is that of a slowed memory", *run.MemoryMHz, state, *r.MaxMemoryClockMHz))
	}
	return notes
}

// clockWindows are the clock records of a case; start is the run's.
func clockWindows(r probes.Result, start time.Time) []reports.ClockWindow {
	if r.Outcome != probes.Measured {
		return nil
	}
	var out []reports.ClockWindow
	for _, w := range r.Clocks {
		one := reports.ClockWindow{StartS: rounded(w.Start.Sub(start).Seconds()), EndS: rounded(w.End.Sub(start).Seconds()),
			Blocks: w.Blocks, InvalidBlocks: w.Invalid, Values: w.Blocks - w.Invalid, Looks: w.Looks,
			SMMHz: whole(w.SMLeastMHz), SMMostMHz: whole(w.SMMostMHz), MemoryMHz: whole(w.MemoryLeastMHz), MemoryMostMHz: whole(w.MemoryMostMHz),
			PState: w.PState, PowerW: w.PowerMostW, TemperatureC: w.TemperatureMostC}
		if r.KeptInvalid {
			one.Values = w.Blocks
		}
		if w.Reasons != nil {
			one.ClocksReasons = append([]string{}, w.Reasons.Names()...)
		}
		one.ClocksHeldMs = heldMs(w.Held)
		out = append(out, one)
	}
	return out
}

func heldMs(held map[hardware.Policy]time.Duration) map[string]float64 {
	if len(held) == 0 {
		return nil
	}
	out := map[string]float64{}
	for p, d := range held {
		out[string(p)] = rounded(d.Seconds() * 1e3)
	}
	return out
}

func whole(v *uint32) *int {
	if v == nil {
		return nil
	}
	n := int(*v)
	return &n
}
