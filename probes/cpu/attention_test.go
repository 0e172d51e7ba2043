//go:build cgo && linux

package cpu

import (
	"fmt"
	"testing"

	"decodegap/probes"
)

// attentionCase is a shape and what makes it hard.
type attentionCase struct {
	heads, kv, dim, rank int // rank > 0: latents
	page, window         int
	lengths              []int
	most                 float32 // of the queries' values
}

var attentionCases = []attentionCase{
	{heads: 1, kv: 1, dim: 64, page: 16, lengths: []int{1}, most: 1},
	{heads: 7, kv: 1, dim: 80, page: 16, lengths: []int{15, 16, 17}, most: 1},
	{heads: 7, kv: 7, dim: 96, page: 64, lengths: []int{1, 129}, most: 1},
	{heads: 32, kv: 8, dim: 128, page: 16, lengths: []int{1000}, most: 1},
	{heads: 32, kv: 8, dim: 128, page: 64, window: 100, lengths: []int{33, 257}, most: 1},
	{heads: 16, kv: 8, dim: 128, page: 1, lengths: []int{31, 32, 65}, most: 1},
	{heads: 6, kv: 2, dim: 256, page: 16, lengths: []int{8191}, most: 1},
	{heads: 4, kv: 2, dim: 64, page: 48, window: 1, lengths: []int{8191, 1}, most: 1},
	{heads: 8, kv: 2, dim: 128, page: 16, lengths: []int{513}, most: 100}, // one token takes all
	{heads: 8, kv: 2, dim: 128, page: 16, lengths: []int{513}, most: 0},   // all tokens alike
	{heads: 16, kv: 1, dim: 576, rank: 512, page: 64, lengths: []int{1, 200}, most: 0.2},
	{heads: 5, kv: 1, dim: 576, rank: 512, page: 16, lengths: []int{333}, most: 0.2},
	// Around what matrix tiles hold: 16 and 64 tokens, 4, 8 and 16 heads.
	{heads: 9, kv: 1, dim: 48, page: 8, lengths: []int{63, 64, 65, 127}, most: 1},
	{heads: 17, kv: 1, dim: 64, page: 16, window: 70, lengths: []int{129}, most: 1},
	{heads: 40, kv: 2, dim: 128, page: 24, lengths: []int{80, 300}, most: 1},
	{heads: 8, kv: 1, dim: 160, page: 32, window: 33, lengths: []int{95}, most: 1},
	{heads: 33, kv: 1, dim: 576, rank: 512, page: 64, lengths: []int{130}, most: 0.2},
	{heads: 4, kv: 1, dim: 112, rank: 80, page: 64, lengths: []int{161}, most: 0.2},
}

// TestAttention compares with float64 on the stored cache: every format and
// shape, pages in random order, outputs and scratch poisoned.
func TestAttention(t *testing.T) {
	everywhereIn(t, func(m maker) error { return attentionWritten(m.isa) }, func(b bench) {
		for i, c := range attentionCases {
			for _, format := range []string{"BF16", "FP8"} {
				b.attention(fmt.Sprintf("%s %+v", format, c), c, format, uint64(i))
			}
		}
	})
}

