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

// embeddingRows is a table that the second-level cache holds.
const embeddingRows = 256

// Embedding is the read of a token's row of the embedding table.
var Embedding = probes.Probe{
	Name:    "cuda/embedding",
	Doc:     "a token's BF16 row of the embedding table, the row in the cache; its time is the result",
	Formula: inCache("4·M·size + 4·M"),
	Checked: "all values, exactly",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, m := range []int{1, 64, 16} {
			out = append(out, both(h, rowCase("BF16", m, 4096))...)
		}
		return out
	},
	Prepare: func(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
		s, err := newSmall(h, c)
		if err != nil {
			return nil, err
		}
		rows, size := c.Shape["m"], c.Shape["size"]
		table, values := s.bf16s(embeddingRows * size)
		var ids []uint32
		for range rows {
			ids = append(ids, uint32(rand.IntN(embeddingRows)))
		}
		tokens := upload(s, ids, 4)
		out := s.room(2 * rows * size)
		s.output = out
		var all []variant
		for _, threads := range []int{64, 128, 256, 512} {
			if size%(8*threads) == 0 {
				all = append(all, variant{entry: "embedding", warps: threads / 32, resident: 1, blocks: rows * size / 8 / threads})
			}
		}
		return s.ready(ctx, "embedding", orders(all), func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
			return []*driver.Launch{v.launch(k, v.blocks, table.Address(0), tokens.Address(0), out.Address(0), uint32(size))}
		}, func() (probes.Correctness, error) {
			got, err := read[uint16](out, 0, rows*size)
			if err != nil {
				return probes.Correctness{}, err
			}
			for i, id := range ids {
				if !slices.Equal(got[i*size:][:size], values[int(id)*size:][:size]) {
					return probes.Correctness{}, fmt.Errorf("row %d is not row %d of the table", i, id)
				}
			}
			right := exact(true)
			right.Values = len(got)
			return right, nil
		})
	},
}
