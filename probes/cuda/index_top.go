//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// The shape of kernels/index_top.cu.
const (
	topChosen = 2048
	topBlock  = 1024
)

// IndexTop chooses the tokens that sparse attention reads.
var IndexTop = probes.Probe{
	Name:    "cuda/index_top",
	Doc:     "the 2048 cached tokens with the largest index scores, of each sequence: what sparse attention then reads",
	Formula: inCache("batch·(4·context + 8192)"),
	Checked: "all choices exactly: the scores of those chosen are the largest",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range []struct{ batch, context int }{{16, 131072}, {1, 131072}, {16, 32768}, {1, 32768}, {16, 8192}, {1, 8192}} {
			out = append(out, both(h, probes.Case{Name: fmt.Sprintf("%d of %d×%d", topChosen, s.batch, s.context),
				Shape: map[string]int{"m": s.batch, "context": s.context, "chosen": topChosen}})...)
		}
		return out
	},
	Prepare: prepareIndexTop,
}

func prepareIndexTop(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	s, err := newSmall(h, c)
	if err != nil {
		return nil, err
	}
	batch, tokens := c.Shape["m"], c.Shape["context"]
	if batch < 1 || tokens < topChosen || tokens%4 != 0 {
		return nil, fmt.Errorf("%w: the choice is of %d tokens or more, in multiples of four", probes.ErrUnsupported, topChosen)
	}
	values := make([]float32, batch*tokens)
	for i := range values {
		values[i] = float32(rand.NormFloat64())
	}
	scores, out := upload(s, values, 4), s.room(4*batch*topChosen)
	s.output = out
	all := orders([]variant{{entry: "index_top_2048", warps: topBlock / 32, resident: 1, blocks: batch}})
	return s.ready(ctx, "index_top", all, func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		return []*driver.Launch{v.launch(k, batch, scores.Address(0), out.Address(0), uint32(tokens))}
	}, func() (probes.Correctness, error) {
		chosen, err := read[uint32](out, 0, batch*topChosen)
		if err != nil {
			return probes.Correctness{}, err
		}
		for i := range batch {
			if err := isTop(values[i*tokens:][:tokens], chosen[i*topChosen:][:topChosen]); err != nil {
				return probes.Correctness{}, fmt.Errorf("sequence %d: %w", i, err)
			}
		}
		right := exact(true)
		right.Values = len(chosen)
		return right, nil
	})
}

// isTop says whether those chosen are different tokens with the largest scores.
func isTop(scores []float32, chosen []uint32) error {
	got := make([]float32, len(chosen))
	taken := make([]bool, len(scores))
	for i, token := range chosen {
		if int64(token) >= int64(len(scores)) || taken[token] {
			return fmt.Errorf("choice %d is token %d of %d, which is taken or was not written", i, token, len(scores))
		}
		taken[token] = true
		got[i] = scores[token]
	}
	want := slices.Clone(scores)
	slices.Sort(want)
	slices.Sort(got)
	want = want[len(want)-len(got):]
	for i, v := range want {
		if got[i] != v {
			return fmt.Errorf("the score of rank %d among those chosen is %g, expected %g", len(want)-i, got[i], v)
		}
	}
	return nil
}
