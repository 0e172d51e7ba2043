//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// The shape of permute.cu.
const (
	permuteChosen  = 8
	permuteEntries = 512
	permuteExperts = 511
)

// Permute is the order of a mixture of experts, and the way back.
var Permute = probes.Probe{
	Name:    "cuda/permute",
	Doc:     "rows of tokens sorted by their eight experts, with each expert's beginning, and back as a weighted sum; its time is the result",
	Formula: inCache("permute: 2·T·hidden + 2·8·T·hidden + 4·(3·8·T + experts + 1); finalize: 2·8·T·hidden + 2·T·hidden + 8·8·T"),
	Checked: "the stable order, its offsets and all rows exactly; sums the nearest bfloat16 to float64",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range []struct {
			back                    int
			tokens, experts, hidden int
		}{{0, 1, 256, 7168}, {1, 1, 256, 7168}, {0, 64, 256, 7168}, {1, 64, 256, 7168}, {0, 1, 128, 2048}, {1, 1, 128, 2048}, {0, 16, 128, 2048}, {1, 16, 128, 2048}, {0, 64, 128, 2048}, {1, 64, 128, 2048}} {
			out = append(out, both(h, probes.Case{
				Name:   fmt.Sprintf("%s, T=%d, 8 of %d, hidden %d", []string{"permute", "finalize"}[s.back], s.tokens, s.experts, s.hidden),
				Shape:  map[string]int{"m": s.tokens, "experts": s.experts, "chosen": permuteChosen, "hidden": s.hidden, "finalize": s.back},
				Format: "BF16",
			})...)
		}
		return out
	},
	Prepare: preparePermute,
}

func preparePermute(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	s, err := newSmall(h, c)
	if err != nil {
		return nil, err
	}
	tokens, experts, hidden := c.Shape["m"], c.Shape["experts"], c.Shape["hidden"]
	entries := tokens * permuteChosen
	if c.Shape["chosen"] != permuteChosen || tokens < 1 || entries > permuteEntries || experts < permuteChosen || experts > permuteExperts || hidden < 8 || hidden%8 != 0 {
		return nil, fmt.Errorf("%w: the order of experts is written for 8 experts a token of %d, 64 tokens at most and hidden sizes in multiples of 8", probes.ErrUnsupported, permuteExperts)
	}
	var chosen []uint32
	for range tokens {
		for _, e := range rand.Perm(experts)[:permuteChosen] {
			chosen = append(chosen, uint32(e))
		}
	}
	// The order: by expert, then by entry. place is where an entry goes.
	order := make([]int, entries)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(chosen[a]) - int(chosen[b]) })
	place := make([]uint32, entries)
	for row, i := range order {
		place[i] = uint32(row)
	}
	variants := func(entry string, extra int) []variant {
		var all []variant
		for _, threads := range []int{256, 512, 1024} {
			parts := (hidden/8 + threads - 1) / threads
			all = append(all, variant{entry: entry, warps: threads / 32, resident: 1, blocks: (tokens + extra) * parts})
		}
		return orders(all)
	}
	if c.Shape["finalize"] == 1 {
		return finalize(ctx, s, place, hidden, variants("finalize", 0))
	}
	ids := upload(s, chosen, 4)
	x, xs := s.bf16s(tokens * hidden)
	rows := 2 * entries * hidden
	out := s.room(rows + 4*(2*entries+experts+1))
	s.output = out
	return s.ready(ctx, "permute", variants("permute", 1), func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		at := func(words int) uint64 { return out.Address(int64(rows + 4*words)) }
		return []*driver.Launch{v.launch(k, v.blocks, ids.Address(0), x.Address(0), out.Address(0), at(2*entries), at(0), at(entries),
			uint32(tokens), uint32(experts), uint32(hidden))}
	}, func() (probes.Correctness, error) {
		words, err := read[uint32](out, int64(rows), 2*entries+experts+1)
		if err != nil {
			return probes.Correctness{}, err
		}
		got, err := read[uint16](out, 0, entries*hidden)
		if err != nil {
			return probes.Correctness{}, err
		}
		for row, i := range order {
			token := i / permuteChosen
			switch {
			case words[i] != uint32(row):
				return probes.Correctness{}, fmt.Errorf("choice %d of token %d went to row %d, expected %d", i%permuteChosen, token, words[i], row)
			case words[entries+row] != uint32(token):
				return probes.Correctness{}, fmt.Errorf("row %d is said to be of token %d, expected %d", row, words[entries+row], token)
			case !slices.Equal(got[row*hidden:][:hidden], xs[token*hidden:][:hidden]):
				return probes.Correctness{}, fmt.Errorf("row %d is not that of token %d", row, token)
			}
		}
		for e, got := range words[2*entries:] {
			want := 0
			for _, id := range chosen {
				if int(id) < e {
					want++
				}
			}
			if int(got) != want {
				return probes.Correctness{}, fmt.Errorf("expert %d begins at row %d, expected %d", e, got, want)
			}
		}
		right := exact(true)
		right.Values, right.Comment = len(got)+len(words), "exact"
		return right, nil
	})
}

// finalize is the way back: rows lie as permute left them.
func finalize(ctx context.Context, s *small, place []uint32, hidden int, all []variant) (probes.Subject, error) {
	tokens := len(place) / permuteChosen
	rows, values := s.bf16s(len(place) * hidden)
	weights := make([]float32, len(place))
	for i := range weights {
		weights[i] = rand.Float32() / permuteChosen
	}
	to, shares := upload(s, place, 4), upload(s, weights, 4)
	out := s.room(2 * tokens * hidden)
	s.output = out
	return s.ready(ctx, "permute", all, func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		return []*driver.Launch{v.launch(k, v.blocks, rows.Address(0), to.Address(0), shares.Address(0), out.Address(0), uint32(hidden))}
	}, func() (probes.Correctness, error) {
		got, err := read[uint16](out, 0, tokens*hidden)
		if err != nil {
			return probes.Correctness{}, err
		}
		d := &distance{}
		for i, v := range got {
			token, at := i/hidden, i%hidden
			var want, size float64
			for k, p := range place[token*permuteChosen:][:permuteChosen] {
				x := float64(weights[token*permuteChosen+k]) * bf16(values[int(p)*hidden+at])
				want += x
				size += math.Abs(x)
			}
			if !(math.Abs(bf16(v)-want) <= bf16Half*math.Abs(want)+1e-6*size) {
				return probes.Correctness{}, fmt.Errorf("token %d, value %d is %g, expected %g", token, at, bf16(v), want)
			}
			d.add(bf16(v), want)
		}
		return d.correctness(rowBounds["BF16"], "all values the nearest"), nil
	})
}
