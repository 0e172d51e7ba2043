package assemble

import (
	"cmp"
	"slices"

	"decodegap/roofline"
	"decodegap/traces"
)

// TraceTotal is what one rank's GPU spent on one kernel, or on one kind of
// copy or fill, over the whole trace.
type TraceTotal struct {
	Rank, Device int // -1 where the file does not say
	Name         string
	Component    string // "" where not known: behind what is kept for finding steps
	Count        int64  // operations
	Time         int64  // ns, plain sum: overlap counts twice
}

// TraceSpan is when GPU operations ran.
type TraceSpan struct {
	Start  int64 // ns since the Unix epoch, 0 if unknown
	Length int64 // ns from the first start to the last end of the longest device, 0 if unknown
}

// totalKey names a TraceTotal.
type totalKey struct {
	rank, device    int
	name, component string
}

// operationTotals adds up GPU operations by device, name and component.
type operationTotals map[totalKey]*TraceTotal

func (o *operationTotals) add(key totalKey, count, ns int64) {
	if *o == nil {
		*o = operationTotals{}
	}
	t := (*o)[key]
	if t == nil && len(*o) >= maxTotals {
		key.name = otherNames
		t = (*o)[key]
	}
	if t == nil {
		t = &TraceTotal{Rank: key.rank, Device: key.device, Name: key.name, Component: key.component}
		(*o)[key] = t
	}
	t.Count += count
	t.Time += ns
}

// operation adds a GPU operation; component is the kernel's, where known.
func (o *operationTotals) operation(e traces.Event, rank int, component string) {
	switch e.Kind {
	case traces.Memcpy:
		component = string(roofline.Memcpy)
	case traces.Memset:
		component = string(roofline.Memset)
	}
	o.add(totalKey{rank, e.Device, e.Name, component}, 1, e.Dur)
}

// Totals is the time of every GPU operation of all files by rank, component
// and name, the longest first; nil unless Totalled. Kernels add up to the devices' kernel times.
func (t *Trace) Totals() []TraceTotal {
	var out []TraceTotal
	for _, v := range t.totals {
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b TraceTotal) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device),
			cmp.Compare(a.Component, b.Component), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Span is when the operations of Totals ran.
func (t *Trace) Span() TraceSpan {
	var s TraceSpan
	for _, d := range t.devices {
		s.Length = max(s.Length, d.line.Span())
		if d.Base != 0 && (s.Start == 0 || d.Base+d.line.Start < s.Start) {
			s.Start = d.Base + d.line.Start
		}
	}
	return s
}

// total adds a device's operations, with the component of each kernel.
func (t *Trace) total(d *tracedDevice) {
	for i, e := range d.GPU {
		t.totals.operation(e, d.Rank, string(d.component(i)))
	}
}

// totalAll adds the operations of a file of which not all were kept. rank is
// the file's, -1 if its events say theirs.
func (t *Trace) totalAll(file operationTotals, rank int) {
	for key, v := range file {
		if rank >= 0 {
			key.rank = rank
		}
		t.totals.add(key, v.Count, v.Time)
	}
}
