//go:build cgo && linux

package cpu

import (
	"context"
	"fmt"
	"math"
	"slices"

	"decodegap/probes/decode"
)

func dot64(w, x []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += w[i] * v
	}
	return sum
}

// times multiplies each token's values in float64 and adds the bias; a row is
// decoded once for all of them.
func (w *Weights) times(ctx context.Context, x [][]float64, bias *memory) ([][]float64, error) {
	out := make([][]float64, len(x))
	for t := range out {
		out[t] = make([]float64, w.Rows)
	}
	var row []float64
	for r := range w.Rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row = w.row(r, row)
		for t := range out {
			out[t][r] = dot64(row, x[t])
			if bias != nil {
				out[t][r] += float64(of[float32](bias)[r])
			}
		}
	}
	return out, nil
}

// reference is each token's normalised hidden state behind the layers that are
// checked, in float64 on the step's own weights and caches.
func (s *Step) reference(ctx context.Context) ([][]float64, error) {
	x := make([][]float64, s.options.Batch)
	for t := range x {
		x[t] = widened(of[float32](s.hidden)[t*s.plan.Hidden:][:s.plan.Hidden])
	}
	for i, d := range s.plan.Layers[:s.verified()] {
		l := s.layers[i]
		qkv, err := l.qkv.times(ctx, each(x, rmsNormed), l.bias[0])
		if err != nil {
			return nil, err
		}
		attended := make([][]float64, len(x))
		for t := range x {
			if attended[t], err = s.attended(ctx, t, d.Attention, l, qkv[t]); err != nil {
				return nil, err
			}
		}
		if err := l.out.onto(ctx, x, attended, l.bias[1]); err != nil {
			return nil, err
		}
		h := each(x, rmsNormed)
		if d.Mixture != nil {
			if err := s.mixed(ctx, d.Mixture, l, h, x); err != nil {
				return nil, fmt.Errorf("layer %d, %w", i, err)
			}
		}
		if l.down != nil {
			wide, err := l.upGate.times(ctx, h, l.bias[2])
			if err != nil {
				return nil, err
			}
			if err := l.down.onto(ctx, x, each(wide, gated), l.bias[3]); err != nil {
				return nil, err
			}
		}
	}
	return each(x, rmsNormed), nil
}

// onto adds times of the inputs to x.
func (w *Weights) onto(ctx context.Context, x, inputs [][]float64, bias *memory) error {
	y, err := w.times(ctx, inputs, bias)
	for t := range y {
		for i, v := range y[t] {
			x[t][i] += v
		}
	}
	return err
}

func each(x [][]float64, f func([]float64) []float64) [][]float64 {
	out := make([][]float64, len(x))
	for t := range x {
		out[t] = f(x[t])
	}
	return out
}

// routingSlack is how far below the last expert that float64 would choose a
// chosen one's logit may lie, in deviations of all logits: activations are
// rounded before the router, and near ties fall either way.
const routingSlack = 0.1

// mixed adds to each token of onto the routed experts' sum for the experts that
// the step chose, after a check that they are the best ones.
func (s *Step) mixed(ctx context.Context, d *decode.Mixture, l stepLayer, x, onto [][]float64) error {
	all, err := l.router.times(ctx, x, nil)
	if err != nil {
		return err
	}
	e := l.experts
	var row []float64
	product := func(w *Weights, at int, x []float64) float64 {
		row = w.row(at, row)
		return dot64(row, x)
	}
	for t, logits := range all {
		ids := of[int32](l.chosen)[t*d.TopK:][:d.TopK]
		weights, err := chosenWeights(ids, logits)
		if err != nil {
			return fmt.Errorf("token %d: %w", t, err)
		}
		for k, id := range ids {
			if err := ctx.Err(); err != nil {
				return err
			}
			inner := make([]float64, e.Inter)
			for i := range inner {
				g := product(e.up, e.gateRow(int(id), i), x[t])
				inner[i] = g / (1 + math.Exp(-g)) * product(e.up, e.upRow(int(id), i), x[t])
			}
			for i := range onto[t] {
				onto[t][i] += weights[k] * product(e.down, e.downRow(int(id), i), inner)
			}
		}
	}
	return nil
}

