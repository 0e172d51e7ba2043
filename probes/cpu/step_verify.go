//go:build cgo && linux

package cpu

import (
	"context"
	"fmt"
	"math"

	"decodegap/probes"
)

// verifiedLayers is how many layers of a step are held against float64: after
// more of them, rounding says more about random weights than about kernels.
const verifiedLayers = 2

// stepBound is the relative L2 error that logits may have: int8 activations
// and a cache in BF16 or FP8 leave about a hundredth per layer.
const stepBound = 5e-2

// check runs every copy, whose logits must be the same bits, then the first
// layers and the head of the last copy, whose logits are compared with float64
// arithmetic on its own weights and cache.
func (s *Step) check(ctx context.Context) (probes.Correctness, error) {
	vocab, batch := s.plan.Vocab, s.options.Batch
	logits := of[float32](s.logits)[:batch*vocab]
	var first []float32
	for c := range s.copies {
		if err := s.runFor(ctx, s.program, c); err != nil {
			return probes.Correctness{}, err
		}
		if first == nil {
			first = append(first, logits...)
		}
		for i, v := range logits {
			if math.Float32bits(v) != math.Float32bits(first[i]) {
				return probes.Correctness{}, fmt.Errorf("two copies of one step differ: logit %d is %g and %g", i, first[i], v)
			}
		}
	}
	if err := s.runFor(ctx, s.cut, 0); err != nil {
		return probes.Correctness{}, err
	}
	hidden, err := s.reference(ctx)
	if err != nil {
		return probes.Correctness{}, err
	}
	var d probes.Distance
	var row []float64
	compare := func(t, r int) {
		row = s.head.row(r, row)
		d.Add(float64(logits[t*vocab+r]), dot64(row, hidden[t]))
	}
	for t := range batch {
		best := 0
		for i, v := range logits[t*vocab:][:vocab] {
			if v > logits[t*vocab+best] {
				best = i
			}
		}
		if got := int(of[int32](s.ids)[t]); got != best {
			return probes.Correctness{}, fmt.Errorf("token %d was sampled, the highest logit is %d's", got, best)
		}
		compare(t, best)
	}
	for _, r := range sampledRows(vocab, s.plan.Hidden, batch) {
		if err := ctx.Err(); err != nil {
			return probes.Correctness{}, err
		}
		for t := range batch {
			compare(t, r)
		}
	}
	return d.Correctness(stepBound, fmt.Sprintf("logits after %d layers", s.verified())), nil
}

// verified is how many layers are held against float64.
func (s *Step) verified() int { return min(verifiedLayers, len(s.plan.Layers)) }

// runFor runs a program once for its logits, all of which it must write.
func (s *Step) runFor(ctx context.Context, g *program, c int) error {
	logits := of[float32](s.logits)[:s.options.Batch*s.plan.Vocab]
	for i := range logits {
		logits[i] = float32(math.NaN())
	}
	if _, _, err := s.pool.run(ctx, g, c, 1, false); err != nil {
		return err
	}
	for i, v := range logits {
		if v != v {
			return fmt.Errorf("logit %d is no number or was not written", i)
		}
	}
	return nil
}
