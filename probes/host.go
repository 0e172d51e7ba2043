package probes

import (
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"decodegap/roofline/unit"
)

// HostSource is where a host's facts come from, so that tests can describe
// machines that they do not run on.
type HostSource struct {
	Root     fs.FS  // the file system's root: /proc and /sys below it
	Affinity []int  // hardware threads this process may run on, nil if unknown
	NumCPU   int    // how many the language's runtime counts
	OS, Arch string // "" for this program's own
	ISAs     []string
}

// ThisHost is the source for the machine this program runs on; isas are the
// instruction sets its kernels can use, best first.
func ThisHost(isas []string) HostSource {
	return HostSource{Root: rootFS(), Affinity: affinity(), NumCPU: runtime.NumCPU(), ISAs: isas}
}

// defaultShare of the available memory is what all operands together may take.
const defaultShare = 0.5

// Detect describes the host. Memory bounds what operands may take, all of them
// together; 0 for half of what is available.
func Detect(src HostSource, memory unit.Bytes) Host {
	h := Host{OS: src.OS, Arch: src.Arch, ISAs: src.ISAs, CPUs: src.Affinity}
	if h.OS == "" {
		h.OS, h.Arch = runtime.GOOS, runtime.GOARCH
	}
	h.Threads = max(len(src.Affinity), 1)
	if src.Affinity == nil {
		h.Threads = max(src.NumCPU, 1)
	}
	h.CPU = modelName(src.Root)
	h.Cores = coresOf(src)
	h.CPUs = byCore(src)
	if h.Quota = cgroupQuota(src.Root); h.Quota > 0 {
		h = h.Limit(max(int(math.Floor(h.Quota+0.01)), 1))
	}
	h.NUMA = len(numberedFolders(src.Root, "sys/devices/system/node", "node"))
	h.L1Data, h.L2, h.LastLevel = caches(src)
	h.Memory, h.Available = memoryOf(src.Root)
	h.Budget = memory
	if memory == 0 {
		h.Budget = h.Available * defaultShare
	}
	// The reference's operands stay beside those of the case that is timed.
	h.Budget /= 2
	return h
}

// Limit is the host with at most n hardware threads, of as many cores as that
// allows.
func (h Host) Limit(n int) Host {
	h.Threads, h.Cores = min(h.Threads, n), min(h.Cores, n)
	if len(h.CPUs) > n {
		h.CPUs = h.CPUs[:n]
	}
	return h
}

// Describe is the host in one line: "Intel Xeon, 2 cores, 2 threads".
func (h Host) Describe() string {
	name := h.CPU
	if name == "" {
		name = h.Arch + " CPU"
	}
	return fmt.Sprintf("%s, %s, %s", name, plural(h.Cores, "core"), plural(h.Threads, "thread"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// modelName is the CPU's name as the kernel or, on arm64, the firmware has it.
func modelName(root fs.FS) string {
	text, _ := readText(root, "proc/cpuinfo")
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == "model name" {
			return printable(strings.Join(strings.Fields(value), " "))
		}
	}
	text, _ = readText(root, "sys/firmware/devicetree/base/model")
	return printable(strings.Trim(text, "\x00 \n"))
}

// coresOf counts physical cores among the threads this process may use; where
// the system does not say which threads share one, every thread counts.
func coresOf(src HostSource) int {
	seen := map[string]bool{}
	for _, cpu := range src.Affinity {
		siblings, ok := readText(src.Root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		if !ok {
			siblings = strconv.Itoa(cpu)
		}
		seen[strings.TrimSpace(siblings)] = true
	}
	if len(seen) == 0 {
		return max(src.NumCPU, 1)
	}
	return len(seen)
}

// byCore orders the hardware threads so that the first of every core stands
// before the second of any: the first few are of as many cores as there are.
func byCore(src HostSource) []int {
	rank := map[int]int{}
	count := map[string]int{}
	for _, cpu := range src.Affinity {
		siblings, ok := readText(src.Root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		if !ok {
			siblings = strconv.Itoa(cpu)
		}
		rank[cpu] = count[siblings]
		count[siblings]++
	}
	cpus := slices.Clone(src.Affinity)
	slices.SortStableFunc(cpus, func(a, b int) int { return rank[a] - rank[b] })
	return cpus
}

// caches are the sizes of the first two levels of one core, and of the last
// level over all its instances that the threads reach.
func caches(src HostSource) (l1, l2, last unit.Bytes) {
	type instance struct{ level, shared string }
	seen := map[instance]unit.Bytes{}
	highest := 0
	for _, cpu := range src.Affinity {
		base := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache", cpu)
		for _, index := range numberedFolders(src.Root, base, "index") {
			dir := fmt.Sprintf("%s/index%d", base, index)
			kind, _ := readText(src.Root, dir+"/type")
			if strings.TrimSpace(kind) == "Instruction" {
				continue
			}
			level, okL := readNumber(src.Root, dir+"/level")
			sizeText, _ := readText(src.Root, dir+"/size")
			size, okS := parseSize(strings.TrimSpace(sizeText))
			if !okL || !okS || level < 1 || level > 9 {
				continue
			}
			shared, _ := readText(src.Root, dir+"/shared_cpu_list")
			seen[instance{strconv.FormatInt(level, 10), strings.TrimSpace(shared)}] = size
			highest = max(highest, int(level))
			switch level {
			case 1:
				l1 = size
			case 2:
				l2 = size
			}
		}
	}
	for i, size := range seen {
		if i.level == strconv.Itoa(highest) {
			last += size
		}
	}
	return l1, l2, last
}

// parseSize reads sysfs's "307200K".
func parseSize(s string) (unit.Bytes, bool) {
	factor := 1.0
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'K':
			factor, s = 1<<10, s[:n-1]
		case 'M':
			factor, s = 1<<20, s[:n-1]
		case 'G':
			factor, s = 1<<30, s[:n-1]
		}
	}
	n, err := strconv.ParseUint(s, 10, 40)
	return unit.Bytes(float64(n) * factor), err == nil && n > 0
}

// memoryOf is all memory and what is free for use, the cgroup's limit taken in.
func memoryOf(root fs.FS) (all, available unit.Bytes) {
	text, _ := readText(root, "proc/meminfo")
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kB, err := strconv.ParseUint(fields[1], 10, 50)
		if err != nil {
			continue
		}
		switch fields[0] {
		case "MemTotal:":
			all = unit.Bytes(kB) * 1024
		case "MemAvailable:":
			available = unit.Bytes(kB) * 1024
		}
	}
	if most, ok := cgroupMemory(root); ok && (available == 0 || most < available) {
		available = most
	}
	return all, available
}

// numberedFolders are the numbers of folders such as node0, node1, in order.
func numberedFolders(root fs.FS, dir, prefix string) []int {
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return nil
	}
	var numbers []int
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if n, err := strconv.Atoi(rest); ok && err == nil && n >= 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}
