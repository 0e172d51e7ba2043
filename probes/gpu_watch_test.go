package probes

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"decodegap/roofline/hardware"
)

// card is a GPU made of script: what it does is a function of the time since
// the session began.
type card struct {
	bench *bench
	at    func(since time.Duration, c *scriptedClocks) error
}

type scriptedClocks struct {
	sm, memory uint32
	reasons    hardware.Reason
	heat       time.Duration // that the driver has counted
}

func (c card) ask(held bool) (hardware.Clocks, error) {
	v := scriptedClocks{sm: 1980, memory: 3201}
	if err := c.at(c.bench.now.Sub(time.Unix(1000, 0)), &v); err != nil {
		return hardware.Clocks{}, err
	}
	out := hardware.Clocks{SMMHz: &v.sm, MemoryMHz: &v.memory, Reasons: &v.reasons}
	if held {
		out.Held = map[hardware.Policy]time.Duration{hardware.PolicyThermal: v.heat}
	}
	return out, nil
}

// in says whether a time lies in the middle of the first case, which is the
// reference itself.
func in(since time.Duration) bool {
	return since > 620*time.Millisecond && since < 750*time.Millisecond
}

func TestGPUWatch(t *testing.T) {
	for _, c := range []struct {
		name string
		at   func(time.Duration, *scriptedClocks) error
		want string  // the doubt, "" for none
		all  bool    // the whole run is invalid
		last Verdict // of the reference
	}{
		{name: "nothing", at: func(time.Duration, *scriptedClocks) error { return nil }, last: Good},
		{name: "heat for a while", want: "throttle: the GPU's clocks were held down: sw_thermal_slowdown", last: Unreliable,
			at: func(s time.Duration, c *scriptedClocks) error {
				if in(s) {
					c.reasons = hardware.SWThermal | hardware.GPUIdle
				}
				return nil
			}},
		{name: "heat all the time", want: "throttle: the GPU's clocks were held down: hw_slowdown, hw_power_brake_slowdown", last: Unreliable, all: true,
			at: func(_ time.Duration, c *scriptedClocks) error {
				c.reasons = hardware.HWSlowdown | hardware.HWPowerBrake
				return nil
			}},
		{name: "heat that no look met", want: "heat: the GPU's clocks were held down for heat", last: Unreliable,
			at: func(s time.Duration, c *scriptedClocks) error {
				c.heat = max(min(s, 750*time.Millisecond)-620*time.Millisecond, 0)
				return nil
			}},
		{name: "settings, idleness and the power limit", last: Good,
			at: func(_ time.Duration, c *scriptedClocks) error {
				c.reasons = hardware.GPUIdle | hardware.ApplicationClocks | hardware.SWPowerCap | hardware.SyncBoost | hardware.DisplayClocks
				return nil
			}},
		{name: "the power limit, and the clock falls", want: "frequency: the GPU's SM clock was below 97 % of its usual", last: Unreliable,
			at: func(s time.Duration, c *scriptedClocks) error {
				if in(s) {
					c.reasons, c.sm = hardware.SWPowerCap, 1800
				}
				return nil
			}},
		{name: "the power limit at 98 % of the clock", last: Good,
			at: func(s time.Duration, c *scriptedClocks) error {
				if in(s) {
					c.reasons, c.sm = hardware.SWPowerCap, 1950
				}
				return nil
			}},
		{name: "the memory clock falls", want: "frequency: the GPU's memory clock was below 97 % of its usual", last: Unreliable,
			at: func(s time.Duration, c *scriptedClocks) error {
				if in(s) {
					c.memory = 2619
				}
				return nil
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			read := b.read()
			s := b.session(20 * time.Second)
			s.Watch, s.GPU = nil, &GPUWatch{Ask: card{b, c.at}.ask}
			run := s.Run(t.Context(), []Probe{read}, []Probe{read})
			r := find(t, run, "cpu/read")
			var blocks, invalid int
			for _, w := range r.Clocks {
				blocks, invalid = blocks+w.Blocks, invalid+w.Invalid
				if w.Looks < 3 || w.SMLeastMHz == nil || w.Held == nil {
					t.Errorf("window %+v", w)
				}
			}
			if blocks != r.Blocks || invalid != r.Invalid || !r.KeptInvalid && len(r.Time.Values) != r.Blocks-r.Invalid || r.KeptInvalid != c.all {
				t.Errorf("%d blocks and %d invalid by the records, %d and %d by the result, %d values", blocks, invalid, r.Blocks, r.Invalid, len(r.Time.Values))
			}
			if (c.want != "") != (r.Invalid > 0) || c.all != (r.Invalid == r.Blocks) {
				t.Errorf("%d of %d blocks invalid", r.Invalid, r.Blocks)
			}
			if c.want != "" && !slices.ContainsFunc(r.Doubts, func(d string) bool { return strings.HasPrefix(d, c.want) }) {
				t.Errorf("doubts %q, want %q", r.Doubts, c.want)
			}
			if r.Verdict != c.last {
				t.Errorf("verdict %s because of %q, want %s", r.Verdict, r.Doubts, c.last)
			}
			if run.ReadVerdict != c.last {
				t.Errorf("the read ceiling is %s because of %q, want %s", run.ReadVerdict, run.ReadDoubts, c.last)
			}
			if run.MemoryMHz == nil || *run.MemoryMHz != 3201 {
				t.Errorf("memory clock %v", run.MemoryMHz)
			}
		})
	}
}

// TestGPUWatchEnds: a driver that fails or hangs costs the records after that,
// and nothing else.
func TestGPUWatchEnds(t *testing.T) {
	for name, fails := range map[string]func() error{
		"GPU is lost":                          func() error { return errors.New("GPU is lost") },
		"the driver did not answer within 5ms": func() error { select {} },
	} {
		b := newBench()
		all := []Probe{b.read(), b.gemv(1.25)}
		s := b.session(20 * time.Second)
		s.Watch, s.GPU = nil, &GPUWatch{Patience: 5 * time.Millisecond, Ask: card{b, func(since time.Duration, _ *scriptedClocks) error {
			if since > 700*time.Millisecond {
				return fails()
			}
			return nil
		}}.ask}
		run := s.Run(t.Context(), all, all)
		read, gemv := find(t, run, "cpu/read"), find(t, run, "cpu/gemv")
		if read.Verdict != Good || gemv.Verdict != Good || len(read.Clocks) == 0 || len(gemv.Clocks) > 0 {
			t.Errorf("%s: read %s with %d records, gemv %s with %d", name, read.Verdict, len(read.Clocks), gemv.Verdict, len(gemv.Clocks))
		}
		if len(run.Notes) != 1 || !strings.HasPrefix(run.Notes[0], "telemetry ended during the run: "+name) {
			t.Errorf("%s: notes %q", name, run.Notes)
		}
	}
}
