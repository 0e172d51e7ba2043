package assemble

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"decodegap/traces"
)

// Bounds of what one file can make the reading hold. No trace comes near them:
// a file that does is damaged, or made to be read slowly. What lies beyond is
// counted and said, never silently left out.
const (
	// maxPlaces bounds the devices of a file, by rank and number, and the
	// ranks that have host events only.
	maxPlaces = 4096
	// maxKernelNames bounds the kernels that have a row of their own.
	maxKernelNames = 1 << 14
	// maxNameBytes bounds the text of the names that are held; behind it they
	// are cut to cutName bytes.
	maxNameBytes = 16 << 20
	cutName      = 64
	// maxTotals bounds the rows of Totals.
	maxTotals = 1 << 17
	// maxHeld bounds the events of one kind of all files together, and leastHeld
	// the share of one file from below: it should hold a few steps.
	maxHeld   = 120_000
	leastHeld = 8_000
	// readMemory is what the collector of garbage is asked to stay below while
	// traces are read, in bytes.
	readMemory = 176 << 20
)

// otherNames is the row of the kernels that have none of their own.
const otherNames = "(all other kernel names)"

// heldOf is how many events of one kind are kept of each of n files.
func heldOf(n int) int {
	return min(maxTraceEvents, max(leastHeld, maxHeld/max(n, 1)))
}

// places tells the devices of a file apart, the first maxPlaces of them.
type places struct {
	known map[[2]int]bool
	last  [2]int
	lastn bool  // last is known
	left  int64 // events of devices behind the bound
}

// admit says whether an event is of a device that is told apart.
func (p *places) admit(e traces.Event) bool {
	at := [2]int{e.Rank, e.Device}
	if p.lastn && at == p.last {
		return true
	}
	if !p.known[at] {
		if len(p.known) >= maxPlaces {
			p.left++
			return false
		}
		if p.known == nil {
			p.known = map[[2]int]bool{}
		}
		p.known[at] = true
	}
	p.last, p.lastn = at, true
	return true
}

// heldNames bounds the text of names that are held.
type heldNames struct {
	known map[string]string
	bytes int
	cut   int64 // names that were cut
}

// hold gives the name that is held for name.
func (h *heldNames) hold(name string) string {
	if s, ok := h.known[name]; ok {
		return s
	}
	if h.bytes >= maxNameBytes && len(name) > cutName {
		h.cut++
		end := cutName
		for end > 0 && !utf8.RuneStart(name[end]) {
			end--
		}
		return strings.Clone(name[:end]) + "…"
	}
	if h.bytes < maxNameBytes {
		if h.known == nil {
			h.known = map[string]string{}
		}
		h.known[name] = name
		h.bytes += len(name) + 64
	}
	return name
}

// bounds says which bounds a file reached, and what is odd about its events.
func (t *Trace) bounds(path string, f *tracedFile) {
	if f.instant > 0 {
		t.Warn(path, "zero-duration", fmt.Sprintf("%d of %d kernels have a duration of 0: they count as launched and add no time", f.instant, f.kernelsRead))
	}
	if n := f.places.left; n > 0 {
		t.Warn(path, "too-many-devices", fmt.Sprintf("%d events belong to ranks or devices behind the first %d and were left out: no host has so many, the numbers are damaged", n, maxPlaces))
	}
	if f.lines.StreamsOpen() {
		t.Warn(path, "too-many-streams", fmt.Sprintf("more than %d streams: they were not all counted", traces.MaxStreams))
	}
	if n := f.names.cut; n > 0 {
		t.Warn(path, "names-cut", fmt.Sprintf("%d names were cut to %d bytes: the names before them take more than %d MB", n, cutName, maxNameBytes>>20))
	}
}
