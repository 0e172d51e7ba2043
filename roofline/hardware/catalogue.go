package hardware

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"decodegap/roofline/nearest"
)

//go:embed devices/*.json
var deviceFiles embed.FS

// loadCatalogue parses the embedded folder once, in the order of file names.
var loadCatalogue = sync.OnceValues(func() ([]Device, error) {
	entries, err := deviceFiles.ReadDir("devices")
	if err != nil {
		return nil, fmt.Errorf("read the device catalogue: %w", err)
	}
	var out []Device
	for _, e := range entries {
		data, err := deviceFiles.ReadFile("devices/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the device catalogue: %w", err)
		}
		d, err := ParseDevice("devices/"+e.Name(), data)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
})

// Catalogue returns every GPU of the catalogue, sorted by file name. It panics
// only if a file compiled into the program is broken, which a test excludes.
func Catalogue() []Device {
	devices, err := loadCatalogue()
	if err != nil {
		panic(err)
	}
	return slices.Clone(devices)
}

// Find returns the GPU that name means: its name, an alias or the name its
// driver reports, whatever the case, spaces and dashes. It never completes a
// name: one that several parts share ("RTX PRO 6000") is an error that lists
// them with their bandwidths, an unknown one an error that names the nearest.
func Find(name string) (Device, error) {
	want := fold(name)
	devices := Catalogue()
	if want != "" {
		for _, d := range devices {
			if slices.ContainsFunc(d.names(), func(n string) bool { return fold(n) == want }) {
				return d, nil
			}
		}
	}
	if few := startingWith(devices, want); len(few) > 0 {
		return Device{}, fmt.Errorf("hardware %q: name one of %s", shorten(name), strings.Join(few, ", "))
	}
	var known []string
	for _, d := range devices {
		known = append(known, d.Name)
	}
	hint := nearest.Hint(name, known)
	if hint == "" {
		hint = "see `decodegap list hardware`"
	}
	return Device{}, fmt.Errorf("hardware %q is not in the catalogue; %s", shorten(name), hint)
}

// startingWith describes the devices whose name begins with the folded text.
func startingWith(devices []Device, want string) []string {
	if len(want) < 2 {
		return nil
	}
	var out []string
	for _, d := range devices {
		if strings.HasPrefix(fold(d.Name), want) {
			out = append(out, fmt.Sprintf("%q (%s GB, %s GB/s)", d.Name, d.MemoryGB, d.BandwidthGBs))
		}
	}
	return out
}

// names is everything a device answers to.
func (d Device) names() []string {
	return slices.Concat([]string{d.Name}, d.Aliases, d.ReportedNames)
}

// fold removes what people write differently: case, spaces, dashes,
// underscores and the vendor's name.
func fold(s string) string {
	if len(s) > maxNameBytes {
		s = s[:maxNameBytes]
	}
	s = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '_':
			return -1
		}
		return r
	}, strings.ToLower(s))
	for _, vendor := range []string{"nvidia", "amd"} {
		if rest := strings.TrimPrefix(s, vendor); rest != "" {
			s = rest
		}
	}
	return s
}

// shorten keeps a hostile name from filling the screen.
func shorten(s string) string {
	if len(s) > maxNameBytes {
		return s[:maxNameBytes] + "…"
	}
	return s
}

// maxNameBytes bounds the names of GPUs; NVML's own limit is 96.
const maxNameBytes = 120
