package probes

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"

	"decodegap/roofline/unit"
)

// cgroupFolders are the folders, innermost first, of the control groups that
// limit this process by a controller ("cpu", "memory"), of version 2 or 1. In
// a container the innermost one visible is often the root of its own name
// space.
func cgroupFolders(root fs.FS, controller string) []string {
	text, ok := readText(root, "proc/self/cgroup")
	if !ok {
		return nil
	}
	var folders []string
	add := func(base, group string) {
		group = path.Clean("/" + strings.TrimSpace(group))
		for {
			folders = append(folders, path.Join(base, group))
			if group == "/" {
				return
			}
			group = path.Dir(group)
		}
	}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[1] == "" { // version 2
			add("sys/fs/cgroup", parts[2])
			continue
		}
		for name := range strings.SplitSeq(parts[1], ",") {
			if name == controller {
				add("sys/fs/cgroup/"+parts[1], parts[2])
				add("sys/fs/cgroup/"+controller, parts[2])
			}
		}
	}
	return folders
}

// cgroupQuota is how many CPUs' worth of time the tightest group allows; 0 for
// no limit.
func cgroupQuota(root fs.FS) float64 {
	least := math.Inf(1)
	take := func(quota, period float64) {
		if quota > 0 && period > 0 {
			least = min(least, quota/period)
		}
	}
	for _, dir := range cgroupFolders(root, "cpu") {
		if text, ok := readText(root, dir+"/cpu.max"); ok {
			if fields := strings.Fields(text); len(fields) == 2 {
				quota, errQ := strconv.ParseFloat(fields[0], 64) // "max" is no number
				period, errP := strconv.ParseFloat(fields[1], 64)
				if errQ == nil && errP == nil {
					take(quota, period)
				}
			}
		}
		quota, okQ := readNumber(root, dir+"/cpu.cfs_quota_us")
		period, okP := readNumber(root, dir+"/cpu.cfs_period_us")
		if okQ && okP {
			take(float64(quota), float64(period))
		}
	}
	if math.IsInf(least, 0) {
		return 0
	}
	return least
}

// noLimit is what version 1 writes for a group without a limit, and more than
// any machine has.
const noLimit = 1 << 60

// cgroupMemory is how much more the tightest group lets this process use;
// false without a limit. The page cache that a group holds can be given back,
// and is not counted as used.
func cgroupMemory(root fs.FS) (unit.Bytes, bool) {
	least, found := int64(noLimit), false
	for _, dir := range cgroupFolders(root, "memory") {
		for _, names := range [][2]string{{"memory.max", "memory.current"}, {"memory.limit_in_bytes", "memory.usage_in_bytes"}} {
			limit, ok := readNumber(root, dir+"/"+names[0])
			if !ok || limit <= 0 || limit >= noLimit {
				continue
			}
			used, _ := readNumber(root, dir+"/"+names[1])
			if cache := inactiveFile(root, dir); cache < used {
				used -= cache
			}
			least, found = min(least, max(limit-used, 0)), true
		}
	}
	return unit.Bytes(least), found
}

func inactiveFile(root fs.FS, dir string) int64 {
	text, _ := readText(root, dir+"/memory.stat")
	var sum int64
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 2 && (fields[0] == "inactive_file" || fields[0] == "total_inactive_file") {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil && n > sum {
				sum = n
			}
		}
	}
	return sum
}
