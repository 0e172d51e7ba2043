package probes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// counters is a tree of what a system counts.
type counters struct {
	user, steal     int // ticks of each of two CPUs
	cpuWait         int // µs
	memoryWait      int // µs
	throttled       int // cgroup periods
	hot             int // thermal events
	kHz             int
	stress          int // ticks of another process
	own             time.Duration
	involuntary     int64
	withoutPressure bool
}

func (c counters) fs() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	line := func(name string) string { return fmt.Sprintf("%s %d 0 5 900 3 0 1 %d 0 0\n", name, c.user, c.steal) }
	fs := fstest.MapFS{
		"proc/stat":                     file("cpu 1 2 3 4 5 6 7 8 9 10\n" + line("cpu0") + line("cpu1") + line("cpu7") + "intr 5\n"),
		"proc/self/cgroup":              file("0::/jobs/one\n"),
		"sys/fs/cgroup/jobs/cpu.stat":   file(fmt.Sprintf("usage_usec 5\nnr_periods 9\nnr_throttled %d\nthrottled_usec 8\n", c.throttled)),
		"proc/42/stat":                  file(fmt.Sprintf("42 (a) b(c\n) R 1 1 1 0 -1 4194304 1 0 0 0 %d 0 0 0 20 0 1 0 1 1 1\n", c.stress)),
		"proc/9/stat":                   file("9 (self) R 1 1 1 0 -1 4194304 1 0 0 0 900 0 0 0 20 0 1 0 1 1 1\n"),
		"proc/13/stat":                  file("no process"),
		"sys/devices/system/cpu/x/file": file(""),
	}
	for cpu := range 2 {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		fs[dir+"thermal_throttle/core_throttle_count"] = file(fmt.Sprintf("%d\n", c.hot))
		fs[dir+"cpufreq/scaling_cur_freq"] = file(fmt.Sprintf("%d\n", c.kHz/(cpu+1)))
	}
	if !c.withoutPressure {
		fs["proc/pressure/cpu"] = file(fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", c.cpuWait))
		fs["proc/pressure/memory"] = file(fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n", c.memoryWait))
	}
	return fs
}

func (c counters) at(t time.Time) Moment {
	w := &Watch{Root: c.fs(), CPUs: []int{0, 1}, Self: 9, Usage: func() (Usage, bool) { return Usage{c.own, c.involuntary}, true }}
	return w.Now(t)
}

// TestEvidence: each counter alone speaks, by its own word, and small changes
// do not.
func TestEvidence(t *testing.T) {
	start := time.Unix(1000, 0)
	base := counters{user: 100, kHz: 3_000_000}
	quiet := base
	quiet.user += 50 // half a second on each of two CPUs, all of it ours
	quiet.own = time.Second
	for _, c := range []struct {
		name   string
		change func(*counters)
		want   string // "" for no evidence
	}{
		{"nothing", func(*counters) {}, ""},
		{"little of everything", func(c *counters) {
			c.user, c.steal, c.cpuWait, c.memoryWait, c.involuntary, c.stress = c.user+2, 0, 20_000, 20_000, 20, 2
		}, ""},
		{"steal", func(c *counters) { c.steal = 3 }, "steal: the hypervisor took 0.12 CPUs' worth"},
		{"a busy neighbour", func(c *counters) { c.own -= 240 * time.Millisecond; c.stress = 24 }, `load: other processes took 0.48 CPUs' worth of time, most of it "a) b(c?"`},
		{"a neighbour in another container", func(c *counters) { c.own -= 240 * time.Millisecond }, "load: other processes took 0.48 CPUs' worth of time"},
		{"the runtime's own threads", func(c *counters) { c.involuntary, c.cpuWait = 1000, 400_000 }, ""},
		{"taken off", func(c *counters) { c.own -= 40 * time.Millisecond; c.involuntary = 100 }, "switches: this process was taken off a CPU 100 times a second and CPU"},
		{"cpu pressure", func(c *counters) { c.own -= 40 * time.Millisecond; c.cpuWait = 100_000 }, "pressure: something waited for cpu 20 % of the time"},
		{"memory pressure", func(c *counters) { c.memoryWait = 100_000 }, "pressure: something waited for memory 20 % of the time"},
		{"quota", func(c *counters) { c.throttled = 2 }, "quota: the cgroup's CPU quota stopped this process 2 times"},
		{"heat", func(c *counters) { c.hot = 3 }, "throttle: the CPU reported 6 thermal throttle events"},
		{"no pressure files", func(c *counters) { c.withoutPressure = true }, ""},
	} {
		after := quiet
		c.change(&after)
		w := &Watch{CPUs: []int{0, 1}, Self: 9}
		got := w.Between(base.at(start), after.at(start.Add(500*time.Millisecond)))
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %q", c.name, got)
		case c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)):
			t.Errorf("%s: %q, want one that begins %q", c.name, got, c.want)
		}
	}
}

// TestNoEvidenceWithoutCounters: a system without /proc says nothing.
func TestNoEvidenceWithoutCounters(t *testing.T) {
	w := &Watch{Root: fstest.MapFS{}}
	if got := w.Between(w.Now(time.Unix(1, 0)), w.Now(time.Unix(2, 0))); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if got := w.Between(w.Now(time.Unix(2, 0)), w.Now(time.Unix(2, 0))); len(got) > 0 {
		t.Errorf("no time passed: %q", got)
	}
	broken := &Watch{Root: fstest.MapFS{"proc/stat": {Data: []byte("cpu0 1 2 x 4 5 6 7 8\n")}, "proc/pressure/cpu": {Data: []byte("some total=x\n")}}}
	if m := broken.Now(time.Unix(1, 0)); m.busy != nil || len(m.pressure) != 0 {
		t.Errorf("broken files gave %+v", m)
	}
}

func TestSlowClock(t *testing.T) {
	hz := func(v ...float64) []Moment {
		var out []Moment
		for _, f := range v {
			m := Moment{}
			if f > 0 {
				m.clock = &f
			}
			out = append(out, m)
		}
		return out
	}
	if got := slowClock(hz(3e9, 3.01e9, 2.8e9, 0, 3e9), clocks[0].of); !slices.Equal(got, []int{2}) {
		t.Errorf("slow windows %v, want the third", got)
	}
	if got := slowClock(hz(0, 0), clocks[0].of); len(got) != 0 {
		t.Errorf("slow windows %v without a clock", got)
	}
}
