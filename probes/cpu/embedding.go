//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"

	"decodegap/probes"
)

// Embedding is the read of a token's row of the embedding table.
var Embedding = probes.Probe{
	Name:    "cpu/embedding",
	Doc:     "a token's BF16 row of the embedding table as float32, the row in the cache; its time is the result",
	Formula: "none: the rows lie in the cache",
	Checked: "all values, exactly",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{rowCase(1, 4096), rowCase(16, 4096)}
	},
	Prepare: prepareEmbedding,
}

// embeddingRows is a table of which the cache holds all.
const embeddingRows = 64

func prepareEmbedding(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	shape, err := values(c, "m", "size")
	if err != nil {
		return nil, err
	}
	tokens, size := shape[0], shape[1]
	if tokens > embeddingRows {
		return nil, fmt.Errorf("%d tokens of a table of %d rows", tokens, embeddingRows)
	}
	var table, ids *memory
	var y []float32
	s, err := newChain(ctx, h, c, C.DG_EMBED, 1, func(m maker, s *subject, _ int) ([]op, error) {
		if table, err = s.weights(embeddingRows * size); err != nil {
			return nil, err
		}
		if ids, err = s.allocate(int64(4 * tokens)); err != nil {
			return nil, err
		}
		for i := range tokens {
			of[int32](ids)[i] = int32(37 * (i + 1) % embeddingRows)
		}
		at, out, err := s.float32s(tokens*size, 1, 1)
		if err != nil {
			return nil, err
		}
		y, s.poison = out, out
		o, err := m.embed(tokens, size, table.at, ids.at, at.at)
		return []op{o}, err
	})
	if err != nil {
		return nil, err
	}
	s.verify = func(context.Context, int) (probes.Correctness, error) {
		for i, v := range y {
			if float64(v) != bf16(of[uint16](table)[int(of[int32](ids)[i/size])*size+i%size]) {
				return exact(false), nil
			}
		}
		right := exact(true)
		right.Values = len(y)
		return right, nil
	}
	return s, nil
}
