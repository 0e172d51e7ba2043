package traces

import (
	"cmp"
	"maps"
	"slices"
)

// Collector gathers a file's events into Devices. Operators, other runtime
// calls and the profiler's own work are not kept: no step needs them.
type Collector struct {
	// Budget is the most events of one kind that are kept, 0 for no bound. An
	// event is about 150 bytes. Writers put each kind in about time order, so
	// what is kept is the beginning. Done cuts all kinds where the first of
	// them is no longer whole: no step lacks operations that were not kept.
	Budget int

	gpu     map[place][]Event
	shadows map[place][]Event
	host    map[int]*hostEvents // by rank
	count   [Overhead + 1]int
	left    int64
	cuts    cuts
}

type hostEvents struct{ ranges, launches, syncs []Event }

// Keeps says whether an event of a kind is kept if it is added now.
func (c *Collector) Keeps(kind Kind) bool {
	switch kind {
	case Kernel, Memcpy, Memset, Range, GPURange, Launch, Sync:
		return c.Budget <= 0 || c.count[kind] < c.Budget
	}
	return false
}

// Add takes an event.
func (c *Collector) Add(e Event) {
	switch e.Kind {
	case Kernel, Memcpy, Memset, Range, GPURange, Launch, Sync:
	default:
		return
	}
	if c.Budget > 0 && c.count[e.Kind] >= c.Budget {
		c.left++
		c.cuts.add(e)
		return
	}
	c.count[e.Kind]++
	if c.host == nil {
		c.gpu, c.shadows, c.host = map[place][]Event{}, map[place][]Event{}, map[int]*hostEvents{}
	}
	at := place{e.Rank, e.Device}
	switch {
	case e.Kind.IsGPU():
		c.gpu[at] = append(c.gpu[at], e)
		return
	case e.Kind == GPURange:
		c.shadows[at] = append(c.shadows[at], e)
		return
	}
	h := c.host[e.Rank]
	if h == nil {
		h = &hostEvents{}
		c.host[e.Rank] = h
	}
	switch e.Kind {
	case Range:
		h.ranges = append(h.ranges, e)
	case Launch:
		h.launches = append(h.launches, e)
	case Sync:
		h.syncs = append(h.syncs, e)
	}
}

// Left is how many events the budget had no room for.
func (c *Collector) Left() int64 { return c.left }

// Done gives the devices that have GPU operations, by rank and device. base is
// Meta.Base. The devices of a rank share the slices of its host events.
func (c *Collector) Done(base int64) []Device {
	for _, h := range c.host {
		sortByStart(h.ranges)
		sortByStart(h.launches)
		sortByStart(h.syncs)
	}
	var out []Device
	for _, at := range slices.SortedFunc(maps.Keys(c.gpu), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.device, b.device))
	}) {
		d := Device{Rank: at.rank, Device: at.device, Base: base, GPU: c.gpu[at]}
		sortByStart(d.GPU)
		if h := c.host[at.rank]; h != nil {
			d.Ranges, d.Launches, d.Syncs = h.ranges, h.launches, h.syncs
		}
		if s := c.shadows[at]; len(s) > 0 {
			d.Ranges = append(slices.Clone(d.Ranges), s...)
			sortByStart(d.Ranges)
		}
		if c.cuts.apply(&d); len(d.GPU) == 0 {
			continue
		}
		out = append(out, d)
	}
	*c = Collector{Budget: c.Budget, left: c.left}
	return out
}

// sortByStart keeps the file's order among events that start together.
func sortByStart(events []Event) {
	order := func(a, b Event) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(events, order) {
		slices.SortStableFunc(events, order)
	}
}
