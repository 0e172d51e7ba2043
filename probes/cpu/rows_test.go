//go:build cgo && linux

package cpu

import (
	"fmt"
	"math"
	"testing"

	"decodegap/probes/reference"
)

var widths = []int{1, 15, 16, 17, 64, 80, 129, 1000, 4096}

func TestNorm(t *testing.T) {
	everywhere(t, func(b bench) {
		for _, size := range widths {
			for _, tokens := range []int{1, 5} {
				for _, most := range []float32{0, 1, 1e6} {
					x, xAt := b.random(tokens*size, most, 1)
					add, addAt := b.random(tokens*size, 1, 2)
					w, wAt := b.weights(size, 3)
					y, yAt := b.poisoned(tokens * size)
					sum, sumAt := b.poisoned(tokens * size)
					b.run(one(b.norm(tokens, size, xAt, nil, wAt, yAt, nil, 1e-6, 1)))
					b.eachRow(fmt.Sprintf("norm %d×%d, ±%g", tokens, size, most), size, y, func(at int) []float64 {
						return reference.Normalised(widen(x[at:][:size]), w, 1e-6, 1)
					})
					b.run(one(b.norm(tokens, size, xAt, addAt, wAt, yAt, sumAt, 1e-6, 0)))
					for i := range x {
						if sum[i] != x[i]+add[i] {
							b.Fatalf("sum %d of %d×%d is %g", i, tokens, size, sum[i])
						}
					}
					b.eachRow(fmt.Sprintf("norm of a sum %d×%d, ±%g", tokens, size, most), size, y, func(at int) []float64 {
						return reference.Normalised(widen(sum[at:][:size]), w, 1e-6, 0)
					})
				}
			}
		}
		_, x := b.random(16, 1, 1)
		if _, err := b.norm(1, 16, x, nil, x, x, x, 1e-6, 0); err == nil {
			b.Error("a sum over its own input: no error")
		}
	})
}

// eachRow compares rows of size values with what want says of the row at at.
func (b bench) eachRow(what string, size int, got []float32, want func(at int) []float64) {
	b.Helper()
	for at := 0; at < len(got); at += size {
		b.near(what, got[at:][:size], want(at), 1e-6)
	}
}

func TestAdd(t *testing.T) {
	everywhere(t, func(b bench) {
		for _, n := range widths {
			x, xAt := b.random(n, 1, 1)
			y, yAt := b.random(n, 1, 2)
			out, at := b.poisoned(n)
			b.run(one(b.add(n, xAt, yAt, at)))
			for i := range out {
				if out[i] != x[i]+y[i] {
					b.Fatalf("value %d of %d is %g", i, n, out[i])
				}
			}
		}
	})
}

func TestActivate(t *testing.T) {
	everywhere(t, func(b bench) {
		for _, f := range []int{silu, gelu} {
			for _, size := range widths {
				for _, most := range []float32{0, 2, 300} {
					const tokens = 2
					x, at := b.random(tokens*2*size, most, 1)
					y, yAt := b.poisoned(tokens * size)
					m := of[float32](&memory{at, int64(8 * size * tokens)})
					up := &m[size]
					b.run(one(b.activate(f, tokens, size, 2*size, at, ptr(up), yAt)))
					b.eachRow(fmt.Sprintf("activation %d of %d, ±%g", f, size, most), size, y, func(at int) []float64 {
						row, out := x[2*at:][:2*size], make([]float64, size)
						for i := range out {
							out[i] = activated(f, float64(row[i]), float64(row[size+i]))
						}
						return out
					})
				}
			}
		}
	})
}

func TestEmbed(t *testing.T) {
	everywhere(t, func(b bench) {
		for _, size := range widths {
			const vocabulary, tokens = 11, 3
			w, wAt := b.weights(vocabulary*size, 1)
			ids := b.memory(4 * tokens)
			copy(of[int32](ids), []int32{10, 0, 7})
			y, yAt := b.poisoned(tokens * size)
			b.run(one(b.embed(tokens, size, wAt, ids.at, yAt)))
			for i, v := range y {
				if want := bf16(w[int(of[int32](ids)[i/size])*size+i%size]); float64(v) != want {
					b.Fatalf("value %d of %d is %g, not %g", i, size, v, want)
				}
			}
		}
	})
}

func TestArgmax(t *testing.T) {
	everywhere(t, func(b bench) {
		for _, size := range append(widths, 151936) {
			x, at := b.random(3*size, 1, uint64(size))
			x[size/2], x[size-1] = 2, 2 // of equals the first
			for i := range size {       // all masked but one
				x[size+i] = float32(math.Inf(-1))
			}
			x[size+size/3] = -3e38
			for i := range size { // all alike
				x[2*size+i] = 0
			}
			ids := b.memory(12)
			for i := range of[int32](ids) {
				of[int32](ids)[i] = -1
			}
			_, scratch := b.poisoned(int(b.argmaxScratch(3) / 4))
			b.run(b.argmax(3, size, at, ids.at, scratch))
			want := [3]int32{int32(size / 2), int32(size / 3), 0}
			if got := [3]int32(of[int32](ids)); got != want {
				b.Errorf("of %d: %v, not %v", size, got, want)
			}
		}
	})
}
