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
	Formula: "none: the time is the result",
	Checked: "all choices exactly: the scores of those chosen are the largest",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range []struct{ batch, context int }{{16, 131072}, {1, 131072}, {16, 32768}, {1, 32768}, {16, 8192}, {1, 8192}} {
			for _, pdl := range []int{0, 1} {
				if pdl == 1 && h.GPU.Major < 9 {
					continue
				}
				c := probes.Case{Name: fmt.Sprintf("%d of %d×%d", topChosen, s.batch, s.context),
					Shape: map[string]int{"m": s.batch, "context": s.context, "chosen": topChosen}}
				if pdl == 1 {
					c.Name += " PDL"
					c.Shape["pdl"] = 1
				}
				out = append(out, c)
			}
		}
		return out
	},
	Prepare: prepareIndexTop,
}

func prepareIndexTop(_ context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	batch, tokens, order := c.Shape["m"], c.Shape["context"], ordered
	if batch < 1 || tokens < topChosen || tokens%4 != 0 {
		return nil, fmt.Errorf("%w: the choice is of %d tokens or more, in multiples of four", probes.ErrUnsupported, topChosen)
	}
	if c.Shape["pdl"] == 1 {
		order = early
	}
	s := &subject{m: m, copies: 1, kernel: variant{entry: "index_top_2048", warps: topBlock / 32, resident: 1, order: order}.String()}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	// One copy: in a decode step the scan has just written the scores.
	scores, err := s.allocate(h, int64(4*batch*tokens))
	if err != nil {
		return nil, err
	}
	out, err := s.allocate(h, int64(4*batch*topChosen))
	if err != nil {
		return nil, err
	}
	s.output = out
	values := make([]float32, batch*tokens)
	for i := range values {
		values[i] = float32(rand.NormFloat64())
	}
	if err := driver.Write(scores, 0, values); err != nil {
		return nil, err
	}
	k, err := m.kernel("index_top", "index_top_2048", 0)
	if err != nil {
		return nil, err
	}
	l := &driver.Launch{Kernel: k, Grid: batch, Block: topBlock, Dependent: order != ordered}
	l.Arg(scores.Address(0), out.Address(0), uint32(tokens), order)
	if err := s.nodes(func(int) []*driver.Launch { return []*driver.Launch{l} }); err != nil {
		return nil, err
	}
	s.verify = func() (probes.Correctness, error) {
		chosen := make([]uint32, batch*topChosen)
		if err := driver.Read(out, 0, chosen); err != nil {
			return probes.Correctness{}, err
		}
		for i := range batch {
			if err := isTop(values[i*tokens:][:tokens], chosen[i*topChosen:][:topChosen]); err != nil {
				return probes.Correctness{}, fmt.Errorf("sequence %d: %w", i, err)
			}
		}
		return exact(true), nil
	}
	return s, nil
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
