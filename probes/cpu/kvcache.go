//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"
	"math/rand/v2"
	"unsafe"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// cache is the paged KV cache of one layer: keys and values as
// [page][KV head][token][dim], or latents alone, whose first values are the
// values. Pages are handed out by sequences.
type cache struct {
	format   string // "BF16" or "FP8" (E4M3)
	heads    int    // KV heads; 1 for latents
	dim      int    // values of a key; rank + rotary dimensions for latents
	valueDim int    // of a value; the rank for latents
	latent   bool
	pages    int
	page     int // tokens of one

	k, v           *memory // v nil for latents
	kScale, vScale float32 // what a stored FP8 value stands for; 1 for BF16

	decoded []float64 // of each FP8 code, for the reference
}

// newCache allocates a cache whose shape is filled in.
func newCache(c cache) (*cache, error) {
	if c.latent {
		c.heads = 1
	} else {
		c.valueDim = c.dim
	}
	if c.kScale == 0 {
		c.kScale, c.vScale = 1, 1
	}
	switch {
	case c.format != "BF16" && c.format != "FP8":
		return nil, fmt.Errorf("%w: no KV cache in %q: BF16 and FP8 are", probes.ErrUnsupported, c.format)
	case c.dim < 16 || c.dim%16 != 0 || c.dim > C.DG_HEAD_MAX || c.valueDim < 16 || c.valueDim%16 != 0 || c.valueDim > c.dim:
		return nil, fmt.Errorf("%w: heads of %d and %d values: multiples of 16 up to %d are", probes.ErrUnsupported, c.dim, c.valueDim, C.DG_HEAD_MAX)
	case c.heads < 1 || c.pages < 1 || c.page < 1:
		return nil, fmt.Errorf("KV cache of %d heads, %d pages of %d tokens", c.heads, c.pages, c.page)
	}
	if c.format == "FP8" {
		for code := range 256 {
			c.decoded = append(c.decoded, e4m3(byte(code)))
		}
	}
	var err error
	if c.k, err = allocate(c.bytes(c.dim)); err != nil {
		return nil, err
	}
	if !c.latent {
		if c.v, err = allocate(c.bytes(c.valueDim)); err != nil {
			c.free()
			return nil, err
		}
	}
	return &c, nil
}

func (c *cache) free() { c.k.free(); c.v.free() }

// element is the bytes of a stored value.
func (c *cache) element() int {
	if c.format == "FP8" {
		return 1
	}
	return 2
}

// bytes is what all pages of keys, or values, of dim take.
func (c *cache) bytes(dim int) int64 {
	return int64(c.pages) * int64(c.heads) * int64(c.page) * int64(dim) * int64(c.element())
}

// size is what a cache of this shape takes.
func (c *cache) size() unit.Bytes {
	if c.latent {
		return unit.Bytes(c.bytes(c.dim))
	}
	return unit.Bytes(2 * c.bytes(c.dim))
}

// kind chooses between the kernels of the formats.
func (c *cache) kind(bf16, fp8 C.int) C.int {
	if c.format == "FP8" {
		return fp8
	}
	return bf16
}

// values is the address of the values, nil where the keys hold them.
func (c *cache) values() unsafe.Pointer {
	if c.v == nil {
		return nil
	}
	return c.v.at
}

// fillBy is fill after a pool's threads touched the cache first: it lies evenly
// over the memory nodes, since the heads of a page are read by different threads.
func (c *cache) fillBy(ctx context.Context, p *Pool, seed uint64) error {
	for _, m := range []*memory{c.k, c.v} {
		if m == nil {
			continue
		}
		if err := p.touch(ctx, m); err != nil {
			return err
		}
	}
	return c.fill(ctx, seed)
}

// fill writes finite values between ±2 into every row, FP8 ones with
// subnormals and zeros among them. Fast: a cache is gigabytes.
func (c *cache) fill(ctx context.Context, seed uint64) error {
	random := rand.NewPCG(seed, 7)
	keep, set := uint64(0x81ff81ff81ff81ff), uint64(0x3e003e003e003e00)
	if c.format == "FP8" {
		keep, set = 0xbfbfbfbfbfbfbfbf, 0
	}
	for _, m := range []*memory{c.k, c.v} {
		if m == nil {
			continue
		}
		words := of[uint64](m)
		for i := range words {
			if i%looksEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			words[i] = random.Uint64()&keep | set
		}
	}
	return nil
}

// sequences are the sequences of a batch: their lengths, the token at hand
// included, and the pages of the cache that hold them. All layers share them.
type sequences struct {
	n, most int     // sequences; pages of the longest
	table   *memory // int32 [n][most]
	lengths *memory // int32 [n]
	page    int
	window  int // tokens that are kept, 0: all
}

// newSequences gives each length in tokens its pages, in random order: a cache
// that has served a while is never in order.
func newSequences(lengths []int, page int, seed uint64) (*sequences, error) {
	return newWindowed(lengths, page, 0, seed)
}

// newWindowed gives pages to the last window tokens of each length alone, to
// all for 0. Engines give back what a window left behind.
func newWindowed(lengths []int, page, window int, seed uint64) (*sequences, error) {
	s := &sequences{n: len(lengths), page: page, window: window}
	for _, n := range lengths {
		if n < 1 {
			return nil, fmt.Errorf("sequence of %d tokens", n)
		}
		s.most = max(s.most, (n+page-1)/page)
	}
	var err error
	if s.table, err = allocate(int64(4 * s.n * s.most)); err != nil {
		return nil, err
	}
	if s.lengths, err = allocate(int64(4 * s.n)); err != nil {
		s.free()
		return nil, err
	}
	order := rand.New(rand.NewPCG(seed, 8)).Perm(s.pages(lengths))
	for i, n := range lengths {
		of[int32](s.lengths)[i] = int32(n)
		for k := s.first(n); k < (n+page-1)/page; k++ {
			of[int32](s.table)[i*s.most+k] = int32(order[0])
			order = order[1:]
		}
	}
	return s, nil
}

func (s *sequences) free() { s.table.free(); s.lengths.free() }

// pages is how many pages sequences of these lengths need.
func (s *sequences) pages(lengths []int) int {
	n := 0
	for _, l := range lengths {
		n += (l+s.page-1)/s.page - s.first(l)
	}
	return n
}

// first is the first page of a sequence that is kept.
func (s *sequences) first(length int) int {
	if s.window == 0 {
		return 0
	}
	return max(0, length-s.window) / s.page
}

// row is where a token of a sequence lies in the cache, in rows of one head.
func (s *sequences) row(c *cache, sequence, head, token int) int {
	page := int(of[int32](s.table)[sequence*s.most+token/c.page])
	return (page*c.heads+head)*c.page + token%c.page
}
