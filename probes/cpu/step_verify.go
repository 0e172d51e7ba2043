//go:build cgo && linux

package cpu

import (
	"context"
	"fmt"
	"math"
	"slices"

	"decodegap/probes"
	"decodegap/probes/decode"
)

// verifiedLayers is how many layers of a step are held against float64: after
// more of them, rounding says more about random weights than about kernels.
const verifiedLayers = 2

// stepBound is the relative L2 error that logits may have: int8 activations
// and a cache in BF16 or FP8 leave about a hundredth per layer.
const stepBound = 5e-2

// verifyStep runs the first layers and the head of a plan as a step of its own
// and compares the logits with float64 arithmetic on the same weights.
func verifyStep(ctx context.Context, h probes.Host, plan *decode.Plan, o StepOptions) (probes.Correctness, error) {
	cut := *plan
	cut.Layers = plan.Layers[:min(verifiedLayers, len(plan.Layers))]
	o.Copies = 2
	s, err := NewStep(ctx, h, &cut, o)
	if err != nil {
		return probes.Correctness{}, err
	}
	defer s.Close()
	logits := of[float32](s.logits)[:o.Batch*plan.Vocab]
	var first []float32
	for range s.copies {
		for i := range logits {
			logits[i] = float32(math.NaN())
		}
		if _, err := s.Time(ctx, 1); err != nil {
			return probes.Correctness{}, err
		}
		if first == nil {
			first = append(first, logits...)
		}
		for i, v := range logits {
			if v != v {
				return probes.Correctness{}, fmt.Errorf("logit %d is no number or was not written", i)
			}
			if math.Float32bits(v) != math.Float32bits(first[i]) {
				return probes.Correctness{}, fmt.Errorf("two copies of one step differ: logit %d is %g and %g", i, first[i], v)
			}
		}
	}
	rows := sampledRows(plan.Vocab, plan.Hidden, o.Batch)
	var d difference
	for t := range o.Batch {
		if err := ctx.Err(); err != nil {
			return probes.Correctness{}, err
		}
		x, err := s.reference(ctx, t)
		if err != nil {
			return probes.Correctness{}, err
		}
		best := 0
		for i := range plan.Vocab {
			if logits[t*plan.Vocab+i] > logits[t*plan.Vocab+best] {
				best = i
			}
		}
		if got := int(of[int32](s.ids)[t]); got != best {
			return probes.Correctness{}, fmt.Errorf("token %d was sampled, the highest logit is %d's", got, best)
		}
		for _, r := range append(rows, best) {
			d.add(float64(logits[t*plan.Vocab+r]), dot64(s.head.row(r), x))
		}
	}
	return d.correctness(stepBound, fmt.Sprintf("logits after %d layers", len(cut.Layers))), nil
}

func dot64(w, x []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += w[i] * v
	}
	return sum
}

// times multiplies in float64 and adds the bias.
func (w *Weights) times(x []float64, bias *memory) []float64 {
	out := make([]float64, w.Rows)
	for r := range out {
		out[r] = dot64(w.row(r), x)
		if bias != nil {
			out[r] += float64(of[float32](bias)[r])
		}
	}
	return out
}

// reference is one token's normalised hidden state behind the last layer, in
// float64 on the step's own weights and caches.
func (s *Step) reference(ctx context.Context, token int) ([]float64, error) {
	x := widened(of[float32](s.hidden)[token*s.plan.Hidden:][:s.plan.Hidden])
	for i, d := range s.plan.Layers {
		l := s.layers[i]
		attended, err := s.attended(ctx, token, d.Attention, l, rmsNormed(x))
		if err != nil {
			return nil, err
		}
		add(x, l.out.times(attended, l.bias[1]))
		h := rmsNormed(x)
		if d.Mixture != nil {
			routed, err := s.mixed(token, d.Mixture, l, h)
			if err != nil {
				return nil, fmt.Errorf("layer %d, token %d: %w", i, token, err)
			}
			add(x, routed)
		}
		if l.down != nil {
			add(x, l.down.times(gated(l.upGate.times(h, l.bias[2])), l.bias[3]))
		}
	}
	return rmsNormed(x), nil
}

