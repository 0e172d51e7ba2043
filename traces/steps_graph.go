package traces

import "strings"

// A replay of at least wholeGraph kernels is taken for a whole decode step:
// the pieces that an engine cuts around attention have fewer than forty, the
// smallest models more than a hundred.
const wholeGraph = 48

// smallGraph is the fewest kernels with one correlation id that look like a
// replay when the launch call is not in the trace.
const smallGraph = 8

// replay is one launch of a graph.
type replay struct {
	call       call
	first      int // operation it starts with
	start, end int64
	kernels    int
	work       int64  // sum of durations, ns
	signature  uint64 // of the kernel names, whatever their order
}

// graphSteps takes each launch of the main graph for a step. The main graph
// is the one with the most GPU time; other large graphs (captured for other
// batch sizes) start steps too, which are then set aside.
func graphSteps(dev *Device) Steps {
	all := replays(dev)
	bySignature := map[uint64]int64{}
	var main uint64
	var work int64
	for _, r := range all {
		bySignature[r.signature] += r.work
	}
	for _, r := range all {
		if w := bySignature[r.signature]; w > work {
			work, main = w, r.signature
		}
	}
	var total int64
	for _, e := range dev.GPU {
		if e.usable() {
			total += e.Dur
		}
	}
	if work == 0 || work < total/4 {
		return Steps{}
	}
	kernels := 0
	var mains []replay
	for _, r := range all {
		if r.signature == main {
			kernels = r.kernels
			mains = append(mains, r)
		}
	}
	if kernels < wholeGraph && !sameBetween(dev, mains) {
		return Steps{}
	}
	var bounds []boundary
	for _, r := range all {
		if r.signature == main || (r.kernels >= wholeGraph && 2*r.kernels >= kernels) {
			bounds = append(bounds, boundary{start: r.start, end: r.end, graph: r.signature})
		}
	}
	return Steps{All: tile(bounds), FoundBy: ByGraph}
}

// replays are the graph launches of the device, in time order.
func replays(dev *Device) []replay {
	byCall := map[call]int{}
	names := interner{}
	var out []replay
	for i, e := range dev.GPU {
		if e.Corr == 0 || !e.usable() {
			continue
		}
		k, ok := byCall[e.call()]
		if !ok {
			k = len(out)
			byCall[e.call()] = k
			out = append(out, replay{call: e.call(), first: i, start: e.Start})
		}
		r := &out[k]
		r.end = max(r.end, e.End())
		r.work += e.Dur
		if e.Kind == Kernel {
			r.kernels++
			r.signature += mix(names.id(e.Name))
		}
	}
	launched := graphLaunches(dev.Launches)
	kept := out[:0]
	for _, r := range out {
		isGraph, known := launched[r.call]
		if r.kernels > 0 && ((known && isGraph) || (!known && r.kernels >= smallGraph)) {
			kept = append(kept, r)
		}
	}
	return kept
}

// graphLaunches says of each known call whether it launches a graph.
func graphLaunches(launches []Event) map[call]bool {
	out := make(map[call]bool, len(launches))
	for _, l := range launches {
		if l.Corr != 0 {
			out[l.call()] = out[l.call()] || isGraphLaunch(l.Name)
		}
	}
	return out
}

// isGraphLaunch knows cudaGraphLaunch, cuGraphLaunch and hipGraphLaunch with
// any version behind.
func isGraphLaunch(name string) bool { return strings.Contains(name, "GraphLaunch") }

// sameBetween says whether the same operations lie between any two replays of
// a small graph. They do when the graph is the whole step of a small model;
// the pieces of a larger one have the head or the sampler between some.
func sameBetween(dev *Device, mains []replay) bool {
	if len(mains) < 3 {
		return false
	}
	names := interner{}
	var want uint64
	for k := 0; k+1 < len(mains); k++ {
		var got uint64
		for i := mains[k].first; i < mains[k+1].first; i++ {
			if e := dev.GPU[i]; e.Kind == Kernel {
				got += mix(names.id(e.Name))
			}
		}
		if k == 0 {
			want = got
		} else if got != want {
			return false
		}
	}
	return true
}

// interner numbers names from 1.
type interner map[string]uint64

func (n interner) id(name string) uint64 {
	id, ok := n[name]
	if !ok {
		id = uint64(len(n)) + 1
		n[name] = id
	}
	return id
}

// mix spreads a small number over 64 bits (the finaliser of splitmix64), so
// that sums of mixed numbers tell multisets of names apart.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
