package assemble

import (
	"fmt"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/unit"
	"decodegap/traces"
	"decodegap/traces/classify"
)

// Bounds of what is said about counters.
const (
	// leastCoverage is the share of a component's kernel time that counters must
	// cover to be set against its floor.
	leastCoverage = 0.9
	// aboveCounter and belowCounter are how far the bytes that a floor counts
	// may be above the counter's, and the counter's above them.
	aboveCounter = 1.05
	belowCounter = 1.2
)

// stepKernel is one kernel of one size of one component in the step.
type stepKernel struct {
	count int   // launches in the step
	own   int64 // ns, exclusive
	read  mean
	write mean
}

// counterRows carries the counted bytes of single launches over to the step of
// a device: each kernel's mean, times its launches in the step. Nil without
// counters.
func (t *Trace) counterRows(d *tracedDevice) []reports.CounterRow {
	if len(t.counted) == 0 {
		return nil
	}
	step, total := d.stepKernels()
	find := newKernelFinder(step)
	profiled := map[roofline.Component]int{}
	for i := range t.counted {
		c := &t.counted[i]
		component, k := find.of(c)
		if k == nil || c.read == nil && c.write == nil {
			continue
		}
		profiled[component]++
		k.read.add(c.read)
		k.write.add(c.write)
	}
	var out []reports.CounterRow
	for _, c := range roofline.Components {
		if profiled[c.Name] == 0 || total[c.Name] == 0 {
			continue
		}
		row := reports.CounterRow{Component: string(c.Name), Launches: profiled[c.Name]}
		var covered int64
		var written float64
		wrote := true
		for _, k := range step[c.Name] {
			read := k.read.value()
			if read == nil {
				continue
			}
			covered += k.own
			row.ReadBytes += *read * float64(k.count)
			if write := k.write.value(); write != nil {
				written += *write * float64(k.count)
			} else {
				wrote = false
			}
		}
		if covered == 0 {
			continue
		}
		if wrote {
			row.WriteBytes = &written
		}
		row.Coverage = float64(covered) / float64(total[c.Name])
		out = append(out, row)
	}
	return out
}

// stepKernels are the kernels of the median step and the exclusive time of
// each component.
func (d *tracedDevice) stepKernels() (map[roofline.Component]map[kernelShape]*stepKernel, map[roofline.Component]int64) {
	own := map[int]int64{}
	for _, s := range d.profile.Segments {
		own[s.Op] += s.End - s.Start
	}
	step, total := map[roofline.Component]map[kernelShape]*stepKernel{}, map[roofline.Component]int64{}
	names := map[string]string{}
	for i := d.profile.Step.First; i < d.profile.Step.Last; i++ {
		e := d.GPU[i]
		if e.Kind != traces.Kernel || e.Start < d.profile.Step.Start || e.Start >= d.profile.Step.End {
			continue
		}
		name, ok := names[e.Name]
		if !ok {
			name = classify.Normalize(e.Name)
			names[e.Name] = name
		}
		shape := kernelShape{name: name}
		if e.Detail != nil {
			shape.grid, shape.block = e.Detail.Grid, e.Detail.Block
		}
		c := d.component(i)
		if step[c] == nil {
			step[c] = map[kernelShape]*stepKernel{}
		}
		k := step[c][shape]
		if k == nil {
			k = &stepKernel{}
			step[c][shape] = k
		}
		k.count++
		k.own += own[i]
		total[c] += own[i]
	}
	return step, total
}

// kernelFinder finds the kernel of the step that a profiled launch is of.
type kernelFinder struct {
	step map[roofline.Component]map[kernelShape]*stepKernel
	full map[kernelShape][]found // by normalised name
	base map[kernelShape][]found // by name without namespaces and template arguments
}

type found struct {
	component roofline.Component
	shape     kernelShape
}

func newKernelFinder(step map[roofline.Component]map[kernelShape]*stepKernel) kernelFinder {
	f := kernelFinder{step, map[kernelShape][]found{}, map[kernelShape][]found{}}
	for c, kernels := range step {
		for shape := range kernels {
			f.full[shape] = append(f.full[shape], found{c, shape})
			short := shape
			short.name = baseName(shape.name)
			f.base[short] = append(f.base[short], found{c, shape})
		}
	}
	return f
}

// of is the kernel of a launch, nil where none or more than one fits: then
// nothing is said rather than the wrong thing. Sizes must agree where the trace
// has them.
func (f kernelFinder) of(c *counted) (roofline.Component, *stepKernel) {
	unsized, short := kernelShape{name: c.shape.name}, c.shape
	short.name = baseName(c.shape.name)
	for _, fits := range [][]found{f.full[c.shape], f.full[unsized], f.base[short], f.base[kernelShape{name: short.name}]} {
		if len(fits) > 1 && c.class.Known { // one kernel, several components: the neighbours may tell
			var same []found
			for _, g := range fits {
				if g.component == c.class.Component {
					same = append(same, g)
				}
			}
			fits = same
		}
		if len(fits) == 1 {
			return fits[0].component, f.step[fits[0].component][fits[0].shape]
		}
		if len(fits) > 1 {
			break
		}
	}
	return "", nil
}

// JoinCounters sets the counted bytes of a point's components beside what
// counters say, and warns where they contradict each other.
func (p *Point) JoinCounters(rows []reports.CounterRow, components []reports.ComponentRow) []reports.CounterRow {
	out := make([]reports.CounterRow, len(rows))
	for i, r := range rows {
		for _, c := range components {
			bytes := c.WeightBytes + c.KVBytes
			if c.Component != r.Component || bytes <= 0 {
				continue
			}
			r.CountedBytes = &bytes
			if r.Coverage < leastCoverage {
				continue
			}
			moved := r.ReadBytes
			if r.WriteBytes != nil {
				moved += *r.WriteBytes
			}
			ratio := moved / bytes
			r.Ratio = &ratio
			switch {
			case bytes > aboveCounter*moved:
				p.warn("counted-above-counter", "%s: the floor counts %s a step, the counters say %s: a cache holds part of it, or the floor counts what is not read", r.Component, size(bytes), size(moved))
			case moved > belowCounter*bytes:
				p.warn("counter-above-counted", "%s: the counters say %s a step, %s × the %s that the floor counts: its kernels read something more than once, or move intermediate results", r.Component, size(moved), unit.Significant(ratio, 3), size(bytes))
			}
		}
		out[i] = r
	}
	return out
}

func size(bytes float64) string { return fmt.Sprint(unit.Bytes(bytes)) }
