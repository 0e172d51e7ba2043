//go:build cgo && linux

package cpu

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"decodegap/probes/reference"
)

// rope is a table for positions up to most.
func (b bench) table(style, dims, most int) rope {
	m, at := b.poisoned(most * dims)
	reference.RotaryTable(m, most, dims, reference.RotaryBase)
	return rope{style: style, dims: dims, table: at}
}

func TestRope(t *testing.T) {
	everywhere(t, func(b bench) {
		s, err := newSequences([]int{1, 17, 300}, 16, 1)
		if err != nil {
			b.Fatal(err)
		}
		defer s.free()
		for _, style := range []int{ropeNeoX, ropeInterleaved} {
			for _, dims := range []int{2, 32, 64, 80, 128} {
				const heads, dim, wide = 3, 128, 144
				r := b.table(style, dims, 300)
				x, xAt := b.random(s.n*heads*wide, 1, 1)
				y, yAt := b.poisoned(s.n * heads * dim)
				b.run(one(b.rope(r, s, heads, dim, rows{xAt, heads * wide, wide}, rows{yAt, heads * dim, dim})))
				for i := range s.n * heads {
					position := int(of[int32](s.lengths)[i/heads]) - 1
					want := rotated(widen(x[i*wide:][:dim]), r, position, reference.RotaryBase)
					b.near(fmt.Sprintf("style %d, %d values, row %d", style, dims, i), y[i*dim:][:dim], want, 1e-6)
				}
			}
		}
	})
}

// stored fails the test where a row of the cache is not want, rounded.
func (b bench) stored(what string, c *cache, m *memory, row int, want []float64) {
	b.Helper()
	if err := c.holds(m, row, want); err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

func TestHeads(t *testing.T) {
	lengths := []int{1, 16, 17, 300}
	everywhere(t, func(b bench) {
		for _, format := range []string{"BF16", "FP8"} {
			for _, c := range []struct{ heads, kv, dim, dims, style int }{
				{32, 8, 128, 128, ropeNeoX}, {7, 7, 80, 32, ropeNeoX}, {1, 1, 64, 64, ropeInterleaved}, {0, 3, 256, 0, ropeNone},
			} {
				s, err := newSequences(lengths, 16, 1)
				if err != nil {
					b.Fatal(err)
				}
				shape := cache{format: format, heads: c.kv, dim: c.dim, page: 16, pages: s.pages(lengths)}
				if format == "FP8" {
					shape.kScale, shape.vScale = 0.25, 2
				}
				kv, err := newCache(shape)
				if err != nil {
					b.Fatal(err)
				}
				each := c.heads + 2*c.kv
				r := rope{}
				if c.style != ropeNone {
					r = b.table(c.style, c.dims, 300)
				}
				x, xAt := b.random(s.n*each*c.dim, 3, 1)
				w, wAt := b.weights(2*c.dim, 2)
				q, qAt := b.poisoned(max(1, s.n*c.heads*c.dim))
				for _, norm := range []unsafe.Pointer{nil, wAt} {
					b.run(one(b.heads(c.heads, kv, s, r, xAt, qAt, norm, 1e-6, 0)))
					want := func(token, head int, w []uint16) []float64 {
						v := widen(x[(token*each+head)*c.dim:][:c.dim])
						if norm != nil {
							v = reference.Normalised(v, w, 1e-6, 0)
						}
						return rotated(v, r, lengths[token]-1, reference.RotaryBase)
					}
					name := fmt.Sprintf("%s %+v, norm %v", format, c, norm != nil)
					for token := range s.n {
						for h := range c.heads {
							b.near(name, q[(token*c.heads+h)*c.dim:][:c.dim], want(token, h, w[:c.dim]), 1e-6)
						}
						for h := range c.kv {
							row := s.row(kv, token, h, lengths[token]-1)
							b.stored(name+", key", kv, kv.k, row, want(token, c.heads+h, w[c.dim:]))
							v := x[(token*each+c.heads+c.kv+h)*c.dim:][:c.dim]
							b.stored(name+", value", kv, kv.v, row, widen(v))
						}
					}
				}
				kv.free()
				s.free()
			}
		}
	})
}

func TestLatent(t *testing.T) {
	lengths := []int{1, 64, 65}
	everywhere(t, func(b bench) {
		for _, format := range []string{"BF16", "FP8"} {
			s, err := newSequences(lengths, 64, 1)
			if err != nil {
				b.Fatal(err)
			}
			defer s.free()
			kv, err := newCache(cache{format: format, dim: 576, valueDim: 512, latent: true, page: 64, pages: s.pages(lengths)})
			if err != nil {
				b.Fatal(err)
			}
			defer kv.free()
			r := b.table(ropeInterleaved, 64, 65)
			x, xAt := b.random(s.n*576, 3, 1)
			w, wAt := b.weights(512, 2)
			b.run(one(b.latent(kv, s, r, xAt, wAt, 1e-6, 0)))
			for token, n := range lengths {
				v := widen(x[token*576:][:576])
				want := append(reference.Normalised(v[:512], w, 1e-6, 0), rotated(v[512:], r, n-1, reference.RotaryBase)...)
				b.stored(format, kv, kv.k, s.row(kv, token, 0, n-1), want)
			}
		}
	})
}

// TestE4M3 stores every E4M3 value and what lies between, beyond and at ties.
func TestE4M3(t *testing.T) {
	everywhere(t, func(b bench) {
		s, err := newSequences([]int{1}, 1, 1)
		if err != nil {
			b.Fatal(err)
		}
		defer s.free()
		kv, err := newCache(cache{format: "FP8", heads: 1, dim: 1008, page: 1, pages: 1})
		if err != nil {
			b.Fatal(err)
		}
		defer kv.free()
		x, at := b.random(2*1008, 0, 1)
		var want []byte
		for v := range 126 {
			low, high := e4m3(byte(v)), e4m3(byte(v+1))
			even := byte(v + v&1)
			for _, in := range []struct {
				x   float64
				out byte
			}{{low, byte(v)}, {(low + high) / 2, even}, {math.Nextafter((low+high)/2, high) * (1 + 1e-6), byte(v + 1)}, {(low + high) / 2 * (1 - 1e-6), byte(v)}} {
				x[len(want)] = float32(in.x)
				want = append(want, in.out)
				x[len(want)] = float32(-in.x)
				want = append(want, in.out|0x80)
			}
		}
		copy(x[1008:], []float32{448, 449, 1e30, -1e30, float32(math.Inf(1)), 1e-30, -1e-45})
		b.run(one(b.heads(0, kv, s, rope{}, at, nil, nil, 0, 0)))
		for i, w := range want {
			if got := of[byte](kv.k)[i]; got != w {
				b.Fatalf("%g is stored as %#x, not %#x", x[i], got, w)
			}
		}
		for i, w := range []byte{0x7e, 0x7e, 0x7e, 0xfe, 0x7e, 0, 0x80} {
			if got := of[byte](kv.v)[i]; got != w {
				b.Fatalf("%g is stored as %#x, not %#x", x[1008+i], got, w)
			}
		}
	})
}
