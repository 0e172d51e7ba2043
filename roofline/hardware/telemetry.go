package hardware

import (
	"strings"
	"time"
)

// Telemetry tells from outside what one GPU does. Its calls may hang with the
// driver: who asks beside a measurement sets a deadline.
type Telemetry interface {
	// GPU is what the GPU is, with the processes that compute on it now.
	GPU() (GPU, []string)
	// Clocks is what it does at this moment; held asks for the slower counters
	// of Clocks.Held too. An error is that of a driver that answers nothing.
	Clocks(held bool) (Clocks, error)
	Close()
}

// Clocks is a GPU at one moment. What its driver does not report is absent.
type Clocks struct {
	SMMHz        *uint32
	MemoryMHz    *uint32
	PState       *int    // 0 is the fastest
	Reasons      *Reason // why the clocks are no higher
	PowerW       *float64
	TemperatureC *int
	BusyPercent  *int // of the last second or so, in which a kernel ran

	// Held is how long each policy has held the clocks down since the driver
	// was loaded; a policy that is not counted is absent.
	Held map[Policy]time.Duration
}

// Reason is a set of reasons why a GPU's clocks are no higher, in NVML's bits.
type Reason uint64

// The reasons, as nvidia-smi -q -d PERFORMANCE lists them.
const (
	GPUIdle           Reason = 1 << iota
	ApplicationClocks        // a setting
	SWPowerCap               // the power limit, held in software
	HWSlowdown               // heat, power or a brake, in hardware
	SyncBoost                // another GPU of the group
	SWThermal
	HWThermal
	HWPowerBrake // the power supply's signal
	DisplayClocks
	BoardLimit
	Reliability
)

// reasonNames are the reasons' names, the first that of the lowest bit.
var reasonNames = []string{"gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost",
	"sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "display_clock_setting", "board_limit", "reliability"}

// throttling are the reasons that speak against a measurement by themselves:
// heat and hardware slow the GPU down for what is not its work. Idleness and
// settings do not; neither does the power limit, at which a GPU at full load
// runs all day: it is a part of what the card reaches, and where it comes and
// goes the clock that falls is evidence of its own.
const throttling = HWSlowdown | SWThermal | HWThermal | HWPowerBrake

// Throttling are the reasons among r that speak against a measurement.
func (r Reason) Throttling() Reason { return r & throttling }

// Names lists the reasons; bits that NVML gained since are left out.
func (r Reason) Names() []string {
	var names []string
	for i, name := range reasonNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func (r Reason) String() string { return strings.Join(r.Names(), ", ") }

// Policy is what holds clocks down, as the driver counts it.
type Policy string

// The policies whose time is counted.
const (
	PolicyPower       Policy = "power"
	PolicyThermal     Policy = "thermal"
	PolicySyncBoost   Policy = "sync_boost"
	PolicyBoardLimit  Policy = "board_limit"
	PolicyReliability Policy = "reliability"
)
