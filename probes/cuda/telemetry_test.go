//go:build cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/cudatest"
	"decodegap/roofline/hardware"
)

// telemetryVariable scripts the watch on the stand-in's GPU, in the child:
//
//	absent            there is none
//	plain             clocks that do not move
//	bare              nothing but the SM clock is reported
//	hot:FIRST-LAST    these readings, counted from 1, find the GPU throttled
//	slow:FIRST-LAST   these readings find the memory clock low
//	fails:FIRST       from this reading on the driver answers with an error
//	hangs:FIRST       from this reading on it does not answer
//	crash             the process does not survive the first
//	others            two other processes are on the GPU
const telemetryVariable = "DECODEGAP_TEST_TELEMETRY"

// scriptedTelemetry is the child's.
func scriptedTelemetry(busID string) (hardware.Telemetry, error) {
	kind, args, _ := strings.Cut(os.Getenv(telemetryVariable), ":")
	if kind == "absent" || kind == "" {
		return nil, errors.New("scripted: no library")
	}
	if kind == "crash" {
		panic("scripted")
	}
	if busID != "0000:1b:00.0" {
		return nil, fmt.Errorf("asked for %q", busID)
	}
	s := &scriptedGPU{kind: kind, last: 1 << 30}
	from, to, ranged := strings.Cut(args, "-")
	s.first, _ = strconv.Atoi(from)
	if ranged {
		s.last, _ = strconv.Atoi(to)
	}
	return s, nil
}

type scriptedGPU struct {
	kind               string
	first, last, looks int
}

func (s *scriptedGPU) Close() {}

func (s *scriptedGPU) GPU() (hardware.GPU, []string) {
	width, processes := uint32(6016), 0
	g := hardware.GPU{Name: "Fake GPU", BusWidthBits: &width, ComputeProcesses: &processes}
	if s.kind == "others" {
		processes = 2
	}
	return g, nil
}

func (s *scriptedGPU) Clocks(held bool) (hardware.Clocks, error) {
	s.looks++
	hit := s.first > 0 && s.looks >= s.first && s.looks <= s.last
	sm, memory, state, reasons := uint32(1980), uint32(3201), 0, hardware.Reason(0)
	if s.kind == "bare" {
		return hardware.Clocks{SMMHz: &sm}, nil
	}
	switch {
	case hit && s.kind == "hot":
		reasons = hardware.SWThermal | hardware.SWPowerCap
	case hit && s.kind == "slow":
		memory, state = 2600, 2
	case hit && s.kind == "fails":
		return hardware.Clocks{}, errors.New("GPU is lost")
	case hit && s.kind == "hangs":
		select {}
	}
	c := hardware.Clocks{SMMHz: &sm, MemoryMHz: &memory, PState: &state, Reasons: &reasons}
	if held {
		c.Held = map[hardware.Policy]time.Duration{hardware.PolicyPower: time.Duration(s.looks) * time.Millisecond}
	}
	return c, nil
}

// TestTelemetry: what is seen of the GPU from outside goes with each window,
// and what speaks against a window is held against its blocks.
func TestTelemetry(t *testing.T) {
	lib := cudatest.Library(t, root)
	for _, c := range []struct {
		script string
		none   string // why there is no telemetry
		doubt  string // of the read
		note   string
		ended  bool // the records stop before the blocks do
		bare   bool
	}{
		{script: "plain"},
		{script: "bare", bare: true},
		{script: "absent", none: "scripted: no library"},
		{script: "crash", none: "the process that asked for it did not survive: the process that ran it ended early: exit status 2: panic: scripted"},
		{script: "hot:3-4", doubt: "throttle: the GPU's clocks were held down: sw_thermal_slowdown"},
		{script: "fails:5", note: "telemetry ended during the run: GPU is lost", ended: true},
		{script: "hangs:5", note: "telemetry ended during the run: the driver did not answer within 1s", ended: true},
		{script: "others", note: "before the first probe: load: 2 other processes on the GPU"},
	} {
		t.Run(c.script, func(t *testing.T) {
			p := &Parent{Command: thisProgram(telemetryVariable + "=" + c.script)}
			out, err := p.Run(t.Context(), fakeRequest(lib))
			if err != nil {
				t.Fatal(err)
			}
			if (out.GPU.Reported == nil) != (c.none != "") || !strings.Contains(out.GPU.NoTelemetry, c.none) {
				t.Errorf("reported %+v, without telemetry because of %q", out.GPU.Reported, out.GPU.NoTelemetry)
			}
			if notes := strings.Join(append(out.GPU.Notes, out.Run.Notes...), "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("notes %q, expected %q", notes, c.note)
			}
			for name, r := range outcomes(out.Run) {
				if r.Outcome != probes.Measured {
					t.Fatalf("%s: %s %s", name, r.Outcome, r.Reason)
				}
				var blocks, invalid int
				for i, w := range r.Clocks {
					blocks, invalid = blocks+w.Blocks, invalid+w.Invalid
					if w.Window != i || w.Looks < 2 && !c.ended || w.SMLeastMHz == nil || (w.MemoryLeastMHz == nil) != c.bare || (w.Reasons == nil) != c.bare || !w.End.After(w.Start) {
						t.Errorf("%s: window %d: %+v", name, i, w)
					}
				}
				if want := r.Blocks; c.none == "" && !c.ended && blocks != want || c.none != "" && blocks > 0 {
					t.Errorf("%s: clock records of %d of %d blocks", name, blocks, want)
				}
				if blocks > 0 && !c.ended && invalid != r.Invalid {
					t.Errorf("%s: %d blocks invalid by their records, %d by the result", name, invalid, r.Invalid)
				}
			}
			read := outcomes(out.Run)["cuda/read"]
			if c.doubt != "" && (read.Invalid == 0 || !slices.ContainsFunc(read.Doubts, func(d string) bool { return strings.HasPrefix(d, c.doubt) })) {
				t.Errorf("read: %d of %d blocks invalid, doubts %q", read.Invalid, read.Blocks, read.Doubts)
			}
			if c.doubt == "" && read.Invalid > 0 {
				t.Errorf("read: %d blocks invalid, doubts %q", read.Invalid, read.Doubts)
			}
			if clock := out.Run.MemoryMHz; c.none == "" && !c.bare && (clock == nil || *clock != 3201) {
				t.Errorf("memory clock %v", clock)
			}
		})
	}
}
