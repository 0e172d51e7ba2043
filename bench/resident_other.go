//go:build !linux

package main

import "os"

// maxResident is not known: the unit of ru_maxrss differs between systems.
func maxResident(*os.ProcessState) int64 { return 0 }
