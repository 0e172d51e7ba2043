package traces

import (
	"slices"
	"sort"
)

// cuts are where the events that a Collector keeps end: the earliest event of
// each device, and of each rank's host, that was not kept.
type cuts struct {
	at   map[place]*Event
	last *Event // of place from
	from place
}

// onHost is the device of a rank's host events here.
const onHost = -1 << 31

// add takes an event that is not kept.
func (c *cuts) add(e Event) {
	p := place{e.Rank, e.Device}
	if !e.Kind.IsGPU() && e.Kind != GPURange {
		p.device = onHost
	}
	if c.last == nil || c.from != p {
		if c.at == nil {
			c.at = map[place]*Event{}
		}
		if c.at[p] == nil {
			first := e
			c.at[p] = &first
		}
		c.last, c.from = c.at[p], p
	}
	if e.Start < c.last.Start {
		*c.last = e
	}
}

// apply takes off d, whose events are in time order, what starts when
// something is missing already, and annotations that reach so far.
func (c *cuts) apply(d *Device) {
	gpu, host := c.at[place{d.Rank, d.Device}], c.at[place{d.Rank, onHost}]
	if gpu == nil {
		gpu = host
	}
	if gpu == nil {
		return
	}
	end := gpu.Start
	if host != nil {
		end = min(end, host.Start)
	}
	before := func(events []Event) []Event {
		n := sort.Search(len(events), func(i int) bool { return events[i].Start >= end })
		return events[:n:n]
	}
	kept := before(d.GPU)
	// An annotation on the host whose kernels run later is over before they are.
	gone := map[call]bool{}
	for _, e := range append(slices.Clip(d.GPU)[len(kept):], *gpu) {
		if e.Kind.IsGPU() && e.Corr != 0 {
			gone[e.call()] = true
		}
	}
	annotated := end
	for _, l := range d.Launches {
		if gone[l.call()] {
			annotated = min(annotated, l.Start)
		}
	}
	d.GPU, d.Launches, d.Syncs = kept, before(d.Launches), before(d.Syncs)
	d.Ranges = slices.DeleteFunc(slices.Clone(d.Ranges), func(e Event) bool { return e.End() > annotated })
}
