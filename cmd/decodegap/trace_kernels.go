package main

import (
	"cmp"
	"slices"

	"decodegap/reports"
	"decodegap/traces"
)

// maxDurations bounds what is kept of one kernel for its median; past it the
// median is left out.
const maxDurations = 1 << 18

// kernelSums adds up kernels by name.
type kernelSums struct {
	byName map[string]*kernelSum
}

type kernelSum struct {
	count, total int64
	durations    []int64
	median       *int64 // as a summary states it
}

func (k *kernelSums) of(name string) *kernelSum {
	s := k.byName[name]
	if s == nil {
		if k.byName == nil {
			k.byName = map[string]*kernelSum{}
		}
		s = &kernelSum{}
		k.byName[name] = s
	}
	return s
}

func (k *kernelSums) add(name string, dur int64) {
	s := k.of(name)
	s.count++
	s.total += dur
	if len(s.durations) <= maxDurations {
		s.durations = append(s.durations, dur)
	}
}

// sum adds a line of a summary.
func (k *kernelSums) sum(line traces.KernelSum) {
	s := k.of(line.Name)
	if s.count == 0 {
		s.median = line.Median
	} else {
		s.median = nil
	}
	s.count += line.Count
	s.total += line.Total
}

// list is the kernels by time, the longest first.
func (k *kernelSums) list() []reports.TraceKernel {
	var out []reports.TraceKernel
	for name, s := range k.byName {
		row := reports.TraceKernel{Name: name, Count: s.count, TotalMs: inMs(s.total)}
		if s.median != nil {
			us := float64(*s.median) / 1e3
			row.MedianUs = &us
		} else if n := len(s.durations); n > 0 && int64(n) == s.count {
			slices.Sort(s.durations)
			us := float64(s.durations[(n-1)/2]+s.durations[n/2]) / 2e3
			row.MedianUs = &us
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b reports.TraceKernel) int {
		return cmp.Or(cmp.Compare(b.TotalMs, a.TotalMs), cmp.Compare(a.Name, b.Name))
	})
	return out
}
