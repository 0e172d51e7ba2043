//go:build cgo && linux

package cpu

import (
	"fmt"

	"decodegap/probes"
	"decodegap/probes/decode"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// hugePage is what an operand of some size takes whole pages of.
const hugePage = 2 << 20

// resident is the memory that an operand of size bytes takes.
func resident(size int64) unit.Bytes {
	page := int64(4096)
	if size >= hugePage/4 { // as dg_alloc does
		page = hugePage
	}
	return unit.Bytes((size + page - 1) / page * page)
}

// stepBytes is the packed weights and caches of one copy.
func stepBytes(p *decode.Plan, o StepOptions) (unit.Bytes, error) {
	return stepSum(p, o, func(size int64) unit.Bytes { return unit.Bytes(size) })
}

// stepSum adds up what take makes of each operand of one copy.
func stepSum(p *decode.Plan, o StepOptions, take func(int64) unit.Bytes) (unit.Bytes, error) {
	var sum unit.Bytes
	for _, m := range p.Matrices() {
		f, block, err := stepFormat(m.Format)
		if err != nil {
			return 0, err
		}
		sum += take(weightsSize(f, m.Rows, m.Cols, block))
	}
	for _, l := range p.Layers { // keys and values
		sum += 2 * take(stepCache(l.Attention, o, (o.Context+stepPage)/stepPage*stepPage)/2)
	}
	return sum, nil
}

// stepCache is the bytes of so many tokens of every sequence in one layer's
// cache.
func stepCache(a decode.Attention, o StepOptions, tokens int) int64 {
	element := int64(2)
	if o.KV == roofline.FP8 {
		element = 1
	}
	return 2 * element * int64(o.Batch) * int64(tokens) * int64(a.KVHeads) * int64(a.HeadDim)
}

// stepSizes are the most values that a token has of each activation in any
// layer.
type stepSizes struct{ heads, dim, wide, experts, chosen, inner int }

func sizesOf(p *decode.Plan) (s stepSizes) {
	for _, l := range p.Layers {
		s.heads = max(s.heads, (l.Attention.Heads+2*l.Attention.KVHeads)*l.Attention.HeadDim)
		s.dim = max(s.dim, l.Attention.HeadDim)
		if l.Dense != nil {
			s.wide = max(s.wide, l.Dense.Up.Rows)
		}
		if x := l.Mixture; x != nil {
			s.experts, s.chosen, s.inner = max(s.experts, x.Experts), max(s.chosen, x.TopK), max(s.inner, x.TopK*x.Expert.Up.Rows)
			if x.Shared != nil {
				s.wide = max(s.wide, x.Shared.Up.Rows)
			}
		}
	}
	return s
}

// stepShared is about what all copies share: activations, the logits twice, the
// rotary table, the table of pages, what every thread makes ready and works
// with in matrix tiles, and float64 values of the check.
func stepShared(p *decode.Plan, o StepOptions, threads int) unit.Bytes {
	s := sizesOf(p)
	token := 6*p.Hidden + 3*s.heads + 3*s.wide + s.experts + s.chosen + s.inner + 2*p.Vocab
	widest := s.heads + s.wide + s.inner + p.Hidden
	pages := (o.Context + stepPage) / stepPage
	var tiles float64
	for _, l := range p.Layers {
		tiles = max(tiles, float64(tileBytes(l.Attention.Heads, l.Attention.KVHeads, l.Attention.HeadDim)))
	}
	return unit.Bytes(tiles*float64(threads)) + unit.Bytes(4*float64(o.Batch)*float64(token+pages)) +
		unit.Bytes(4*float64(o.Context+1)*float64(s.dim)) +
		unit.Bytes(4*float64(MaxTokens)*float64(widest)*float64(threads)) +
		unit.Bytes(16*float64(o.Batch)*float64(widest))
}

// stepCopies is how many whole models, each with all its experts, keep what a
// step reads of one of them cold; an error where they and what they share are
// more than the budget.
func stepCopies(h probes.Host, p *decode.Plan, o StepOptions) (int, error) {
	read, err := stepBytes(p, o)
	if err != nil {
		return 0, err
	}
	held, err := stepSum(p, o, resident)
	if err != nil {
		return 0, err
	}
	for _, l := range p.Layers {
		if unseen := o.Context + 1 - l.Attention.Window; l.Attention.Window > 0 && unseen > 0 {
			read -= unit.Bytes(stepCache(l.Attention, o, unseen))
		}
		if m := l.Mixture; m != nil {
			share := roofline.DistinctExperts(m.Experts, m.TopK, o.Batch) / float64(m.Experts)
			for _, e := range m.Expert.Matrices() {
				f, block, err := stepFormat(e.Format)
				if err != nil {
					return 0, err
				}
				read -= unit.Bytes(float64(m.Experts) * (1 - share) * float64(weightsSize(f, e.Rows, e.Cols, block)))
			}
		}
	}
	n := coldCopies(h, read)
	shared := stepShared(p, o, len(h.CPUs))
	if need := unit.Bytes(n)*held + shared; need > h.Budget {
		return 0, fmt.Errorf("%w: a step needs %s: weights and caches of %s, %d times so that they are read cold past a last-level cache of %s, and %s of activations; the memory budget is %s",
			probes.ErrUnsupported, need, held, n, lastLevel(h), shared, h.Budget)
	}
	return n, nil
}
