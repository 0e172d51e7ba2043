package probes

import (
	"fmt"
	"io/fs"
	"time"
)

// Watch looks at the machine from outside the kernels: what else ran, what the
// hypervisor took, what was throttled. Its evidence is all that makes a sample
// invalid; a sample that only looks odd stays.
type Watch struct {
	Root fs.FS // the file system's root: /proc and /sys below it
	CPUs []int // that the probes may run on; nil: all
	Self int   // this process's id, whose load is not foreign

	// Usage is what this process has used itself; false where the system does
	// not say.
	Usage func() (Usage, bool)
}

// Usage is what a process has used since it began.
type Usage struct {
	CPU         time.Duration // of all its threads, user and system
	Involuntary int64         // times a thread of it was taken off a CPU
}

// Moment is the machine's counters at one time. What cannot be read is absent.
type Moment struct {
	at       time.Time
	busy     *time.Duration // of all CPUs together, guests and own work included
	steal    *time.Duration
	usage    *Usage
	pressure map[string]time.Duration // "cpu", "memory": time in which something waited
	quota    *int64                   // periods in which the cgroup was throttled
	thermal  *int64                   // thermal throttle events
	clock    *float64                 // Hz, the fastest of the CPUs
	sm       *float64                 // Hz, the lowest of a GPU's multiprocessors that was seen
	memory   *float64                 // Hz, the lowest of a GPU's memory that was seen
	others   map[int]process          // by process id
}

// Limits of what evidence needs. A counter ticks at 100 Hz: below a window of a
// quarter of a second it says too little.
const (
	window       = 250 * time.Millisecond
	mostSteal    = 0.01 // of the CPUs' time, and at least two ticks
	mostForeign  = 0.15 // CPUs' worth
	someForeign  = 0.06 // CPUs' worth, below which waiting is this process's own
	mostPressure = 0.10 // of the time
	mostSwitches = 60.0 // a second and CPU
	leastClock   = 0.97 // of the median clock
	tick         = 10 * time.Millisecond
)

// Now reads the counters.
func (w *Watch) Now(at time.Time) Moment {
	m := Moment{at: at, pressure: map[string]time.Duration{}}
	w.readStat(&m)
	w.readPressure(&m)
	w.readThrottling(&m)
	w.readClock(&m)
	m.others = w.processes()
	if w.Usage != nil {
		if u, ok := w.Usage(); ok {
			m.usage = &u
		}
	}
	return m
}

// Between is the evidence against samples taken between two moments, in words;
// none if nothing speaks against them.
func (w *Watch) Between(a, b Moment) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	wall := b.at.Sub(a.at)
	if wall <= 0 {
		return nil
	}
	cpus := float64(max(len(w.CPUs), 1))
	if a.steal != nil && b.steal != nil {
		if d := *b.steal - *a.steal; d >= 2*tick && d.Seconds() > mostSteal*cpus*wall.Seconds() {
			add("steal: the hypervisor took %s", ofTime(d, wall))
		}
	}
	d, ok := foreign(a, b)
	if ok && d >= 3*tick && d.Seconds() > mostForeign*wall.Seconds() {
		text := ofTime(d, wall)
		if name := w.busiest(a, b); name != "" {
			text += ", most of it " + name
		}
		add("load: other processes took %s", text)
	}
	// The Go runtime's own monitor wakes up to a thousand times a second beside
	// kernels that spin, for about a thousandth of the time: it is taken for
	// what it is, unless others did run.
	others := !ok || d >= 2*tick && d.Seconds() > someForeign*wall.Seconds()
	if a.usage != nil && b.usage != nil && others {
		rate := float64(b.usage.Involuntary-a.usage.Involuntary) / wall.Seconds() / cpus
		if rate > mostSwitches {
			add("switches: this process was taken off a CPU %.0f times a second and CPU", rate)
		}
	}
	for _, kind := range []string{"cpu", "memory"} {
		if kind == "cpu" && !others {
			continue
		}
		before, known := a.pressure[kind]
		after, still := b.pressure[kind]
		if d := after - before; known && still && d.Seconds() > mostPressure*wall.Seconds() {
			add("pressure: something waited for %s %.0f %% of the time", kind, 100*d.Seconds()/wall.Seconds())
		}
	}
	if a.quota != nil && b.quota != nil && *b.quota > *a.quota {
		add("quota: the cgroup's CPU quota stopped this process %d times", *b.quota-*a.quota)
	}
	if a.thermal != nil && b.thermal != nil && *b.thermal > *a.thermal {
		add("throttle: the CPU reported %d thermal throttle events", *b.thermal-*a.thermal)
	}
	return found
}

// foreign is the CPU time that others used between two moments: all that the
// CPUs were busy, less this process.
func foreign(a, b Moment) (time.Duration, bool) {
	if a.busy == nil || b.busy == nil || a.usage == nil || b.usage == nil {
		return 0, false
	}
	return (*b.busy - *a.busy) - (b.usage.CPU - a.usage.CPU), true
}

func ofTime(d, wall time.Duration) string {
	return fmt.Sprintf("%.2f CPUs' worth of time", d.Seconds()/wall.Seconds())
}

// clocks are those that windows are compared by, with what evidence says of a
// low one.
var clocks = []struct {
	of   func(Moment) *float64
	text string
}{
	{func(m Moment) *float64 { return m.clock }, "frequency: the CPU's clock was below 97 % of its usual"},
	{func(m Moment) *float64 { return m.sm }, "frequency: the GPU's SM clock was below 97 % of its usual"},
	{func(m Moment) *float64 { return m.memory }, "frequency: the GPU's memory clock was below 97 % of its usual"},
}

// slowClock is the evidence of windows whose clock lay below that of the
// others: their indices.
func slowClock(windows []Moment, of func(Moment) *float64) []int {
	var known []float64
	for _, m := range windows {
		if clock := of(m); clock != nil {
			known = append(known, *clock)
		}
	}
	usual := median(known)
	var slow []int
	for i, m := range windows {
		if clock := of(m); clock != nil && *clock < leastClock*usual {
			slow = append(slow, i)
		}
	}
	return slow
}
