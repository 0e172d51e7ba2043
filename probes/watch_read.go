package probes

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// mostFile bounds what is read of one file of /proc or /sys.
const mostFile = 1 << 20

// readText is a small file's text; false if it cannot be read.
func readText(root fs.FS, name string) (string, bool) {
	f, err := root.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostFile))
	if err != nil {
		return "", false
	}
	return string(data), true
}

// readNumber is a file that holds one whole number.
func readNumber(root fs.FS, name string) (int64, bool) {
	text, ok := readText(root, name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil
}

// readStat takes busy and stolen time from /proc/stat, of the CPUs that the
// probes may use. Guests' time is counted within user and nice already.
func (w *Watch) readStat(m *Moment) {
	text, ok := readText(w.Root, "proc/stat")
	if !ok {
		return
	}
	var busy, steal time.Duration
	found := false
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") || fields[0] == "cpu" {
			continue
		}
		number, err := strconv.Atoi(fields[0][len("cpu"):])
		if err != nil || w.CPUs != nil && !slices.Contains(w.CPUs, number) {
			continue
		}
		found = true
		for i, value := range fields[1:9] {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				return
			}
			switch i {
			case 0, 1, 2, 5, 6: // user, nice, system, irq, softirq
				busy += time.Duration(n) * tick
			case 7:
				steal += time.Duration(n) * tick
			}
		}
	}
	if found {
		m.busy, m.steal = &busy, &steal
	}
}

// readPressure takes the time in which at least one task waited.
func (w *Watch) readPressure(m *Moment) {
	for _, kind := range []string{"cpu", "memory"} {
		text, ok := readText(w.Root, "proc/pressure/"+kind)
		if !ok {
			continue
		}
		for line := range strings.Lines(text) {
			rest, some := strings.CutPrefix(line, "some ")
			_, total, has := strings.Cut(rest, "total=")
			if n, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64); some && has && err == nil {
				m.pressure[kind] = time.Duration(n) * time.Microsecond
			}
		}
	}
}

// readThrottling counts what quota and heat stopped.
func (w *Watch) readThrottling(m *Moment) {
	for _, dir := range cgroupFolders(w.Root, "cpu") {
		text, ok := readText(w.Root, dir+"/cpu.stat")
		if !ok {
			continue
		}
		for line := range strings.Lines(text) {
			if n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(line, "nr_throttled ")), 10, 64); err == nil && strings.HasPrefix(line, "nr_throttled ") {
				sum := n
				if m.quota != nil {
					sum += *m.quota
				}
				m.quota = &sum
			}
		}
	}
	for _, cpu := range w.numbers() {
		for _, name := range []string{"core_throttle_count", "package_throttle_count"} {
			if n, ok := readNumber(w.Root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/thermal_throttle/%s", cpu, name)); ok {
				sum := n
				if m.thermal != nil {
					sum += *m.thermal
				}
				m.thermal = &sum
			}
		}
	}
}

// readClock takes the fastest of the CPUs' clocks: that of one that works.
func (w *Watch) readClock(m *Moment) {
	for _, cpu := range w.numbers() {
		if kHz, ok := readNumber(w.Root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu)); ok && kHz > 0 {
			hz := float64(kHz) * 1e3
			if m.clock == nil || hz > *m.clock {
				m.clock = &hz
			}
		}
	}
}

// numbers are the CPUs to look at; without a list the first, which every
// machine has.
func (w *Watch) numbers() []int {
	if w.CPUs == nil {
		return []int{0}
	}
	return w.CPUs
}

// process is another process's name and the CPU time it has used.
type process struct {
	name string
	used time.Duration
}

// mostProcesses bounds the work of one look on a machine that is full of them.
const mostProcesses = 4000

// processes lists every process that can be seen.
func (w *Watch) processes() map[int]process {
	entries, err := fs.ReadDir(w.Root, "proc")
	if err != nil {
		return nil
	}
	all := map[int]process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || len(all) >= mostProcesses {
			continue
		}
		if text, ok := readText(w.Root, "proc/"+e.Name()+"/stat"); ok {
			if p, ok := parseProcess(text); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// parseProcess reads "PID (NAME) STATE … UTIME STIME …". A name may hold
// anything, brackets and line breaks too.
func parseProcess(text string) (process, bool) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 13 {
		return process{}, false
	}
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil || n < 0 {
			return process{}, false
		}
		ticks += n
	}
	return process{printable(text[open+1 : end]), time.Duration(ticks) * tick}, true
}

// printable keeps a process's name from being more than a word.
func printable(s string) string {
	return shorten(string(bytes.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, []byte(s))))
}

// busiest is the name of the other process that used most between two moments,
// if it used more than a tick.
func (w *Watch) busiest(a, b Moment) string {
	var name string
	most := tick
	for pid, p := range b.others {
		before, seen := a.others[pid]
		if pid == w.Self || !seen || before.name != p.name {
			continue
		}
		if d := p.used - before.used; d > most || d == most && p.name < name {
			most, name = d, p.name
		}
	}
	if name == "" {
		return ""
	}
	return strconv.Quote(name)
}
