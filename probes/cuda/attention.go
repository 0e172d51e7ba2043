//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/unit"
)

// The shape of bf16_gqa.cu.
const (
	gqaGroup = 4
	gqaDim   = 128
	gqaTile  = 16
	gqaStage = 2 * gqaTile * gqaDim * 2
	gqaSlot  = 2*gqaGroup + gqaGroup*gqaDim // floats
	gqaHeads = 8                            // of keys and values, in the cases
)

// GQA is attention of one new token a sequence over its cache.
var GQA = probes.Probe{
	Name:    "cuda/attention_gqa",
	Doc:     "decode attention over a BF16 cache, 32 query heads on 8 of keys and values of 128",
	Formula: "2·2·batch·kv_heads·context·128 + 2·2·batch·heads·128",
	Checked: "64 query heads or all against float64 on the same bfloat16, all outputs written",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range []struct{ batch, context int }{{16, 8192}, {1, 8192}, {1, 65536}, {64, 1000}} {
			for _, pdl := range []int{0, 1} {
				if pdl == 1 && h.GPU.Major < 9 {
					continue
				}
				c := probes.Case{
					Name:   fmt.Sprintf("%d×%d", s.batch, s.context),
					Shape:  map[string]int{"batch": s.batch, "context": s.context, "heads": gqaGroup * gqaHeads, "kv_heads": gqaHeads, "dim": gqaDim},
					Format: "BF16",
					Bytes:  unit.Bytes(4*s.batch*gqaHeads*s.context*gqaDim + 4*s.batch*gqaGroup*gqaHeads*gqaDim),
					FLOPs:  unit.FLOPs(4 * s.batch * gqaGroup * gqaHeads * s.context * gqaDim),
				}
				if pdl == 1 {
					c.Name += " PDL"
					c.Shape["pdl"] = 1
				}
				out = append(out, c)
			}
		}
		return out
	},
	Prepare: prepareGQA,
}

// gqa is a case's operands.
type gqa struct {
	heads, context int // of keys and values, over all sequences; tokens
	q, kv, out     *driver.Memory
	copy           int64 // bytes of keys and values of one copy
}

func prepareGQA(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	g := &gqa{heads: c.Shape["batch"] * c.Shape["kv_heads"], context: c.Shape["context"]}
	g.copy = int64(4 * g.heads * g.context * gqaDim)
	n, err := copies(h, unit.Bytes(g.copy))
	if err != nil {
		return nil, err
	}
	s := &subject{m: m, copies: n, each: c.Bytes}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if g.kv, err = s.allocate(h, int64(n)*g.copy); err != nil {
		return nil, err
	}
	if g.q, err = s.allocate(h, int64(2*g.heads*gqaGroup*gqaDim)); err != nil {
		return nil, err
	}
	if g.out, err = s.allocate(h, int64(2*g.heads*gqaGroup*gqaDim)); err != nil {
		return nil, err
	}
	s.output = g.out
	// A block may have the end of one head and the beginning of another, no
	// more: as many blocks as heads, in whole multiples of multiprocessors.
	sms := m.device.GPU().SMs
	waves := (g.heads + sms - 1) / sms
	parts, err := s.allocate(h, int64(sms*waves*2*gqaSlot*4))
	if err != nil {
		return nil, err
	}
	if err := m.fill(ctx, "fill_bf16", g.kv, uint64(g.kv.Size()/4), float32(1), seed()); err != nil {
		return nil, err
	}
	// Scores of a few units, as of trained models: some tokens matter more.
	if err := m.fill(ctx, "fill_bf16", g.q, uint64(g.q.Size()/4), float32(4), seed()); err != nil {
		return nil, err
	}
	join, err := m.kernel("bf16_gqa", "bf16_gqa_join", 0)
	if err != nil {
		return nil, err
	}
	order := ordered
	if c.Shape["pdl"] == 1 {
		order = early
	}
	var all []variant
	for _, v := range []struct{ warps, stages int }{{8, 3}, {10, 2}, {8, 2}} {
		all = append(all, variant{entry: fmt.Sprintf("bf16_gqa_%dx%d", v.warps, v.stages), warps: v.warps, resident: 1, waves: waves, order: order,
			shared: v.warps*v.stages*gqaStage + 2*v.warps*gqaSlot*4})
	}
	tiles := (g.context + gqaTile - 1) / gqaTile
	err = s.choose(ctx, "bf16_gqa", all, func(k *driver.Kernel, v variant, copy int) []*driver.Launch {
		grid, at := v.grid(m.device.GPU()), int64(copy)*g.copy
		main := &driver.Launch{Kernel: k, Grid: grid, Block: v.warps * 32, Shared: v.shared, Dependent: order != ordered}
		main.Arg(g.q.Address(0), g.kv.Address(at), g.kv.Address(at+g.copy/2), g.out.Address(0), parts.Address(0),
			uint32(g.heads), uint32(g.context), uint32(tiles), float32(math.Log2E/math.Sqrt(gqaDim)), order)
		last := &driver.Launch{Kernel: join, Grid: g.heads * gqaGroup, Block: gqaDim / 2, Dependent: order != ordered}
		last.Arg(g.out.Address(0), parts.Address(0), uint32(g.heads), uint32(tiles), uint32(grid), order)
		return []*driver.Launch{main, last}
	})
	if err != nil {
		return nil, err
	}
	s.kernel += ", 2 nodes"
	s.verify = func() (probes.Correctness, error) { return g.verify(int64(n-1) * g.copy) }
	return s, nil
}

