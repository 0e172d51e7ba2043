//go:build !linux

package probes

import "io/fs"

// nothing is a file system without files: these systems have neither /proc nor
// /sys, and what they would say stays unknown.
type nothing struct{}

func (nothing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func rootFS() fs.FS { return nothing{} }

func affinity() []int { return nil }

func ownUsage() (Usage, bool) { return Usage{}, false }
