package hardware

import (
	"errors"
	"fmt"
	"strings"
)

// ErrPartitioned says that a GPU is split by MIG, so that no catalogue figure
// holds for what a process sees of it.
var ErrPartitioned = errors.New("MIG mode is on")

// Match finds the catalogue's device for a GPU that a driver reported, by the
// whole reported name and the memory size. It never falls back on a similar
// part: an H200 NVL is not an H200, and a memory size that does not fit the
// name is an error.
func Match(g GPU) (Device, error) {
	name := Printable(shorten(g.Name))
	d, ok := reported(g.Name)
	if !ok {
		return Device{}, fmt.Errorf("GPU %q is not in the catalogue%s; name one with --hardware, or give --bandwidth", name, relatives(g.Name))
	}
	if g.MIG != nil && *g.MIG {
		return Device{}, fmt.Errorf("GPU %q: %w: an instance has only part of the memory bandwidth and the SMs; turn MIG off, or give --bandwidth", name, ErrPartitioned)
	}
	if g.MemoryBytes != nil && !d.fits(*g.MemoryBytes) {
		return Device{}, fmt.Errorf("GPU %q reports %.1f GiB of memory, but %s has %s GB: this is another part; name it with --hardware, or give --bandwidth",
			name, float64(*g.MemoryBytes)/(1<<30), d.Name, d.MemoryGB)
	}
	if cc := d.ComputeCapability; cc != nil && g.ComputeCapability != "" && g.ComputeCapability != cc.Value {
		return Device{}, fmt.Errorf("GPU %q reports compute capability %s, but %s has %s: this is another part; name it with --hardware",
			name, Printable(shorten(g.ComputeCapability)), d.Name, cc.Value)
	}
	return d, nil
}

// reported finds the device whose driver prints exactly this name.
func reported(name string) (Device, bool) {
	for _, d := range Catalogue() {
		for _, r := range d.ReportedNames {
			if strings.EqualFold(r, name) {
				return d, true
			}
		}
	}
	return Device{}, false
}

// relatives names catalogue parts whose reported name is continued by this one
// ("NVIDIA H200" by "NVIDIA H200 NVL"), so that the error can say what it was
// not taken for.
func relatives(name string) string {
	lower := strings.ToLower(name)
	var near []string
	for _, d := range Catalogue() {
		for _, r := range d.ReportedNames {
			if strings.HasPrefix(lower, strings.ToLower(r)+" ") {
				near = append(near, fmt.Sprintf("%s with %s GB/s", d.Name, d.BandwidthGBs))
			}
		}
	}
	if len(near) == 0 {
		return ""
	}
	return " (" + strings.Join(near, " and ") + " is another part)"
}

// fits says whether a reported memory size can be the marketed one. Drivers
// report binary gigabytes, less what they and ECC keep: 15 GiB of 16, 268.6 of
// 288.
func (d Device) fits(reported uint64) bool {
	gib := float64(reported) / (1 << 30)
	return gib >= 0.9*d.MemoryGB.Lo && gib <= 1.02*d.MemoryGB.Hi
}
