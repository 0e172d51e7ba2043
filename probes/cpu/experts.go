//go:build cgo && linux

package cpu

// #include "weights.h"
import "C"

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// ExpertsNVFP4 runs a layer's routed experts with NVFP4 weights.
var ExpertsNVFP4 = expertsProbe(NVFP4, "nvfp4", "9/16")

// ExpertsBF16 runs a layer's routed experts with BF16 weights.
var ExpertsBF16 = expertsProbe(BF16Weights, "bf16", "2")

func expertsProbe(f Format, name, each string) probes.Probe {
	return probes.Probe{
		Name:    "cpu/experts_" + name,
		Doc:     fmt.Sprintf("routed experts of %s weights: gate, up, SiLU, down", f),
		Formula: "distinct experts · 3·inter·hidden·" + each + " + 8·M·hidden + 8·M·top·inter",
		Checked: "float64 on the same quantised weights: 16 inner values and outputs of each token, with the first and the last",
		Check:   gemvCheck(f),
		Plan: func(probes.Host) []probes.Case {
			return []probes.Case{
				expertsCase(f, 1, 8, 128, 768, 2048),
				expertsCase(f, 4, 8, 128, 768, 2048),
				expertsCase(f, 16, 8, 128, 768, 2048),
			}
		},
		Prepare: prepareExperts,
	}
}

// expertsCase is m tokens of top experts out of count. The experts of the case
// are drawn from its seed, so that its bytes are a count and no expectation.
func expertsCase(f Format, m, top, count, inter, hidden int) probes.Case {
	n := distinct(route(m, top, count))
	return probes.Case{
		Name:   fmt.Sprintf("M=%d, %d of %d, %d×%d, %d distinct", m, top, count, inter, hidden, n),
		Shape:  map[string]int{"m": m, "top": top, "experts": count, "inter": inter, "hidden": hidden, "distinct": n},
		Format: f.String(),
		Bytes:  unit.Bytes(expertBytes(f, n, inter, hidden) + 8*int64(m)*int64(hidden) + 8*int64(m)*int64(top)*int64(inter)),
		FLOPs:  unit.FLOPs(6 * float64(m) * float64(top) * float64(inter) * float64(hidden)),
	}
}

// route draws top different experts for each of m tokens.
func route(m, top, count int) []int32 {
	random := rand.New(rand.NewPCG(uint64(m), uint64(count)))
	var out []int32
	for range m {
		for _, e := range random.Perm(count)[:top] {
			out = append(out, int32(e))
		}
	}
	return out
}

func distinct(experts []int32) int {
	seen := map[int32]bool{}
	for _, e := range experts {
		seen[e] = true
	}
	return len(seen)
}

// prepareExperts makes copies of a layer: as many that the experts which are
// read, and not all that are there, leave the cache.
func prepareExperts(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	f, k, err := kernelOf(c)
	if err != nil {
		return nil, err
	}
	m, top, count := c.Shape["m"], c.Shape["top"], c.Shape["experts"]
	inter, hidden := c.Shape["inter"], c.Shape["hidden"]
	if m < 1 || top < 1 || top > count || m*top > C.DG_PAIRS {
		return nil, fmt.Errorf("%d tokens of %d out of %d experts: at most %d pairs", m, top, count, C.DG_PAIRS)
	}
	size, err := expertsSize(f, count, inter, hidden)
	if err != nil {
		return nil, err
	}
	read := distinct(route(m, top, count))
	n, err := copies(h, unit.Bytes(expertBytes(f, read, inter, hidden)))
	if err != nil {
		return nil, err
	}
	// Every layer serves several runs, each of other experts.
	turns := count / read
	layers := (n + turns - 1) / turns
	if int64(layers)*size > int64(h.Budget) {
		return nil, fmt.Errorf("%w: %d layers of %s keep a last-level cache of %s cold, the memory budget is %s",
			probes.ErrUnsupported, layers, unit.Bytes(size), h.LastLevel, h.Budget)
	}
	s, err := newSubjectOf(h, c, k.isa, layers*turns)
	if err != nil {
		return nil, err
	}
	s.program.free()
	s.program = newProgram(2, layers*turns)
	all := make([]*Experts, layers)
	var matrices []*Weights
	for i := range all {
		at, err := s.allocate(size)
		if err != nil {
			return nil, err
		}
		if all[i], err = expertsAt(at.at, f, count, inter, hidden); err != nil {
			s.Close()
			return nil, err
		}
		all[i].up.Global, all[i].down.Global = expertScale(f), expertScale(f)
		matrices = append(matrices, all[i].matrices()...)
	}
	if err := s.fill(ctx, matrices); err != nil {
		return nil, err
	}
	var memory [5]*memory
	for i, size := range []int64{4 * int64(m*hidden), 4 * int64(m*hidden), 4 * int64(m*top*inter), 4 * int64(turns*m*top), 4 * int64(m*top)} {
		if memory[i], err = s.allocate(size); err != nil {
			return nil, err
		}
	}
	scratch, err := s.allocate(all[0].expertsScratch(k, m, s.pool.Threads()))
	if err != nil {
		return nil, err
	}
	x, y, inner, which, weights := memory[0], memory[1], memory[2], memory[3], memory[4]
	fillActivations(of[float32](x), 1)
	fillRoutes(of[int32](which), of[float32](weights), m, top, count, turns)
	for i := range layers * turns {
		all[i%layers].ops(s.op(2*i), s.op(2*i+1), k, routed{
			m: m, top: top, x: x.at, y: y.at, inner: inner.at, scratch: scratch.at,
			experts: unsafe.Add(which.at, 4*m*top*(i/layers)), weights: weights.at,
		})
	}
	s.poison, s.poisonInner = of[float32](y), of[float32](inner)
	s.verify = func(ctx context.Context, i int) (probes.Correctness, error) {
		ids := of[int32](which)[i/layers*m*top:][:m*top]
		c, err := k.compareExperts(ctx, all[i%layers], m, top, ids, of[float32](weights), of[float32](x), of[float32](inner), of[float32](y))
		return unwritten(unwritten(c, of[float32](inner)), of[float32](y)), err
	}
	return s, nil
}

