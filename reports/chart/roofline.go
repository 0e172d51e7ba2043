package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"decodegap/reports"
	"decodegap/reports/canvas"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Roofline places the step's components under the machine's roofs, by
// arithmetic intensity and at their floor, and the measured step below them.
// It is nil where no bandwidth is known or no component both computes and
// reads.
func Roofline(run *reports.Run, point int) (*Figure, error) {
	pt, err := pointOf(run, point)
	if err != nil {
		return nil, err
	}
	spots := spotsOf(pt.Components)
	r := &roof{spots: spots, bandwidth: bandwidthOf(run.Hardware.Ceilings, pt.Components)}
	if len(spots) == 0 || r.bandwidth.Value == 0 {
		return nil, nil
	}
	r.flats = flatsOf(run.Hardware.Ceilings, r.bandwidth.Basis)
	if s, ok := measuredSpot(pt); ok {
		r.spots = append(r.spots, s)
	}
	p := newPlot()
	r.ranges(p)
	p.X.Scale, p.Y.Scale = logScale{}, logScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = logTicks{general}, logTicks{engineering}
	p.Add(grid{x: true, y: true}, r)
	f := &Figure{
		ID:    idOf("roofline", run, point),
		Title: "Roofline of the step",
		Alt:   r.words(run.Hardware.Name),
		Width: designWidth, Height: 430,
		Plot: p, XName: "arithmetic intensity: FLOP per byte read or written", YName: "FLOP/s per GPU",
		Note: "Circles: components at their floor, area by share of its time. Diamond: the measured step. Ceilings: " + r.bandwidth.Basis + ".",
	}
	return f, nil
}

// spot is one point under the roof.
type spot struct {
	id, name, detail string
	intensity, rate  float64 // FLOP/B, FLOP/s
	ms               float64
	share            float64 // of the components' time, 0 to 1
	ink              canvas.Ink
	measured         bool
}

// maxSpots bounds the labelled components.
const maxSpots = 10

