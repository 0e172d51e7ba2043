package nvml

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"decodegap/roofline/hardware"
)

// fake is a driver that says what an inventory file holds.
type fake struct {
	inv    hardware.Inventory
	broken map[string]error // by property
	count  *int
	closed bool
}

func newFake(t *testing.T, name string) *fake {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../testdata/devices", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inv, err := hardware.ReadInventory(f)
	if err != nil {
		t.Fatal(err)
	}
	return &fake{inv: inv, broken: map[string]error{}}
}

func (f *fake) DriverVersion() (string, error) { return f.inv.DriverVersion, f.broken["driver"] }
func (f *fake) CUDAVersion() (int, error) {
	major, minor, _ := strings.Cut(f.inv.CUDAVersion, ".")
	var v int
	for _, r := range major {
		v = v*10 + int(r-'0')
	}
	return v*1000 + int(minor[0]-'0')*10, f.broken["cuda"]
}
func (f *fake) Count() (int, error) {
	if f.count != nil {
		return *f.count, nil
	}
	return len(f.inv.GPUs), f.broken["count"]
}
func (f *fake) Device(i int) (device, error) {
	return fakeGPU{f.inv.GPUs[i], f.broken}, f.broken["device"]
}
func (f *fake) Path(a, b int) (hardware.Path, error) {
	if a == 0 && b == 1 && len(f.inv.GPUs) > 2 {
		return hardware.PathBoard, nil // one near pair must not decide
	}
	return f.inv.FarthestPath, f.broken["path"]
}
func (f *fake) DeviceByBusID(id string) (device, error) {
	for _, g := range f.inv.GPUs {
		if g.BusID == id {
			return fakeGPU{g, f.broken}, f.broken["device"]
		}
	}
	return nil, errNotReported
}
func (f *fake) Peer(a, b int) (string, error) {
	if a == 0 && b == 1 && len(f.inv.GPUs) > 2 {
		return hardware.PeerOK, nil // one good pair must not decide
	}
	return f.inv.PeerToPeer, f.broken["peer"]
}
func (f *fake) Close() { f.closed = true }

type fakeGPU struct {
	hardware.GPU
	broken map[string]error
}

// say returns a reported value, or "not reported" for an absent one.
func say[T any](v *T, err error) (T, error) {
	var zero T
	switch {
	case err != nil:
		return zero, err
	case v == nil:
		return zero, errNotReported
	}
	return *v, nil
}

func (g fakeGPU) Name() (string, error)         { return g.GPU.Name, g.broken["name"] }
func (g fakeGPU) MemoryBytes() (uint64, error)  { return say(g.GPU.MemoryBytes, g.broken["memory"]) }
func (g fakeGPU) BusWidthBits() (uint32, error) { return say(g.GPU.BusWidthBits, g.broken["width"]) }
func (g fakeGPU) MaxMemoryClockMHz() (uint32, error) {
	return say(g.GPU.MaxMemoryClockMHz, g.broken["clock"])
}
func (g fakeGPU) MemoryClockMHz() (uint32, error) { return say(g.GPU.MemoryClockMHz, nil) }
func (g fakeGPU) MaxSMClockMHz() (uint32, error)  { return say(g.GPU.MaxSMClockMHz, nil) }
func (g fakeGPU) PowerLimitMilliwatts() (uint32, error) {
	w, err := say(g.GPU.PowerLimitW, nil)
	return uint32(w * 1000), err
}
func (g fakeGPU) PCIeGen() (int, error)       { return say(g.GPU.PCIeGen, nil) }
func (g fakeGPU) PCIeWidth() (int, error)     { return say(g.GPU.PCIeWidth, nil) }
func (g fakeGPU) MaxPCIeGen() (int, error)    { return say(g.GPU.MaxPCIeGen, nil) }
func (g fakeGPU) MaxPCIeWidth() (int, error)  { return say(g.GPU.MaxPCIeWidth, nil) }
func (g fakeGPU) ActiveNVLinks() (int, error) { return say(g.GPU.ActiveNVLinks, nil) }
func (g fakeGPU) ComputeCapability() (int, int, error) {
	major, minor, _ := strings.Cut(g.GPU.ComputeCapability, ".")
	var v int
	for _, r := range major {
		v = v*10 + int(r-'0')
	}
	return v, int(minor[0] - '0'), nil
}
func (g fakeGPU) MIG() (bool, error)               { return say(g.GPU.MIG, nil) }
func (g fakeGPU) BusID() (string, error)           { return g.GPU.BusID, nil }
func (g fakeGPU) MemoryUsedBytes() (uint64, error) { return say(g.GPU.MemoryUsedBytes, nil) }
func (g fakeGPU) DefaultPowerLimitMilliwatts() (uint32, error) {
	w, err := say(g.GPU.DefaultPowerLimitW, nil)
	return uint32(w * 1000), err
}
func (g fakeGPU) NVLinkVersion() (string, error) { return g.GPU.NVLinkVersion, nil }
func (g fakeGPU) ECC() (bool, error)             { return say(g.GPU.ECC, nil) }
func (g fakeGPU) ComputeMode() (string, error)   { return g.GPU.ComputeMode, nil }
func (g fakeGPU) ComputeProcesses() (int, error) { return say(g.GPU.ComputeProcesses, nil) }

