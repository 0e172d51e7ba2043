package traces

import (
	"errors"
	"regexp"
	"sort"
)

// FoundBy says what told the steps apart.
type FoundBy string

// Evidence for steps, best first.
const (
	ByGiven      FoundBy = "given"      // a pattern or window of the user's
	ByAnnotation FoundBy = "annotation" // marks of an engine or of the profiler
	ByGraph      FoundBy = "graph"      // each launch of the main graph is a step
	ByRepetition FoundBy = "repetition" // the kernel sequence repeats
)

// Step is a half-open interval [Start, End) on one device. Steps tile: one
// ends where the next one starts, so that time between them belongs to one.
type Step struct {
	Index      int   // among all steps found, in time order
	Start, End int64 // ns
	// Open: no step follows, so End is where its own work ends and the time to
	// a next step is not known.
	Open bool
	Mark Mark // zero unless found by a mark

	Ops  int   // GPU operations that start in the step
	Busy int64 // ns, length of the union of GPU operations

	// First and Last bound the operations that touch the step: they lie in
	// Device.GPU[First:Last], where some others may lie too.
	First, Last int

	// Aside says why the step does not count towards the median: "prefill",
	// "warm-up", "outlier", "another batch" …; "" when it counts.
	Aside string

	graph uint64 // signature of the replayed graph, 0 if none
}

// Wall is the length of the step in ns.
func (s Step) Wall() int64 { return s.End - s.Start }

// Steps are the steps of one device.
type Steps struct {
	All     []Step
	FoundBy FoundBy
	Family  string // of the marks, "" where none were used
	// Median is the index in All of the step in the middle by wall time, the
	// lower of two, of those that count; the last one, whose end is not known,
	// is left out of them where three others count.
	Median   int
	MedianOf int // steps that the median is taken of
	Counts   int // steps that count
	Notes    []Warning
}

// Step is the median step.
func (s Steps) Step() Step { return s.All[s.Median] }

// ErrNoSteps is returned for a device on which nothing tells steps apart.
var ErrNoSteps = errors.New("no steps found: no annotation of a known engine with GPU work, no main graph, no repeating kernel sequence; " +
	"name the annotation of a step, or profile several decode steps in a row")

// ErrNoWork is returned for a device without GPU operations.
var ErrNoWork = errors.New("no GPU operations: the profiler recorded none on this device; record with CUDA or HIP activities on, while requests run")

// FindSteps tells the steps of a device apart, from the best evidence there
// is: marks that the profiler put on the device, marks on the host with the
// work launched under them, launches of the main graph, repetition.
func FindSteps(dev Device) (Steps, error) { return FindStepsBy(dev, nil) }

// FindStepsBy is FindSteps with the user's word: when given is not nil,
// annotations that match it, and nothing else, are steps.
func FindStepsBy(dev Device, given *regexp.Regexp) (Steps, error) {
	if !anyUsable(dev.GPU) {
		return Steps{}, ErrNoWork
	}
	s := findBoundaries(&dev, given)
	if len(s.All) == 0 {
		return Steps{}, ErrNoSteps
	}
	finishSteps(&s, &dev)
	return s, nil
}

func findBoundaries(dev *Device, given *regexp.Regexp) Steps {
	if given != nil {
		return markedSteps(dev, func(name string) (Mark, bool) {
			m, _ := ParseMark(name) // counts, where the name has them
			m.Name, m.Family = name, string(ByGiven)
			return m, len(name) <= maxMark && given.MatchString(name)
		}, ByGiven)
	}
	marked := markedSteps(dev, ParseMark, ByAnnotation)
	if len(marked.All) > 0 && marked.Family != FamilyProfiler {
		return marked
	}
	graph := graphSteps(dev)
	if len(marked.All) > 0 {
		// A profiler's mark is one iteration of somebody's loop: when the main
		// graph runs several times under each, the graph is the step.
		if len(graph.All) >= 2*len(marked.All) {
			return graph
		}
		return marked
	}
	if len(graph.All) > 0 {
		return graph
	}
	return repeatedSteps(dev)
}

// WindowStep makes a step of a window the caller chose, such as the whole
// span of a file with one step in it.
func WindowStep(dev Device, start, end int64) Steps {
	s := Steps{All: []Step{{Start: start, End: end, Open: true}}, FoundBy: ByGiven}
	finishSteps(&s, &dev)
	return s
}

// Span is the time from the first operation's start to the last end, in ns.
func (d Device) Span() (start, end int64) {
	first := true
	for _, e := range d.GPU {
		if !e.usable() {
			continue
		}
		if first {
			start, end, first = e.Start, e.End(), false
		}
		end = max(end, e.End())
	}
	return start, end
}

func anyUsable(gpu []Event) bool {
	for _, e := range gpu {
		if e.usable() {
			return true
		}
	}
	return false
}

// boundary is where a step starts and, should no other follow, ends.
type boundary struct {
	start, end int64
	mark       Mark
	graph      uint64
}

// tile makes steps of boundaries: each ends where the next starts.
func tile(bounds []boundary) []Step {
	sort.SliceStable(bounds, func(i, j int) bool { return bounds[i].start < bounds[j].start })
	var steps []Step
	for _, b := range bounds {
		if n := len(steps); n > 0 {
			if steps[n-1].Start == b.start {
				continue // two marks of one step
			}
			steps[n-1].End, steps[n-1].Open = b.start, false
		}
		steps = append(steps, Step{Index: len(steps), Start: b.start, End: b.end, Open: true, Mark: b.mark, graph: b.graph})
	}
	return steps
}

// finishSteps counts each step's work and sets steps aside, in one pass over
// the operations whatever the number of steps.
func finishSteps(s *Steps, dev *Device) {
	gpu := dev.GPU
	latest := make([]int64, len(gpu)) // latest end up to each operation
	var end int64
	for i, e := range gpu {
		if i == 0 || (e.usable() && e.End() > end) {
			end = e.End()
		}
		latest[i] = end
	}
	busy := busyIntervals(gpu)
	next := 0
	for k := range s.All {
		st := &s.All[k]
		st.First = sort.Search(len(gpu), func(i int) bool { return latest[i] > st.Start })
		st.Last = sort.Search(len(gpu), func(i int) bool { return gpu[i].Start >= st.End })
		started := sort.Search(len(gpu), func(i int) bool { return gpu[i].Start >= st.Start })
		st.Ops = max(0, st.Last-started)
		st.First = min(st.First, st.Last)
		for next < len(busy) && busy[next].end <= st.Start {
			next++
		}
		for i := next; i < len(busy) && busy[i].start < st.End; i++ {
			st.Busy += min(busy[i].end, st.End) - max(busy[i].start, st.Start)
		}
	}
	chooseSteps(s, dev.Truncated)
}

type interval struct{ start, end int64 }

// busyIntervals is the union of the operations, in time order.
func busyIntervals(gpu []Event) []interval {
	var out []interval
	for _, e := range gpu {
		if !e.usable() {
			continue
		}
		if n := len(out); n > 0 && e.Start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, e.End())
			continue
		}
		out = append(out, interval{e.Start, e.End()})
	}
	return out
}