// spotsOf takes the components that both compute and read memory, largest
// first.
func spotsOf(rows []reports.ComponentRow) []spot {
	var out []spot
	var total float64
	for _, c := range rows {
		bytes := c.WeightBytes + c.KVBytes
		if roofline.Component(c.Component).IsComm() || !positive(c.FLOPs) || !positive(bytes) || !positive(c.Ms) {
			continue
		}
		total += c.Ms
		ink := canvas.C0
		if c.Bound == "compute" {
			ink = canvas.C1
		}
		out = append(out, spot{
			id: "component-" + c.Component, name: c.Component, ms: c.Ms, ink: ink,
			intensity: c.FLOPs / bytes, rate: c.FLOPs / (c.Ms / 1e3),
			detail: fmt.Sprintf("%s, %s, %s bound", unit.Bytes(bytes), unit.FLOPs(c.FLOPs), c.Bound),
		})
	}
	slices.SortStableFunc(out, func(a, b spot) int { return -compare(a.ms, b.ms) })
	for i := range out {
		out[i].share = out[i].ms / total
	}
	return out[:min(len(out), maxSpots)]
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// measuredSpot is the whole step at the measured time.
func measuredSpot(pt *reports.RunPoint) (spot, bool) {
	bytes := pt.WeightBytesLayout + pt.KVReadBytes + pt.KVWriteBytes
	if pt.Measured == nil || !positive(pt.Measured.ValueMs) || !positive(bytes) || !positive(pt.FLOPs) {
		return spot{}, false
	}
	step := pt.Measured.ValueMs * max(1, pt.AcceptedTokens)
	return spot{
		id: "measured", name: "measured step", ms: step, ink: canvas.Fg, measured: true,
		intensity: pt.FLOPs / bytes, rate: pt.FLOPs / (step / 1e3),
		detail: fmt.Sprintf("%s, %s", unit.Bytes(bytes), unit.FLOPs(pt.FLOPs)),
	}, true
}

// bandwidthOf is the memory roof: of the bases known, the one that the
// memory-bound components were floored with.
func bandwidthOf(all []reports.Ceiling, rows []reports.ComponentRow) reports.Ceiling {
	var best reports.Ceiling
	nearest := math.Inf(1)
	for _, c := range all {
		if c.Resource != string(roofline.DRAMRead) || !positive(c.Value) {
			continue
		}
		off := 1e9 // no memory-bound component: the first stands
		for _, r := range rows {
			if r.Bound == "memory" && positive(r.Ms) && positive(r.WeightBytes+r.KVBytes) {
				off = math.Abs(math.Log((r.WeightBytes + r.KVBytes) / (r.Ms / 1e3) / c.Value))
				break
			}
		}
		if off < nearest {
			best, nearest = c, off
		}
	}
	return best
}

// flat is one compute roof; formats with the same rate share it.
type flat struct {
	name string
	rate float64
}

// flatsOf takes the dense rates of the given basis; a rate that is not known
// there stands as any other basis has it.
func flatsOf(all []reports.Ceiling, basis string) []flat {
	var out []flat
	for _, f := range []struct{ resource, name string }{
		{string(roofline.TensorBF16), "bf16"},
		{string(roofline.TensorFP8), "fp8"},
		{string(roofline.TensorFP4), "fp4"},
	} {
		var rate float64
		for _, c := range all {
			if c.Resource == f.resource && positive(c.Value) && (rate == 0 || c.Basis == basis) {
				rate = c.Value
			}
		}
		if rate == 0 {
			continue
		}
		if n := len(out); n > 0 && math.Abs(out[n-1].rate/rate-1) < 0.01 {
			out[n-1].name += ", " + f.name
			continue
		}
		out = append(out, flat{f.name, rate})
	}
	slices.SortStableFunc(out, func(a, b flat) int { return compare(a.rate, b.rate) })
	return out
}

// ranges fits the axes to the points and to where the roofs meet.
func (r *roof) ranges(p *plot.Plot) {
	xlo, xhi := math.Inf(1), 0.0
	ylo, yhi := math.Inf(1), 0.0
	for _, s := range r.spots {
		xlo, xhi = min(xlo, s.intensity), max(xhi, s.intensity)
		ylo, yhi = min(ylo, s.rate), max(yhi, s.rate)
	}
	for _, f := range r.flats {
		xhi, yhi = max(xhi, f.rate/r.bandwidth.Value), max(yhi, f.rate)
	}
	if len(r.flats) == 0 {
		xhi = max(xhi, xlo*100)
		yhi = max(yhi, xhi*r.bandwidth.Value)
	}
	p.X.Min, p.X.Max = xlo/4, max(xhi*6, xlo*30)
	p.Y.Min, p.Y.Max = ylo/4, max(yhi*2.5, ylo*30)
}

// words is the figure in a sentence or two.
func (r *roof) words(machine string) string {
	parts := []string{fmt.Sprintf("Roofline of one %s: memory roof %s", machine, unit.BytesPerSecond(r.bandwidth.Value))}
	for _, f := range r.flats {
		parts = append(parts, fmt.Sprintf("%s roof %s", f.name, unit.FLOPsPerSecond(f.rate)))
	}
	s := strings.Join(parts, ", ") + "."
	for _, c := range r.spots {
		s += fmt.Sprintf(" %s at %s FLOP/B, %s;", c.name, unit.Significant(c.intensity, 3), unit.FromMillis(c.ms))
	}
	return s[:len(s)-1] + "."
}

// engineering prints a rate with an SI prefix, as axis labels have it.
func engineering(v float64) string {
	for _, p := range []struct {
		at   float64
		name string
	}{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= p.at*0.999 {
			return general(math.Round(v/p.at*1e3)/1e3) + " " + p.name
		}
	}
	return general(v)
}

var _ plot.Plotter = (*roof)(nil)