// chosenWeights is the softmax of the chosen experts' logits, an error where
// one of them is not among the best.
func chosenWeights(ids []int32, logits []float64) ([]float64, error) {
	sorted := slices.Sorted(slices.Values(logits))
	var square, sum, total float64
	for _, v := range logits {
		square += v * v
		sum += v
	}
	n := float64(len(logits))
	least := sorted[len(sorted)-len(ids)] - routingSlack*math.Sqrt(max(square/n-sum*sum/n/n, 0))
	weights := make([]float64, len(ids))
	for k, id := range ids {
		if int(id) < 0 || int(id) >= len(logits) || slices.Contains(ids[:k], id) || logits[id] < least {
			return nil, fmt.Errorf("experts %v were chosen, %d is not among the best", ids, id)
		}
		weights[k] = math.Exp(logits[id] - sorted[len(sorted)-1])
		total += weights[k]
	}
	for k := range weights {
		weights[k] /= total
	}
	return weights, nil
}

func widened(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// rmsNormed is RMSNorm with weights of one.
func rmsNormed(x []float64) []float64 {
	var square float64
	for _, v := range x {
		square += v * v
	}
	r := 1 / math.Sqrt(square/float64(len(x))+stepEpsilon)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * r
	}
	return out
}

// gated is SiLU of the first half times the second.
func gated(x []float64) []float64 {
	half := len(x) / 2
	out := make([]float64, half)
	for i := range out {
		out[i] = x[i] / (1 + math.Exp(-x[i])) * x[half+i]
	}
	return out
}

// turned rotates a head's pairs (i, i + half) to the step's position.
func (s *Step) turned(x []float64) []float64 {
	half := len(x) / 2
	out := make([]float64, len(x))
	for i := range half {
		angle := float64(s.options.Context) * math.Pow(stepRopeBase, -float64(i)/float64(half))
		sin, cos := math.Sincos(angle)
		out[i] = x[i]*cos - x[half+i]*sin
		out[half+i] = x[half+i]*cos + x[i]*sin
	}
	return out
}

// attended is attention over what the cache holds, the token at hand included:
// as it should be, not as the step wrote it.
func (s *Step) attended(ctx context.Context, token int, a decode.Attention, l stepLayer, qkv []float64) ([]float64, error) {
	head := func(i int, norm bool) []float64 {
		v := qkv[i*a.HeadDim:][:a.HeadDim]
		if norm {
			v = rmsNormed(v)
		}
		return v
	}
	n, first := s.options.Context+1, 0
	if a.Window > 0 {
		first = max(0, n-a.Window)
	}
	key, value := make([]float64, a.HeadDim), make([]float64, a.HeadDim)
	queries := a.Heads / a.KVHeads
	var out []float64
	for group := range a.KVHeads {
		sums, q := make([]*softSum, queries), make([][]float64, queries)
		for h := range queries {
			sums[h], q[h] = newSoftSum(a.HeadDim), s.turned(head(group*queries+h, a.NormQK))
		}
		for t := first; t < n; t++ {
			if t%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			k, v := key, value
			if t < n-1 {
				row := s.batch.row(l.cache, token, group, t)
				l.cache.readRow(l.cache.k, row, key, float64(l.cache.kScale))
				l.cache.readRow(l.cache.v, row, value, float64(l.cache.vScale))
			} else {
				k, v = s.turned(head(a.Heads+group, a.NormQK)), head(a.Heads+a.KVHeads+group, false)
			}
			for h, sum := range sums {
				sum.add(dot64(q[h], k)/math.Sqrt(float64(a.HeadDim)), v)
			}
		}
		for _, sum := range sums {
			out = append(out, sum.mean()...)
		}
	}
	return out, nil
}
