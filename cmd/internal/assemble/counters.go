package assemble

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/traces"
	"decodegap/traces/classify"
)

// The counters that say what a kernel moved. A sector is 32 bytes.
const (
	metricRead         = "dram__bytes_read.sum"
	metricWrite        = "dram__bytes_write.sum"
	metricReadSectors  = "dram__sectors_read.sum"
	metricWriteSectors = "dram__sectors_write.sum"
	metricDuration     = "gpu__time_duration.sum"
	labelDuration      = "Duration"          // of the details page
	labelRate          = "Memory Throughput" // there twice, in byte/s and in %
	sectorBytes        = 32
)

// counted is one profiled launch; nil is what was not counted.
type counted struct {
	shape           kernelShape
	name            string
	class           classify.Class
	read, write, ns *float64
	rate            *float64 // bytes/s of DRAM, both ways, as the profiler prints it
}

// kernelShape names a kernel and the size of its launch: the same kernel with
// another grid moves other bytes. Zeros where the size is not known.
type kernelShape struct {
	name        string
	grid, block [3]int32
}

func (k kernelShape) sized() bool { return k.grid != [3]int32{} }

// addCounters keeps the launches of a file of counters, in the order of their
// stream, so that their neighbours help to classify them.
func (t *Trace) addCounters(counters []traces.Counter) {
	type launch struct {
		process uint64
		device  int
		id      int64
	}
	at := map[launch]int{}
	var launches []counted
	var kernels []classify.Kernel
	for i := range counters {
		c := &counters[i]
		key := launch{c.Process, c.Device, c.Launch}
		k, ok := at[key]
		if !ok {
			k = len(launches)
			at[key] = k
			launches = append(launches, counted{name: c.Kernel, shape: kernelShape{classify.Normalize(c.Kernel), c.Grid, c.Block}})
			kernels = append(kernels, classify.Kernel{Name: c.Kernel, Grid: c.Grid, Block: c.Block})
		}
		l := &launches[k]
		value := c.Value
		switch c.Metric {
		case metricRead:
			l.read = &value
		case metricWrite:
			l.write = &value
		case metricDuration, labelDuration:
			l.ns = &value
		case labelRate:
			if c.Unit == "byte/s" {
				l.rate = &value
			}
		case metricReadSectors:
			if value *= sectorBytes; l.read == nil {
				l.read = &value
			}
		case metricWriteSectors:
			if value *= sectorBytes; l.write == nil {
				l.write = &value
			}
		}
	}
	for i, c := range t.rules.Sequence(kernels) {
		launches[i].class = c
	}
	t.counted = append(t.counted, launches...)
}

// counterTable sums the profiled launches by kernel and size, what read most
// first.
func (t *Trace) counterTable() []reports.TraceCounter {
	type key struct {
		shape     kernelShape
		component roofline.Component
	}
	type sums struct {
		row                   reports.TraceCounter
		read, write, ns, rate mean
	}
	all := map[key]*sums{}
	var order []*sums
	for _, c := range t.counted {
		k := key{c.shape, c.class.Component}
		s := all[k]
		if s == nil {
			s = &sums{row: reports.TraceCounter{Name: c.name, Library: c.class.Library}}
			if c.class.Known {
				s.row.Component = string(c.class.Component)
			}
			if c.shape.sized() {
				s.row.Grid = fmt.Sprintf("%d×%d×%d", c.shape.grid[0], c.shape.grid[1], c.shape.grid[2])
			}
			all[k] = s
			order = append(order, s)
		}
		s.row.Launches++
		s.read.add(c.read)
		s.write.add(c.write)
		s.ns.add(c.ns)
		s.rate.add(c.rate)
	}
	var out []reports.TraceCounter
	for _, s := range order {
		s.row.ReadBytes, s.row.WriteBytes = s.read.value(), s.write.value()
		if ns := s.ns.value(); ns != nil && *ns > 0 {
			us := *ns / 1e3
			s.row.DurationUs = &us
			if s.row.ReadBytes != nil && s.row.WriteBytes != nil {
				rate := (*s.row.ReadBytes + *s.row.WriteBytes) / *ns // bytes a ns are GB a s
				s.row.GBs = &rate
			}
		}
		if rate := s.rate.value(); rate != nil && s.row.GBs == nil {
			*rate /= 1e9
			s.row.GBs = rate
		}
		out = append(out, s.row)
	}
	moved := func(c reports.TraceCounter) float64 {
		if c.ReadBytes == nil {
			return 0
		}
		return *c.ReadBytes * float64(c.Launches)
	}
	slices.SortStableFunc(out, func(a, b reports.TraceCounter) int {
		return cmp.Or(cmp.Compare(moved(b), moved(a)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Grid, b.Grid))
	})
	return out
}

// mean is the mean of what is known.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v *float64) {
	if v != nil {
		m.sum += *v
		m.n++
	}
}

func (m *mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	v := m.sum / float64(m.n)
	return &v
}

// baseName is a normalised name without namespaces and template arguments, as
// Nsight Compute prints names by default.
func baseName(name string) string {
	if i := strings.IndexByte(name, '<'); i > 0 {
		name = name[:i]
	}
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	return name
}
