//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"

	"decodegap/probes"
	"decodegap/probes/reference"
)

// Sampling is choosing the next token from the logits of a vocabulary.
var Sampling = probes.Probe{
	Name:    "cpu/sampling",
	Doc:     "the highest logit, or a draw with temperature, top-k and top-p, of logits in the cache; its time is the result",
	Formula: "none: logits lie in the cache",
	Checked: "every token against a sort of the whole vocabulary in float64",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{
			samplingCase("argmax", 1, 0, 0),
			samplingCase("temperature 0.7, top-k 50, top-p 0.9", 1, 50, 90),
			samplingCase("temperature 0.7, top-p 0.95", 1, 0, 95),
			samplingCase("argmax", 16, 0, 0),
		}
	},
	Prepare: prepareSampling,
}

// vocabulary is Qwen's, the largest in wide use: 151936.
const vocabulary = 151936

// samplingCase draws from top-k and top-p in per cent; both 0: the highest.
func samplingCase(name string, m, topK, topP int) probes.Case {
	return probes.Case{
		Name:  fmt.Sprintf("%s, M=%d × %d", name, m, vocabulary),
		Shape: map[string]int{"m": m, "size": vocabulary, "top_k": topK, "top_p_percent": topP},
	}
}

func prepareSampling(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	shape, err := values(c, "m", "size")
	if err != nil {
		return nil, err
	}
	tokens, size := shape[0], shape[1]
	how := reference.Sampling{Temperature: 0.7, TopK: c.Shape["top_k"], TopP: float32(c.Shape["top_p_percent"]) / 100}
	greedy := how.TopK == 0 && how.TopP == 0
	if how.TopP == 0 {
		how.TopP = 1
	}
	var logits, random []float32
	var ids *memory
	s, err := newChain(ctx, h, c, C.DG_HIGHEST, 1, func(m maker, s *subject, _ int) ([]op, error) {
		x, v, err := s.float32s(tokens*size, 1, 1)
		if err != nil {
			return nil, err
		}
		for i := range v { // a few tokens stand out, as after a projection
			v[i] *= 6 + 12*v[i]*v[i]
		}
		logits = v
		r, numbers, err := s.float32s(tokens, 0.5, 2)
		if err != nil {
			return nil, err
		}
		for i := range numbers {
			numbers[i] = max(0, numbers[i]+0.5-1e-6)
		}
		random = numbers
		if ids, err = s.allocate(int64(4 * tokens)); err != nil {
			return nil, err
		}
		s.poison = of[float32](ids) // NaN's bits are no token
		scratch, err := s.allocate(m.sampleScratch(tokens, size))
		if err != nil {
			return nil, err
		}
		if greedy {
			return m.argmax(tokens, size, x.at, ids.at, scratch.at)
		}
		return m.sample(how, tokens, size, x.at, r.at, ids.at, scratch.at)
	})
	if err != nil {
		return nil, err
	}
	s.verify = func(ctx context.Context, _ int) (probes.Correctness, error) {
		for i, id := range of[int32](ids) {
			if err := ctx.Err(); err != nil {
				return probes.Correctness{}, err
			}
			row := logits[i*size:][:size]
			err := error(nil)
			if greedy { // the highest alone, which is the first token of the order
				err = reference.Drawn(reference.Greedy(), row, 0, id)
			} else {
				err = reference.Drawn(how, row, random[i], id)
			}
			if err != nil {
				return probes.Correctness{}, err
			}
		}
		right := exact(true)
		right.Values, right.Comment = tokens, "the token that float64 draws"
		return right, nil
	}
	return s, nil
}