// routingSlack is how far below the last expert that float64 would choose a
// chosen one's logit may lie, in deviations of all logits: activations are
// rounded before the router, and near ties fall either way.
const routingSlack = 0.1

// mixed is the routed experts' sum for the experts that the step chose, after
// a check that they are the best ones.
func (s *Step) mixed(token int, d *decode.Mixture, l stepLayer, x []float64) ([]float64, error) {
	logits := l.router.times(x, nil)
	sorted := slices.Sorted(slices.Values(logits))
	var square, sum float64
	for _, v := range logits {
		square += v * v
		sum += v
	}
	n := float64(len(logits))
	least := sorted[len(sorted)-d.TopK] - routingSlack*math.Sqrt(max(square/n-sum*sum/n/n, 0))
	ids := of[int32](l.chosen)[token*d.TopK:][:d.TopK]
	var total float64
	for k, id := range ids {
		if int(id) < 0 || int(id) >= d.Experts || slices.Contains(ids[:k], id) || logits[id] < least {
			return nil, fmt.Errorf("experts %v were chosen, %d is not among the best", ids, id)
		}
		total += math.Exp(logits[id] - sorted[len(sorted)-1])
	}
	out := make([]float64, s.plan.Hidden)
	e := l.experts
	for _, id := range ids {
		weight := math.Exp(logits[id]-sorted[len(sorted)-1]) / total
		inner := make([]float64, e.Inter)
		for i := range inner {
			g := dot64(e.up.row(e.gateRow(int(id), i)), x)
			inner[i] = g / (1 + math.Exp(-g)) * dot64(e.up.row(e.upRow(int(id), i)), x)
		}
		for i := range out {
			out[i] += weight * dot64(e.down.row(e.downRow(int(id), i)), inner)
		}
	}
	return out, nil
}

func widened(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func add(x, y []float64) {
	for i, v := range y {
		x[i] += v
	}
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
// the step has written it.
func (s *Step) attended(ctx context.Context, token int, a decode.Attention, l stepLayer, x []float64) ([]float64, error) {
	qkv := l.qkv.times(x, l.bias[0])
	n := s.options.Context + 1
	from := 0
	if a.Window > 0 {
		from = max(0, n-a.Window)
	}
	k, v := make([][]float64, n), make([][]float64, n)
	out := make([]float64, a.Heads*a.HeadDim)
	for group := range a.KVHeads {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for t := from; t < n; t++ {
			row := s.batch.row(l.cache, token, group, t)
			k[t], v[t] = make([]float64, a.HeadDim), make([]float64, a.HeadDim)
			l.cache.readRow(l.cache.k, row, k[t], float64(l.cache.kScale))
			l.cache.readRow(l.cache.v, row, v[t], float64(l.cache.vScale))
		}
		// The token at hand as it should be, not as the step wrote it.
		k[n-1] = qkv[(a.Heads+group)*a.HeadDim:][:a.HeadDim]
		v[n-1] = qkv[(a.Heads+a.KVHeads+group)*a.HeadDim:][:a.HeadDim]
		if a.NormQK {
			k[n-1] = rmsNormed(k[n-1])
		}
		k[n-1] = s.turned(k[n-1])
		for h := group * a.Heads / a.KVHeads; h < (group+1)*a.Heads/a.KVHeads; h++ {
			q := qkv[h*a.HeadDim:][:a.HeadDim]
			if a.NormQK {
				q = rmsNormed(q)
			}
			q = s.turned(q)
			score, most := make([]float64, n), math.Inf(-1)
			for t := from; t < n; t++ {
				score[t] = dot64(q, k[t]) / math.Sqrt(float64(a.HeadDim))
				most = max(most, score[t])
			}
			var sum float64
			for t := from; t < n; t++ {
				score[t] = math.Exp(score[t] - most)
				sum += score[t]
			}
			for t := from; t < n; t++ {
				for i, value := range v[t] {
					out[h*a.HeadDim+i] += score[t] / sum * value
				}
			}
		}
	}
	return out, nil
}
