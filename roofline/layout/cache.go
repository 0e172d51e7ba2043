package layout

import (
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// scaleGroup is how many FP8 values share one FP32 scale in sparse-attention
// records (DeepSeek-V3.2's cache format: 128).
const scaleGroup = 128

// cache adds one kind of layer's cache traffic and the attention over it.
// Caches are read once per sequence, however many draft tokens it has, and
// written once per token; a recurrent state is read and written whole.
func (b *builder) cache(c roofline.Cache) {
	if b.w.DenseAttention && c.Kind == roofline.CacheIndex {
		return
	}
	i := 0
	if c.Component == roofline.AttentionCore {
		i = len(b.keys) + 1 // layers of another kind are another stage
	}
	o := b.op(c.Component, i)

	repeat, n := float64(c.Repeat), float64(b.n)
	queries := float64(c.Heads) / n // query heads of the rank
	seq, tok := float64(b.sequences), float64(b.tokens)
	read := float64(b.reach(c))
	switch c.Kind {
	case roofline.CacheKV:
		heads := float64(c.KVHeads) / n
		if !b.engine.Even {
			heads = float64(ceilDiv(c.KVHeads, b.n))
			if b.engine.Rule(roofline.RoleQ, b.d, b.w).Shard == ByKVHead {
				queries = float64(c.Heads) / float64(min(b.n, c.KVHeads)) // they stay with their KV head
			}
		}
		record := 2 * heads * float64(c.HeadDim) * float64(b.w.KVType.Size())
		o.KVRead += unit.Bytes(repeat * seq * record * read)
		o.KVWrite += unit.Bytes(repeat * tok * record)
		o.Work.Add(b.attentionMath(), unit.FLOPs(repeat*4*queries*float64(c.HeadDim)*read*tok))
	case roofline.CacheLatent:
		record := b.evenly(b.latentRecord(c))
		o.KVRead += unit.Bytes(repeat * seq * record * read)
		o.KVWrite += unit.Bytes(repeat * tok * record)
		o.Work.Add(b.attentionMath(), unit.FLOPs(repeat*2*queries*float64(2*c.Latent+c.Rope)*read*tok))
	case roofline.CacheIndex:
		record := b.evenly(float64(c.HeadDim) + 4*float64(c.HeadDim)/scaleGroup)
		o.KVRead += unit.Bytes(repeat * seq * record * read)
		o.KVWrite += unit.Bytes(repeat * tok * record)
		o.Work.Add(roofline.FP8, unit.FLOPs(repeat*b.evenly(2*float64(c.IndexHeads)*float64(c.HeadDim)*read*tok)))
	case roofline.CacheState:
		state := (float64(c.StateValues)*float64(b.w.StateType.Size()) + 2*float64(c.ConvValues)) / n
		o.KVRead += unit.Bytes(repeat * seq * state)
		o.KVWrite += unit.Bytes(repeat * seq * state)
		o.Work.Add(roofline.BF16, unit.FLOPs(repeat*float64(c.StateFLOPs)/n*tok))
	}
}

// reach is how many cached tokens a layer reads of each sequence.
func (b *builder) reach(c roofline.Cache) int {
	l := b.w.Context
	if c.Window > 0 {
		l = min(l, c.Window)
	}
	if c.Chunk > 0 {
		l %= c.Chunk
	}
	if c.TopK > 0 && !b.w.DenseAttention {
		l = min(l, c.TopK)
	}
	return l
}

// latentRecord is the bytes of one token's MLA record. Sparse attention with
// an FP8 cache keeps FP32 scales and a BF16 rope part beside the FP8 latent.
func (b *builder) latentRecord(c roofline.Cache) float64 {
	if c.TopK > 0 && !b.w.DenseAttention && b.w.KVType == roofline.FP8 {
		return float64(c.Latent) + 4*float64(c.Latent)/scaleGroup + 2*float64(c.Rope)
	}
	return float64(c.Latent+c.Rope) * float64(b.w.KVType.Size())
}

// evenly divides what every rank repeats, in the ideal layout only.
func (b *builder) evenly(v float64) float64 {
	if b.engine.Even {
		return v / float64(b.n)
	}
	return v
}

// attentionMath is the narrowest type that multiplies cached values.
func (b *builder) attentionMath() roofline.DType {
	switch t := b.w.KVType; t {
	case roofline.FP8, roofline.INT8:
		return t
	case roofline.NVFP4:
		return roofline.FP4
	case roofline.Q8_0, roofline.Q5_1, roofline.Q5_0, roofline.Q4_1, roofline.Q4_0, roofline.IQ4NL:
		return roofline.INT8
	}
	return roofline.BF16
}
