package main

import (
	"os"
	"syscall"
)

// maxResident is the largest resident memory of an ended process, in bytes.
func maxResident(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10
	}
	return 0
}