// gqaBound is that of outputs rounded to bfloat16, of probabilities too.
const gqaBound = 5e-3

// verify compares heads with float64 arithmetic on the keys and values at an
// offset.
func (g *gqa) verify(at int64) (probes.Correctness, error) {
	width := gqaGroup * gqaDim
	q, out := make([]uint16, g.heads*width), make([]uint16, g.heads*width)
	if err := driver.Read(g.q, 0, q); err != nil {
		return probes.Correctness{}, err
	}
	if err := driver.Read(g.out, 0, out); err != nil {
		return probes.Correctness{}, err
	}
	for i, v := range out {
		if x := bf16(v); math.IsNaN(x) || math.IsInf(x, 0) {
			return probes.Correctness{}, fmt.Errorf("output %d of %d was not written, or is no number", i, len(out))
		}
	}
	d := &distance{}
	keys, values := make([]uint16, g.context*gqaDim), make([]uint16, g.context*gqaDim)
	scale := 1 / math.Sqrt(gqaDim)
	for _, head := range sampled(g.heads, 16) {
		row := int64(2 * head * g.context * gqaDim)
		if err := driver.Read(g.kv, at+row, keys); err != nil {
			return probes.Correctness{}, err
		}
		if err := driver.Read(g.kv, at+g.copy/2+row, values); err != nil {
			return probes.Correctness{}, err
		}
		k, v := numbers(keys), numbers(values)
		for query := range gqaGroup {
			first := head*width + query*gqaDim
			for i, want := range attention(numbers(q[first:first+gqaDim]), k, v, gqaDim, gqaDim, scale) {
				d.add(bf16(out[first+i]), want)
			}
		}
	}
	return d.correctness(gqaBound, "bfloat16 probabilities and outputs; all outputs written"), nil
}

// attention is softmax(q·Kᵀ·scale)·V in float64, for one query: keys and
// values are rows of stride numbers, one for each token.
func attention(query, keys, values []float64, stride, width int, scale float64) []float64 {
	scores := make([]float64, len(keys)/stride)
	most := math.Inf(-1)
	for t := range scores {
		var sum float64
		for i, x := range keys[t*stride:][:len(query)] {
			sum += query[i] * x
		}
		scores[t] = sum * scale
		most = max(most, scores[t])
	}
	out := make([]float64, width)
	var sum float64
	for t, s := range scores {
		p := math.Exp(s - most)
		sum += p
		for i, x := range values[t*stride:][:width] {
			out[i] += p * x
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
