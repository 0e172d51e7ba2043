package probes

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// rootFS is the file system's root.
func rootFS() fs.FS { return os.DirFS("/") }

// affinity lists the hardware threads this process may run on.
func affinity() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var cpus []int
	for i := range 8 * len(set) * 8 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// ownUsage is what this process has used.
func ownUsage() (Usage, bool) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return Usage{}, false
	}
	return Usage{CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Involuntary: int64(r.Nivcsw)}, true
}