// What a fake does at this moment: the inventory's clocks, and what of the rest
// is not broken.
func (g fakeGPU) SMClockMHz() (uint32, error)      { return say(g.GPU.MaxSMClockMHz, g.broken["sm"]) }
func (g fakeGPU) PState() (int, error)             { return 0, g.broken["pstate"] }
func (g fakeGPU) Reasons() (uint64, error)         { return 0x24, g.broken["reasons"] }
func (g fakeGPU) PowerMilliwatts() (uint32, error) { return 412_500, g.broken["power"] }
func (g fakeGPU) TemperatureC() (int, error)       { return 61, g.broken["temperature"] }
func (g fakeGPU) BusyPercent() (int, error)        { return 7, g.broken["busy"] }
func (g fakeGPU) Held(p hardware.Policy) (time.Duration, error) {
	return 3 * time.Millisecond, g.broken["held "+string(p)]
}

func TestRead(t *testing.T) {
	for _, name := range []string{"h200_x2", "rtx_pro_6000_server_x8", "rtx_pro_6000_workstation_x4", "rtx_4090"} {
		drv := newFake(t, name)
		got, err := read(context.Background(), drv)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(drv.inv, got); diff != "" {
			t.Errorf("%s (-driver +inventory):\n%s", name, diff)
		}
		// What is read must survive the way out of a child process.
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hardware.ReadInventory(strings.NewReader(string(text))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadSurvivesAPoorDriver(t *testing.T) {
	drv := newFake(t, "h200_x2")
	drv.broken["width"] = errNotReported // an old driver
	drv.broken["clock"] = errors.New("GPU is \x1b[1mlost")
	drv.broken["path"] = errors.New("no")
	inv, err := read(context.Background(), drv)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range inv.GPUs {
		if g.BusWidthBits != nil || g.MaxMemoryClockMHz != nil {
			t.Errorf("a value that the driver did not give: %+v", g)
		}
		if _, ok := g.RunningPeak(); ok {
			t.Error("a running peak without its inputs")
		}
	}
	if inv.FarthestPath != "" {
		t.Errorf("path %q from a failing call", inv.FarthestPath)
	}
	all := strings.Join(inv.Warnings, "\n")
	if !strings.Contains(all, "GPU 1: highest memory clock: GPU is ?[1mlost") || strings.Contains(all, "bus width") {
		t.Errorf("warnings %q", inv.Warnings)
	}
}

func TestReadRefuses(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	many, negative := maxGPUs+1, -1
	lost := errors.New("lost")
	for _, c := range []struct {
		name string
		ctx  context.Context
		edit func(*fake)
		want string
	}{
		{"cancelled", cancelled, func(*fake) {}, "canceled"},
		{"too many", context.Background(), func(f *fake) { f.count = &many }, "expected 0 to"},
		{"negative", context.Background(), func(f *fake) { f.count = &negative }, "expected 0 to"},
		{"count fails", context.Background(), func(f *fake) { f.broken["count"] = lost }, "count the GPUs: lost"},
		{"device fails", context.Background(), func(f *fake) { f.broken["device"] = lost }, "open GPU 0: lost"},
		{"name fails", context.Background(), func(f *fake) { f.broken["name"] = lost }, "read GPU 0: name: lost"},
		{"no name", context.Background(), func(f *fake) { f.inv.GPUs[0].Name = "" }, "says nothing"},
	} {
		drv := newFake(t, "h200_x2")
		c.edit(drv)
		if _, err := read(c.ctx, drv); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", c.name, err, c.want)
		}
	}
}

// TestInventoryHere runs against whatever this machine has: a driver, or a
// reason why there is none.
func TestInventoryHere(t *testing.T) {
	inv, err := Inventory(context.Background())
	if err != nil {
		if !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v is not ErrUnavailable", err)
		}
		return
	}
	text, err := json.MarshalIndent(inv, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hardware.ReadInventory(strings.NewReader(string(text))); err != nil {
		t.Error(err)
	}
	t.Logf("%s", text)
}
