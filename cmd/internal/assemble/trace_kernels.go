package assemble

import (
	"cmp"
	"maps"
	"slices"

	"decodegap/reports"
	"decodegap/traces"
	"decodegap/traces/classify"
)

// Bounds of the different durations that are kept for medians, of one kernel
// and of all; past it the median is left out. A kernel that runs a million
// times has a few thousand: they are whole nanoseconds.
const (
	maxDurations    = 1 << 14
	maxAllDurations = 1 << 18
)

// kernelSums adds up kernels by name and component: one GEMM kernel may serve
// several.
type kernelSums struct {
	sums      map[kernelKey]*kernelSum
	durations int  // that are kept, of all
	text      int  // bytes of the names
	over      bool // some stand under otherNames
}

type kernelKey struct{ name, component string }

type kernelSum struct {
	count, total int64
	durations    map[int64]int64 // ns → how often
	many         bool            // too many durations to keep
	median       *int64          // as a summary states it
	library      string
	unknown      bool
}

func (k *kernelSums) of(name string, class classify.Class) *kernelSum {
	key := kernelKey{name, string(class.Component)}
	s := k.sums[key]
	if s == nil && (len(k.sums) >= maxKernelNames || k.text >= maxNameBytes) {
		key.name, k.over = otherNames, true
		s = k.sums[key]
	}
	if s == nil {
		if k.sums == nil {
			k.sums = map[kernelKey]*kernelSum{}
		}
		k.text += len(name)
		s = &kernelSum{library: class.Library, unknown: !class.Known && class.Component != ""}
		k.sums[key] = s
	}
	return s
}

func (k *kernelSums) add(name string, dur int64, class classify.Class) {
	s := k.of(name, class)
	s.count++
	s.total += dur
	if s.many {
		return
	}
	if s.durations == nil {
		s.durations = map[int64]int64{}
	}
	before := len(s.durations)
	s.durations[dur]++
	if len(s.durations) == before {
		return
	}
	if k.durations++; len(s.durations) > maxDurations || k.durations > maxAllDurations {
		k.durations -= len(s.durations)
		s.durations, s.many = nil, true
	}
}

// middle is the median of the durations in ns, if they are those of all.
func (s *kernelSum) middle() (float64, bool) {
	var n int64
	for _, times := range s.durations {
		n += times
	}
	if n == 0 || n != s.count {
		return 0, false
	}
	low, high, seen := int64(0), int64(0), int64(0)
	for _, dur := range slices.Sorted(maps.Keys(s.durations)) {
		if seen <= (n-1)/2 {
			low = dur
		}
		if seen <= n/2 {
			high = dur
		}
		seen += s.durations[dur]
	}
	return float64(low+high) / 2, true
}

// sum adds a line of a summary.
func (k *kernelSums) sum(line traces.KernelSum, class classify.Class) {
	s := k.of(line.Name, class)
	if s.count == 0 {
		s.median = line.Median
	} else {
		s.median = nil
	}
	s.count += line.Count
	s.total += line.Total
}

// join adds the sums of others; medians are those of one file only.
func (k *kernelSums) join(others kernelSums) {
	k.over = k.over || others.over
	for key, o := range others.sums {
		s := k.of(key.name, classify.Class{})
		if s.count == 0 {
			s.durations = o.durations
		} else {
			s.durations = nil
		}
		s.count += o.count
		s.total += o.total
	}
}

// list is the kernels by time, the longest first, their names in C++ spelling.
func (k *kernelSums) list() []reports.TraceKernel {
	var out []reports.TraceKernel
	longer := 0 // bytes that spelling out has added
	for key, s := range k.sums {
		row := reports.TraceKernel{Name: key.name, Component: key.component, Library: s.library, Count: s.count, TotalMs: inMs(s.total)}
		if s.median != nil {
			us := float64(*s.median) / 1e3
			row.MedianUs = &us
		} else if ns, ok := s.middle(); ok {
			us := ns / 1e3
			row.MedianUs = &us
		}
		out = append(out, row)
	}
	for i := range out {
		// A short mangled name can stand for a very long one.
		if name := classify.Demangle(out[i].Name); longer+len(name) < maxNameBytes/2 && name != out[i].Name {
			longer += len(name)
			out[i].Name = name
		}
	}
	slices.SortFunc(out, func(a, b reports.TraceKernel) int {
		return cmp.Or(cmp.Compare(b.TotalMs, a.TotalMs), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Component, b.Component))
	})
	return out
}

// unknown is the names that take most of the unclassified time, at most n.
func (k *kernelSums) unknown(n int) []string {
	type row struct {
		name  string
		total int64
	}
	var rows []row
	for key, s := range k.sums {
		if s.unknown {
			rows = append(rows, row{key.name, s.total})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, r := range rows[:min(n, len(rows))] {
		name := classify.Demangle(r.name)
		if len(name) > 60 {
			name = string([]rune(name)[:min(60, len([]rune(name)))]) + "…"
		}
		out = append(out, name)
	}
	return out
}
