//go:build cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/hardware"
	"decodegap/roofline/unit"
)

// Telemetry opens the watch on the GPU at a PCI address.
type Telemetry func(busID string) (hardware.Telemetry, error)

// outside is what can be seen of the GPU from outside its kernels.
type outside struct {
	watch    *probes.GPUWatch
	reported *hardware.GPU
	notes    []string
	none     string // why there is no watch
}

// look opens the watch on the i-th GPU and says what goes on there before
// anything of ours does.
func look(l *driver.Library, i int, open Telemetry) outside {
	if open == nil {
		return outside{none: "this program has none"}
	}
	id, err := l.BusID(i)
	if err != nil {
		return outside{none: fmt.Sprintf("the GPU's PCI address is not known: %v", err)}
	}
	type answer struct {
		seen outside
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		t, err := open(id)
		if err != nil {
			got <- answer{err: err}
			return
		}
		got <- answer{seen: firstLook(t)}
	}()
	timer := time.NewTimer(openPatience)
	defer timer.Stop()
	a := answer{err: errors.New("the driver did not answer within " + openPatience.String())}
	select {
	case a = <-got:
	case <-timer.C:
	}
	if a.err != nil {
		return outside{none: a.err.Error()}
	}
	return a.seen
}

// openPatience is how long a driver may take to answer at first; one that was
// not loaded takes seconds.
const openPatience = 15 * time.Second

// firstLook says what goes on there now.
func firstLook(t hardware.Telemetry) outside {
	g, notes := t.GPU()
	seen := outside{watch: &probes.GPUWatch{Ask: t.Clocks}, reported: &g, notes: notes}
	say := func(format string, args ...any) {
		seen.notes = append(seen.notes, "before the first probe: "+fmt.Sprintf(format, args...))
	}
	if n := g.ComputeProcesses; n != nil && *n > 0 {
		used := ""
		if g.MemoryUsedBytes != nil {
			used = fmt.Sprintf(", %s of memory used", unit.Bytes(*g.MemoryUsedBytes))
		}
		say("load: %s on the GPU%s; what they compute meanwhile slows the probes down", count(*n, "other process", "other processes"), used)
	}
	if c, err := t.Clocks(true); err == nil {
		if c.BusyPercent != nil && *c.BusyPercent > 0 {
			say("load: the GPU was busy %d %% of the last second", *c.BusyPercent)
		}
		if c.Reasons != nil && c.Reasons.Throttling() != 0 {
			say("throttle: the GPU's clocks are held down: %s", c.Reasons.Throttling())
		}
	}
	if g.MIG != nil && *g.MIG {
		say("MIG mode is on: what is probed is an instance, with a part of the GPU's bandwidth and multiprocessors")
	}
	if limit, usual := g.PowerLimitW, g.DefaultPowerLimitW; limit != nil && usual != nil && *limit < *usual {
		say("power limit %.0f W, by default %.0f W", *limit, *usual)
	}
	return seen
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// describe adds it to what probes and reports are told of the GPU.
func (o outside) describe(g *probes.GPU) {
	g.Reported, g.NoTelemetry, g.Notes = o.reported, o.none, o.notes
}
