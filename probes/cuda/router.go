//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math"
	"slices"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// The shape of the router's kernel.
const (
	routerExperts = 256
	routerChosen  = 8
	routerWarps   = 4
)

// Router chooses the experts of each token.
var Router = probes.Probe{
	Name:    "cuda/router",
	Doc:     "the eight largest of 256 router logits for each token, and their softmax",
	Formula: "none: the time is the result",
	Checked: "all choices exactly, all weights against float64",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, tokens := range []int{1, 64, 16} {
			out = append(out, both(h, probes.Case{Name: fmt.Sprintf("8 of 256, %s", plural(tokens, "token")),
				Shape: map[string]int{"m": tokens, "experts": routerExperts, "chosen": routerChosen}})...)
		}
		return out
	},
	Prepare: prepareRouter,
}

func prepareRouter(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	s, err := newSmall(h, c)
	if err != nil {
		return nil, err
	}
	tokens, random := c.Shape["m"], seed()
	values := make([]float32, tokens*routerExperts)
	for i := range values {
		values[i] = 4 * float32(int32(word(random, uint64(i)))) / (1 << 31)
	}
	logits, out := upload(s, values, 4), s.room(2*4*tokens*routerChosen)
	s.output = out
	plain := variant{entry: "router_256", warps: routerWarps, resident: 1, blocks: (tokens + routerWarps - 1) / routerWarps}
	dependent := plain
	dependent.order = early
	return s.ready(ctx, "router", []variant{plain, dependent}, func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		return []*driver.Launch{v.launch(k, v.blocks, logits.Address(0), out.Address(0), out.Address(int64(4*tokens*routerChosen)), uint32(tokens), uint32(routerChosen))}
	}, func() (probes.Correctness, error) {
		ids, err := read[uint32](out, 0, tokens*routerChosen)
		if err != nil {
			return probes.Correctness{}, err
		}
		weights, err := read[float32](out, int64(4*len(ids)), len(ids))
		if err != nil {
			return probes.Correctness{}, err
		}
		d := &distance{}
		for t := range tokens {
			row := values[t*routerExperts : (t+1)*routerExperts]
			want := largest(row, routerChosen)
			var sum float64
			for _, e := range want {
				sum += math.Exp(float64(row[e] - row[want[0]]))
			}
			for i, e := range want {
				if got := ids[t*routerChosen+i]; got != uint32(e) {
					return probes.Correctness{}, fmt.Errorf("token %d: choice %d is expert %d, expected %d", t, i, got, e)
				}
				d.add(float64(weights[t*routerChosen+i]), math.Exp(float64(row[e]-row[want[0]]))/sum)
			}
		}
		return d.correctness(routerBound, "choices exact"), nil
	})
}

// routerBound allows for the hardware's own exponential.
const routerBound = 1e-5

// largest are the indices of the k largest values, the lower where two are
// equal.
func largest(values []float32, k int) []int {
	all := make([]int, len(values))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		switch {
		case values[a] > values[b]:
			return -1
		case values[a] < values[b]:
			return 1
		}
		return 0
	})
	return all[:k]
}
