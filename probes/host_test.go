package probes

import (
	"fmt"
	"testing"
	"testing/fstest"

	"decodegap/roofline/unit"
)

// machine is a tree with the given number of cores of two threads each.
func machine(cores int) fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	fs := fstest.MapFS{
		"proc/cpuinfo":                        file("processor : 0\nmodel name\t: Some   CPU\x1b[31m @ 2 GHz\n"),
		"proc/meminfo":                        file("MemTotal:       16000000 kB\nMemFree: 5 kB\nMemAvailable:   8000000 kB\n"),
		"sys/devices/system/node/node0/x":     file(""),
		"sys/devices/system/node/node1/x":     file(""),
		"sys/devices/system/node/has_cpu":     file("0\n"),
		"sys/devices/system/node/nodes/other": file(""),
	}
	for cpu := range 2 * cores {
		core := cpu % cores
		base := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		fs[base+"topology/thread_siblings_list"] = file(fmt.Sprintf("%d,%d\n", core, core+cores))
		half := core / max(cores/2, 1)
		for i, c := range []struct{ level, kind, size, shared string }{
			{"1", "Data", "48K", fmt.Sprint(core)}, {"1", "Instruction", "32K", fmt.Sprint(core)},
			{"2", "Unified", "2048K", fmt.Sprint(core)}, {"3", "Unified", "32M", fmt.Sprint(half)},
		} {
			dir := fmt.Sprintf("%scache/index%d/", base, i)
			fs[dir+"level"], fs[dir+"type"] = file(c.level+"\n"), file(c.kind+"\n")
			fs[dir+"size"], fs[dir+"shared_cpu_list"] = file(c.size+"\n"), file(c.shared+"\n")
		}
	}
	return fs
}

func TestDetect(t *testing.T) {
	h := Detect(HostSource{Root: machine(4), Affinity: []int{0, 1, 2, 3, 4, 5, 6, 7}, NumCPU: 8, OS: "linux", Arch: "amd64", ISAs: []string{"avx2"}}, 0)
	if h.CPU != "Some CPU?[31m @ 2 GHz" || h.Cores != 4 || h.Threads != 8 || h.NUMA != 2 {
		t.Errorf("got %+v", h)
	}
	if h.L1Data != 48<<10 || h.L2 != 2<<20 || h.LastLevel != 64<<20 {
		t.Errorf("caches %v %v %v, want two last-level caches of 32 MiB", h.L1Data, h.L2, h.LastLevel)
	}
	if h.Memory != 16e6*1024 || h.Available != 8e6*1024 || h.Budget != h.Available/4 {
		t.Errorf("memory %v, %v available, budget %v", h.Memory, h.Available, h.Budget)
	}
	if got := fmt.Sprint(h.Limit(5).CPUs); got != "[0 1 2 3 4]" {
		t.Errorf("five threads run on %s", got)
	}
	if got := fmt.Sprint(Detect(HostSource{Root: machine(4), Affinity: []int{0, 4, 1, 5}}, 0).Limit(2).CPUs); got != "[0 1]" {
		t.Errorf("two threads of two cores run on %s", got)
	}
	if h := Detect(HostSource{Root: machine(4), Affinity: []int{1, 5}}, 3e9); h.Cores != 1 || h.Threads != 2 || h.LastLevel != 32<<20 || h.Budget != 1.5e9 {
		t.Errorf("one core of two threads: %+v", h)
	}
	if h := Detect(HostSource{Root: fstest.MapFS{}, NumCPU: 6, OS: "windows", Arch: "arm64"}, 0); h.Cores != 6 || h.Threads != 6 || h.LastLevel != 0 || h.Describe() != "arm64 CPU, 6 cores, 6 threads" {
		t.Errorf("a system that says nothing: %+v", h)
	}
}

func TestCgroups(t *testing.T) {
	for _, c := range []struct {
		name      string
		files     map[string]string
		quota     float64
		available unit.Bytes
	}{
		{"none", nil, 0, 8e6 * 1024},
		{"version 2, a parent's limits", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n", "sys/fs/cgroup/a/cpu.max": "250000 100000\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "3000000000\n", "sys/fs/cgroup/a/memory.current": "1500000000\n",
			"sys/fs/cgroup/a/memory.stat": "anon 5\ninactive_file 500000000\n",
		}, 2.5, 2e9},
		{"version 2, seen from inside", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n", "sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "2000\n",
		}, 0.5, 0},
		{"version 1", map[string]string{
			"proc/self/cgroup": "9:name=systemd:/\n4:memory:/job\n2:cpu,cpuacct:/job\n0::/\n",
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "400000\n", "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "5000000000\n", "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1000000000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 4, 4e9},
		{"version 1, no limits", map[string]string{
			"proc/self/cgroup": "4:memory:/\n1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0, 8e6 * 1024},
		{"nonsense", map[string]string{"proc/self/cgroup": "x\n0::/../../etc\n", "sys/fs/cgroup/cpu.max": "1e999 1\n", "sys/fs/cgroup/memory.max": "-5\n"}, 0, 8e6 * 1024},
	} {
		fs := machine(4)
		for name, text := range c.files {
			fs[name] = &fstest.MapFile{Data: []byte(text)}
		}
		h := Detect(HostSource{Root: fs, Affinity: []int{0, 1, 2, 3, 4, 5, 6, 7}}, 0)
		if h.Quota != c.quota || h.Available != c.available {
			t.Errorf("%s: quota %g, available %v, want %g, %v", c.name, h.Quota, h.Available, c.quota, c.available)
		}
		if c.quota > 0 && h.Threads != max(int(c.quota), 1) || c.quota > 0 && len(h.CPUs) != h.Threads {
			t.Errorf("%s: %d threads on %v under a quota of %g", c.name, h.Threads, h.CPUs, c.quota)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]unit.Bytes{"48K": 48 << 10, "2M": 2 << 20, "1G": 1 << 30, "512": 512, "": 0, "K": 0, "-1K": 0, "0": 0, "99999999999999K": 0} {
		if got, ok := parseSize(text); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, ok, want)
		}
	}
}
