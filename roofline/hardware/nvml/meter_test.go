package nvml

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"decodegap/roofline/hardware"
)

func TestTelemetry(t *testing.T) {
	drv := newFake(t, "h200_x2")
	watch, err := observe(drv, drv.inv.GPUs[1].BusID)
	if err != nil {
		t.Fatal(err)
	}
	g, warnings := watch.GPU()
	if g.Name != "NVIDIA H200" || g.BusID != drv.inv.GPUs[1].BusID || g.ECC == nil || !*g.ECC || len(warnings) > 0 {
		t.Errorf("GPU %+v, warnings %q", g, warnings)
	}
	c, err := watch.Clocks(true)
	if err != nil {
		t.Fatal(err)
	}
	if *c.SMMHz != 1980 || *c.MemoryMHz != 3201 || *c.PState != 0 || *c.PowerW != 412.5 || *c.TemperatureC != 61 || *c.BusyPercent != 7 {
		t.Errorf("clocks %+v", c)
	}
	if got := c.Reasons.Names(); !slices.Equal(got, []string{"sw_power_cap", "sw_thermal_slowdown"}) || c.Reasons.Throttling() != hardware.SWThermal {
		t.Errorf("reasons %q, throttling %s", got, c.Reasons.Throttling())
	}
	if len(c.Held) != len(policies) || c.Held[hardware.PolicyThermal] != 3*time.Millisecond {
		t.Errorf("held %v", c.Held)
	}
	if c, err = watch.Clocks(false); err != nil || c.Held != nil || c.BusyPercent != nil {
		t.Errorf("a quick look gave the slow values: %+v, %v", c, err)
	}
	watch.Close()
	if !drv.closed {
		t.Error("the driver stays open")
	}
}

// TestTelemetryUnsupported: what a GPU does not report is absent, alone.
func TestTelemetryUnsupported(t *testing.T) {
	drv := newFake(t, "h200_x2")
	for _, what := range []string{"pstate", "reasons", "power", "temperature", "busy", "held power"} {
		drv.broken[what] = errNotReported
	}
	drv.broken["held thermal"] = errors.New("unknown error")
	watch, err := observe(drv, drv.inv.GPUs[0].BusID)
	if err != nil {
		t.Fatal(err)
	}
	c, err := watch.Clocks(true)
	if err != nil {
		t.Fatal(err)
	}
	if c.SMMHz == nil || c.MemoryMHz == nil || c.PState != nil || c.Reasons != nil || c.PowerW != nil || c.TemperatureC != nil || c.BusyPercent != nil {
		t.Errorf("clocks %+v", c)
	}
	if _, has := c.Held[hardware.PolicyPower]; has || len(c.Held) != len(policies)-2 {
		t.Errorf("held %v", c.Held)
	}
}

// TestTelemetryRefused: a driver that tells nothing is no telemetry.
func TestTelemetryRefused(t *testing.T) {
	lost := errors.New("GPU is lost")
	for _, c := range []struct {
		name, id string
		broken   []string
		err      error
		want     string
	}{
		{"another address", "00000000:ff:00.0", nil, nil, "find the GPU at 00000000:ff:00.0: not reported"},
		{"an address of control characters", "\x1b[31m", nil, nil, "find the GPU at ?[31m"},
		{"lost", "", []string{"sm", "reasons"}, lost, "GPU is lost"},
		{"nothing is supported", "", []string{"sm", "reasons"}, errNotReported, "the driver reports no clock of this GPU"},
	} {
		drv := newFake(t, "h200_x2")
		if c.id == "" {
			c.id = drv.inv.GPUs[0].BusID
			drv.inv.GPUs[0].MemoryClockMHz = nil
		}
		for _, what := range c.broken {
			drv.broken[what] = c.err
		}
		if _, err := observe(drv, c.id); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", c.name, err, c.want)
		}
	}
}

// TestPeers: every pair must reach each other, or the first reason is told.
func TestPeers(t *testing.T) {
	for _, c := range []struct {
		name, says string
		err        error
		want       string
	}{
		{"rtx_pro_6000_server_x8", hardware.PeerOK, nil, hardware.PeerOK},
		{"rtx_pro_6000_server_x8", "the chipset does not\x1b support it", nil, "the chipset does not? support it"},
		{"rtx_pro_6000_server_x8", "", errNotReported, ""},
		{"rtx_4090", hardware.PeerOK, nil, ""}, // one GPU has no peer
	} {
		drv := newFake(t, c.name)
		drv.inv.PeerToPeer, drv.broken["peer"] = c.says, c.err
		inv, err := read(context.Background(), drv)
		if err != nil {
			t.Fatal(err)
		}
		if inv.PeerToPeer != c.want {
			t.Errorf("%s, %q, %v: peers %q, want %q", c.name, c.says, c.err, inv.PeerToPeer, c.want)
		}
	}
}