// expertScale keeps gates where SiLU bends.
func expertScale(f Format) float32 {
	if f == BF16Weights {
		return 1
	}
	return 0.002
}

// fillRoutes writes the experts of every turn, all of them different from
// those of the turns before, and how much each counts.
func fillRoutes(which []int32, weights []float32, m, top, count, turns int) {
	base := route(m, top, count)
	place := map[int32]int{}
	for _, e := range base {
		if _, ok := place[e]; !ok {
			place[e] = len(place)
		}
	}
	order := rand.New(rand.NewPCG(9, uint64(count))).Perm(count)
	for turn := range turns {
		for i, e := range base {
			which[turn*m*top+i] = int32(order[turn*len(place)+place[e]])
		}
	}
	random := rand.New(rand.NewPCG(10, uint64(top)))
	for i := range weights {
		weights[i] = (0.5 + random.Float32()) / float32(top)
	}
}

// compareExperts holds inner values against float64 on the inputs, and outputs
// against float64 on the inner values that the kernel left.
func (k weightKernel) compareExperts(ctx context.Context, e *Experts, m, top int, ids []int32, weights, x, inner, y []float32) (probes.Correctness, error) {
	var in, out probes.Distance
	var row []float64
	product := func(w *Weights, at int, x []float32) float64 {
		row = w.row(at, row)
		return dot(row, x)
	}
	for p, id := range ids {
		if err := ctx.Err(); err != nil {
			return probes.Correctness{}, err
		}
		from := x[p/top*e.Hidden:][:e.Hidden]
		for _, i := range sampledValues(e.Inter) {
			gate, up := product(e.up, e.gateRow(int(id), i), from), product(e.up, e.upRow(int(id), i), from)
			in.Add(float64(inner[p*e.Inter+i]), gate/(1+math.Exp(-gate))*up)
		}
	}
	for t := range m {
		for _, i := range sampledValues(e.Hidden) {
			if err := ctx.Err(); err != nil {
				return probes.Correctness{}, err
			}
			var sum float64
			for p := t * top; p < (t+1)*top; p++ {
				sum += float64(weights[p]) * product(e.down, e.downRow(int(ids[p]), i), inner[p*e.Inter:][:e.Inter])
			}
			out.Add(float64(y[t*e.Hidden+i]), sum)
		}
	}
	comment, bound := k.activations()
	// An error of the gate is passed on by SiLU's slope of at most 1.1, and
	// the factors' errors add up.
	a, b := in.Correctness(3*bound, comment), out.Correctness(3*bound, comment)
	a.RelativeL2, a.MaxAbs = max(a.RelativeL2, b.RelativeL2), max(a.MaxAbs, b.MaxAbs)
	a.Values += b.Values
	return a, nil
}

// sampledValues are the indices that are checked: all of few, else 16 with the
// first and the last.
func sampledValues(n int) []int {
	if n <= 48 {
		return sampledRows(n, 1, 1)
	}
	random := rand.New(rand.NewPCG(11, uint64(n)))
	out := []int{0, n - 1}
	for len(out) < 16 {
		out = append(out, random.IntN(n))
	}
	return out
}
