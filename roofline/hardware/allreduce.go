package hardware

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// AllReduce returns the time of one all-reduce of a message (bytes per GPU)
// over n GPUs of the part on a topology, for roofline.Machine. It answers false
// where no latency is known for exactly that topology and number of GPUs.
//
// The answer is the best latency anybody is known to have measured, not a
// physical bound:
//   - at a size that curves cover, the fastest of them, linear in bytes between
//     measured points; a curve says nothing about sizes outside its own;
//   - below every measured size, the latency at the smallest one: a smaller
//     message may be a little faster, so the Source says so;
//   - above, the latency at the largest one or the time the bytes need on the
//     links at line rate, whichever is longer. Both are below any real time.
//
// Measurements of another GPU on the same generation of link are used where
// there are no own ones, and the Source says so.
func AllReduce(d Device, topology string) func(message unit.Bytes, n int) (roofline.Ceiling, bool) {
	return func(message unit.Bytes, n int) (roofline.Ceiling, bool) {
		k, ok := bestKnown(d, topology, curvesFor(d, topology, n), message)
		return k.Ceiling, ok
	}
}

// Known is one known all-reduce latency.
type Known struct {
	Topology  string
	Algorithm string
	Ceiling   roofline.Ceiling
}

// KnownAllReduces lists the latencies known for a message over n GPUs of the
// part, fastest first, whatever the topology and algorithm. A topology where no
// curve covers the size gives its best estimate (see AllReduce).
func KnownAllReduces(d Device, n int, message unit.Bytes) []Known {
	var out []Known
	for _, t := range Topologies() {
		curves := curvesFor(d, t.Name, n)
		covered := false
		for _, c := range curves {
			if c.covers(float64(message)) {
				covered = true
				out = append(out, c.known(d, message))
			}
		}
		if !covered {
			if k, ok := bestKnown(d, t.Name, curves, message); ok {
				out = append(out, k)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Known) int { return cmp.Compare(a.Ceiling.Value, b.Ceiling.Value) })
	return out
}

// AllReduceRange is the lowest and the highest latency known for a message over
// n GPUs of the part: what the choice of topology and algorithm can do. False
// if none is known.
func AllReduceRange(d Device, n int, message unit.Bytes) (lo, hi Known, ok bool) {
	known := KnownAllReduces(d, n, message)
	if len(known) == 0 {
		return Known{}, Known{}, false
	}
	return known[0], known[len(known)-1], true
}

// bestKnown is the fastest answer of curves of one topology.
func bestKnown(d Device, topology string, curves []curve, message unit.Bytes) (Known, bool) {
	size := float64(message)
	if len(curves) == 0 || !(size > 0) || math.IsInf(size, 0) {
		return Known{}, false
	}
	if best, ok := fastest(curves, size); ok {
		return best.known(d, message), true
	}
	largest, smallest := 0.0, math.Inf(1)
	for _, c := range curves {
		if c.last() < size {
			largest = max(largest, c.last())
		}
		smallest = min(smallest, c.first())
	}
	if largest == 0 {
		best, _ := fastest(curves, smallest)
		k := best.known(d, unit.Bytes(smallest))
		k.Ceiling.Source = fmt.Sprintf("%s B is below the smallest message measured, whose latency is taken: %s", grouped(size), k.Ceiling.Source)
		return k, true
	}
	best, _ := fastest(curves, largest)
	k := best.known(d, unit.Bytes(largest))
	note := "no shorter than the largest message measured"
	if t, ok := linkTime(d, topology, message, best.GPUs); ok && float64(t) > k.Ceiling.Value {
		k.Ceiling.Value = float64(t)
		note = "at the links' line rate, which is longer than the largest message measured"
	}
	k.Ceiling.Source = fmt.Sprintf("%s B is above every message measured; %s: %s", grouped(size), note, k.Ceiling.Source)
	return k, true
}

// fastest is the quickest curve that covers the size.
func fastest(curves []curve, size float64) (best curve, ok bool) {
	for _, c := range curves {
		if c.covers(size) && (!ok || c.at(size) < best.at(size)) {
			best, ok = c, true
		}
	}
	return best, ok
}

// known is the curve's answer at a size it covers, for the given part.
func (c curve) known(d Device, message unit.Bytes) Known {
	size := float64(message)
	below, above := c.bracket(size)
	how := fmt.Sprintf("measured at %s B", grouped(below.Bytes))
	if below != above {
		how = fmt.Sprintf("interpolated between %s B (%s µs) and %s B (%s µs)",
			grouped(below.Bytes), number(below.Micros), grouped(above.Bytes), number(above.Micros))
	}
	on := fmt.Sprintf("%d × %s", c.GPUs, c.MeasuredOn)
	if c.MeasuredOn != d.Name {
		on += ", not on " + d.Name
	}
	return Known{c.Topology, c.Algorithm, roofline.Ceiling{
		Resource: roofline.AllReduceLatency, Value: c.at(size) * 1e-6, Unit: "s", Basis: roofline.Sheet,
		Source: fmt.Sprintf("%s, %s, %s; measured on %s; %s", c.Algorithm, c.Topology, how, on, c.Source),
	}}
}

// linkTime is the least time M bytes need on the links: every GPU sends
// 2(n−1)/n·M when GPUs do the sums. An NVSwitch of Hopper and later sums in the
// switch, where M·(1+1/n) is enough; the smaller of the two is taken.
func linkTime(d Device, topology string, message unit.Bytes, n int) (unit.Seconds, bool) {
	link, ok := d.LinkOneWay(topology)
	if !ok || n < 2 {
		return 0, false
	}
	gpus := float64(n)
	share := 2 * (gpus - 1) / gpus
	if topology == NVLink {
		share = min(share, 1+1/gpus)
	}
	return (message * unit.Bytes(share)).At(unit.BytesPerSecond(link.Value)), true
}

// grouped prints a byte count with thousands separated.
func grouped(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	whole, rest := s, ""
	for i := range s {
		if s[i] == '.' {
			whole, rest = s[:i], s[i:]
			break
		}
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + rest
}
