package traces

import "sort"

// markedSteps finds steps by annotations: by their shadows on the device
// where the profiler made them, else by the work launched under them. A mark
// itself is never a step: with asynchronous scheduling it lies elsewhere in
// time than its work and may last fifty times longer.
func markedSteps(dev *Device, parse func(string) (Mark, bool), by FoundBy) Steps {
	shadows, host := map[string][]marked{}, map[string][]marked{}
	for _, e := range dev.Ranges {
		if e.Kind != GPURange && e.Kind != Range {
			continue
		}
		m, ok := parse(e.Name)
		if !ok || m.Phase == Idle {
			continue
		}
		if e.Kind == GPURange {
			shadows[m.Family] = append(shadows[m.Family], marked{e, m})
		} else {
			host[m.Family] = append(host[m.Family], marked{e, m})
		}
	}
	families := []string{string(ByGiven)}
	for _, f := range markFamilies {
		families = append(families, f.name)
	}
	for _, f := range families {
		bounds, empty := shadowBounds(dev, shadows[f])
		if len(bounds) == 0 {
			bounds, empty = hostBounds(dev, host[f])
		}
		if len(bounds) == 0 {
			continue
		}
		s := Steps{All: tile(bounds), FoundBy: by, Family: f}
		if empty > 0 {
			s.Notes = append(s.Notes, Warning{"marks-without-work", plural(empty, "mark of a step has", "marks of steps have") +
				" no GPU work on this device in the trace and were left out"})
		}
		return s
	}
	return Steps{}
}

type marked struct {
	event Event
	mark  Mark
}

// shadowBounds makes one boundary of all shadows of a mark: the profiler
// draws one on each stream.
func shadowBounds(dev *Device, shadows []marked) (bounds []boundary, empty int) {
	type group struct {
		interval
		external uint64
		mark     Mark
		streams  map[int64]int64 // where the last shadow on each stream ends
	}
	var groups []group
	open := map[string]int{} // last group of each name
	for _, s := range shadows {
		e := s.event
		if i, ok := open[e.Name]; ok {
			g := &groups[i]
			same := g.external == e.External && (e.External != 0 || e.Start < g.end && !another(g.streams, e))
			if same {
				g.end = max(g.end, e.End())
				g.streams[e.Stream] = max(g.streams[e.Stream], e.End())
				continue
			}
		}
		open[e.Name] = len(groups)
		groups = append(groups, group{interval{e.Start, e.End()}, e.External, s.mark, map[int64]int64{e.Stream: e.End()}})
	}
	for _, g := range groups {
		from := sort.Search(len(dev.GPU), func(i int) bool { return dev.GPU[i].Start >= g.start })
		to := sort.Search(len(dev.GPU), func(i int) bool { return dev.GPU[i].Start >= g.end })
		iv, ok := extent(dev.GPU, func(yield func(int) bool) {
			for i := from; i < to; i++ {
				if !yield(i) {
					return
				}
			}
		})
		if !ok {
			empty++
			continue
		}
		bounds = append(bounds, boundary{start: iv.start, end: iv.end, mark: g.mark})
	}
	return bounds, empty
}

// another says whether a shadow without an id that overlaps others of its name
// is of a mark of its own: a mark has one shadow a stream, so one that reaches
// beyond the last on its stream is the next step's. One inside is a repetition.
func another(streams map[int64]int64, e Event) bool {
	end, ok := streams[e.Stream]
	return ok && e.End() > end
}

// hostBounds gives each mark on the host the operations whose launch lies in
// it; the mark that began last wins where two hold a launch.
func hostBounds(dev *Device, marks []marked) (bounds []boundary, empty int) {
	if len(marks) == 0 {
		return nil, 0
	}
	owner := map[call]int{}
	var open []int // marks that have begun, innermost last
	next := 0
	for _, l := range dev.Launches {
		for next < len(marks) && marks[next].event.Start <= l.Start {
			open = append(open, next)
			next++
		}
		for len(open) > 0 && marks[open[len(open)-1]].event.End() <= l.Start {
			open = open[:len(open)-1]
		}
		for i := len(open) - 1; i >= 0; i-- {
			m := marks[open[i]].event
			if m.End() > l.Start && (m.Process == l.Process || m.Process == 0 || l.Process == 0) {
				if l.Corr != 0 {
					owner[l.call()] = open[i]
				}
				break
			}
			if len(open)-i > 8 {
				break // deeper nesting of one family is not a step
			}
		}
	}
	work := make([][]int, len(marks))
	for i, e := range dev.GPU {
		if m, ok := owner[e.call()]; ok && e.Corr != 0 {
			work[m] = append(work[m], i)
		}
	}
	for k, m := range marks {
		iv, ok := extent(dev.GPU, func(yield func(int) bool) {
			for _, i := range work[k] {
				if !yield(i) {
					return
				}
			}
		})
		if !ok {
			empty++
			continue
		}
		bounds = append(bounds, boundary{start: iv.start, end: iv.end, mark: m.mark})
	}
	return bounds, empty
}

// extent is the time from the first to the last of some operations in time
// order. A stray operation far before the rest (a buffer set half a second
// before the step) is left out: it must hold under a twentieth of the work
// and leave nine tenths of the extent empty.
func extent(gpu []Event, each func(yield func(int) bool)) (interval, bool) {
	var iv interval
	var before, total, gap int64 // work before the widest gap, all work, that gap
	var after int64              // where the work behind the gap starts
	found := false
	for i := range each {
		e := gpu[i]
		if !e.usable() {
			continue
		}
		if !found {
			iv, found = interval{e.Start, e.End()}, true
		} else if e.Start-iv.end > gap {
			gap, before, after = e.Start-iv.end, total, e.Start
		}
		iv.end = max(iv.end, e.End())
		total += e.Dur
	}
	if gap > 0 && gap >= (iv.end-iv.start)/10*9 && before < total/20 {
		iv.start = after
	}
	return iv, found
}
