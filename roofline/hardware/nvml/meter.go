package nvml

import (
	"errors"
	"fmt"
	"time"

	"decodegap/roofline/hardware"
)

// meter is what a GPU does at this moment.
type meter interface {
	SMClockMHz() (uint32, error)
	MemoryClockMHz() (uint32, error)
	PState() (int, error)
	Reasons() (uint64, error)
	PowerMilliwatts() (uint32, error)
	TemperatureC() (int, error)
	BusyPercent() (int, error)
	Held(hardware.Policy) (time.Duration, error)
}

// policies are those whose time is read.
var policies = []hardware.Policy{hardware.PolicyPower, hardware.PolicyThermal, hardware.PolicySyncBoost, hardware.PolicyBoardLimit, hardware.PolicyReliability}

// OpenTelemetry finds the GPU at a PCI address ("0000:1b:00.0"), whose index the
// CUDA driver may count otherwise. Its error is ErrUnavailable (by errors.Is)
// where there is no driver to ask.
func OpenTelemetry(busID string) (hardware.Telemetry, error) {
	drv, err := open()
	if err != nil {
		return nil, err
	}
	t, err := observe(drv, busID)
	if err != nil {
		drv.Close()
		return nil, err
	}
	return t, nil
}

func observe(drv driver, busID string) (hardware.Telemetry, error) {
	dev, err := drv.DeviceByBusID(busID)
	if err != nil {
		return nil, fmt.Errorf("%w: find the GPU at %s: %w", ErrUnavailable, clean(busID), err)
	}
	t := &telemetry{drv: drv, dev: dev}
	if _, err := t.Clocks(false); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return t, nil
}

// telemetry is the hardware.Telemetry of one device.
type telemetry struct {
	drv driver
	dev device
}

func (t *telemetry) Close() { t.drv.Close() }

// GPU reads what an inventory has of the GPU, and what could not be read.
func (t *telemetry) GPU() (hardware.GPU, []string) {
	var inv hardware.Inventory
	g, err := readDevice(t.dev, notes{inv: &inv})
	if err != nil {
		inv.Warnings = append(inv.Warnings, clean(err.Error()))
	}
	return g, inv.Warnings
}

// errNothing is a driver that has neither clock nor reason to tell: whatever
// else it reports says nothing of a measurement.
var errNothing = errors.New("the driver reports no clock of this GPU")

// Clocks reads each value by itself: what fails or is not supported is absent.
func (t *telemetry) Clocks(held bool) (hardware.Clocks, error) {
	var c hardware.Clocks
	var failed error
	c.SMMHz = now(t.dev.SMClockMHz, &failed)
	c.MemoryMHz = now(t.dev.MemoryClockMHz, &failed)
	c.PState = now(t.dev.PState, &failed)
	if bits := now(t.dev.Reasons, &failed); bits != nil {
		r := hardware.Reason(*bits)
		c.Reasons = &r
	}
	if c.SMMHz == nil && c.MemoryMHz == nil && c.Reasons == nil {
		if failed == nil {
			failed = errNothing
		}
		return c, failed
	}
	c.PowerW = watts(now(t.dev.PowerMilliwatts, &failed))
	c.TemperatureC = now(t.dev.TemperatureC, &failed)
	if !held {
		return c, nil
	}
	c.BusyPercent = now(t.dev.BusyPercent, &failed)
	c.Held = map[hardware.Policy]time.Duration{}
	for _, p := range policies {
		if d := now(func() (time.Duration, error) { return t.dev.Held(p) }, &failed); d != nil {
			c.Held[p] = *d
		}
	}
	return c, nil
}

// now is a value of this moment, nil where there is none; the first failure
// that is more than a missing value stays.
func now[T any](get func() (T, error), failed *error) *T {
	v, err := get()
	if err != nil {
		if !errors.Is(err, errNotReported) && *failed == nil {
			*failed = err
		}
		return nil
	}
	return &v
}