func (b bench) attention(name string, c attentionCase, format string, seed uint64) {
	s, err := newSequences(c.lengths, c.page, seed)
	if err != nil {
		b.Fatal(err)
	}
	defer s.free()
	shape := cache{format: format, heads: c.kv, dim: c.dim, valueDim: c.rank, latent: c.rank > 0, page: c.page, pages: s.pages(c.lengths)}
	if format == "FP8" {
		shape.kScale, shape.vScale = 0.5, 1.25
	}
	if shape.latent { // one scale for both
		shape.vScale = shape.kScale
	}
	kv, err := newCache(shape)
	if err != nil {
		b.Fatal(err)
	}
	defer kv.free()
	if err := kv.fill(b.Context(), seed); err != nil {
		b.Fatal(err)
	}
	kv.spoil(s)
	a := attention{heads: c.heads, window: c.window}
	q, qAt := b.random(s.n*c.heads*c.dim, c.most, seed)
	out, outAt := b.poisoned(s.n * c.heads * kv.valueDim)
	size, err := b.attentionScratch(a, kv, s)
	if err != nil {
		b.Fatal(err)
	}
	_, scratch := b.poisoned(int(size / 4))
	b.run(b.maker.attention(a, kv, s, qAt, outAt, scratch))
	each := 2e-6
	if b.isa == AMX.String() {
		each += 0x1p-18 // a weight, and a query's value, as the sum of two bf16
	}
	bound := each + each*float64(c.most) // errors of a score show in its weight
	step := max(1, c.heads/3)
	for sequence := range s.n {
		for head := 0; head < c.heads; head += step {
			at := sequence*c.heads + head
			want := attend(a, kv, s, sequence, head, q[at*c.dim:][:c.dim])
			b.near(fmt.Sprintf("%s, sequence %d, head %d", name, sequence, head), out[at*kv.valueDim:][:kv.valueDim], want, bound)
		}
	}
	for i, v := range out {
		if v != v {
			b.Fatalf("%s: value %d was not written", name, i)
		}
	}
}

// spoil makes the rows that no token has yet no numbers: nobody may count them.
func (c *cache) spoil(s *sequences) {
	for sequence := range s.n {
		n := int(of[int32](s.lengths)[sequence])
		for t := n; t%c.page != 0; t++ {
			for head := range c.heads {
				row := s.row(c, sequence, head, t)
				for _, m := range []*memory{c.k, c.v} {
					dim := c.dim
					if m == nil {
						continue
					} else if m == c.v {
						dim = c.valueDim
					}
					for i := range dim {
						if c.format == "FP8" {
							of[byte](m)[row*dim+i] = 0x7f
						} else {
							of[uint16](m)[row*dim+i] = 0x7fc0
						}
					}
				}
			}
		}
	}
}

// TestAttentionRefuses checks that shapes no kernel is made for say so.
func TestAttentionRefuses(t *testing.T) {
	for _, c := range []cache{
		{format: "FP4", heads: 1, dim: 64, pages: 1, page: 16},
		{format: "BF16", heads: 1, dim: 72, pages: 1, page: 16},
		{format: "BF16", heads: 1, dim: 2048, pages: 1, page: 16},
		{format: "BF16", heads: 1, dim: 576, valueDim: 600, latent: true, pages: 1, page: 16},
		{format: "BF16", heads: 0, dim: 64, pages: 1, page: 16},
	} {
		if kv, err := newCache(c); err == nil {
			kv.free()
			t.Errorf("%+v: no error", c)
		}
	}
	if s, err := newSequences([]int{0}, 16, 1); err == nil {
		s.free()
		t.Error("a sequence of no token: no error")
	}
}

func attentionProbes() []probes.Probe { return []probes.Probe{AttentionGQA, AttentionMLA} }

// TestAttentionProbes runs small cases as they are timed, copies in turn, and
// checks the counted bytes against the formula by hand.
func TestAttentionProbes(t *testing.T) {
	h := testHost
	h.CPUs = []int{-1, -1}
	h.LastLevel = 1 << 17
	for _, format := range []string{"BF16", "FP8"} {
		for _, c := range []probes.Case{gqaCase(format, 4, 2, 64, 100, 2, 0), gqaCase(format, 4, 2, 64, 100, 1, 30), mlaCase(format, 4, 100, 1)} {
			checkRuns(t, h, c, prepareAttention)
		}
	}
	if c := gqaCase("FP8", 4, 2, 64, 100, 1, 30); c.Bytes != 30*2*64*2+2*4*4*64+4*3 || c.FLOPs != 2*2*4*30*64 {
		t.Errorf("%g bytes, %g FLOPs", float64(c.Bytes), float64(c.FLOPs))
	}
	if c := mlaCase("BF16", 16, 100, 1); c.Bytes != 100*576*2+4*16*(576+512)+4*2 || c.FLOPs != 2*16*100*(576+512) {
		t.Errorf("%g bytes, %g FLOPs", float64(c.Bytes), float64(c.FLOPs))
	}
}
