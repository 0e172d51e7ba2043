//go:build cgo && linux

package cpu

import (
	"fmt"
	"math"
	"unsafe"

	"decodegap/probes"
	"decodegap/probes/reference"
)

func ptr[T any](p *T) unsafe.Pointer { return unsafe.Pointer(p) }

// bf16 is the value of stored BF16 bits.
func bf16(v uint16) float64 { return reference.BF16(v) }

// toBF16 is the nearest BF16, ties to even.
func toBF16(v float32) uint16 { return reference.ToBF16(v) }

// readRow decodes one row of keys or values into out.
func (c *cache) readRow(m *memory, row int, out []float64, scale float64) {
	if c.format == "FP8" {
		for i, v := range of[byte](m)[row*len(out):][:len(out)] {
			out[i] = c.decoded[v] * scale
		}
		return
	}
	for i, v := range of[uint16](m)[row*len(out):][:len(out)] {
		out[i] = bf16(v)
	}
}

// holds says whether a row of keys or values is want, rounded to the format.
func (c *cache) holds(m *memory, row int, want []float64) error {
	scale, half := 1.0, 1.0/256 // half the relative step of BF16, of E4M3
	if c.format == "FP8" {
		half = 1.0 / 16
		if scale = float64(c.kScale); m == c.v {
			scale = float64(c.vScale)
		}
	}
	got := make([]float64, len(want))
	c.readRow(m, row, got, scale)
	for i, w := range want {
		// Float32 before rounding has its error; subnormals of E4M3 are 2⁻⁹ apart.
		bound := math.Abs(w)*(half+1e-5) + 1e-6
		if c.format == "FP8" {
			bound += scale / 1023
		}
		if d := math.Abs(got[i] - w); !(d <= bound) {
			return fmt.Errorf("value %d is stored as %g, not %g", i, got[i], w)
		}
	}
	return nil
}

// attend is attention of one query head of one sequence in float64, on the
// cache as it is stored. Of latents, values are read within their rows.
func attend(a attention, c *cache, s *sequences, sequence, head int, q []float32) []float64 {
	n := int(of[int32](s.lengths)[sequence])
	first := 0
	if a.window > 0 {
		first = max(0, n-a.window)
	}
	scale := float64(a.scale)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(c.dim))
	}
	kv := head / (a.heads / c.heads)
	key, sum := make([]float64, c.dim), newSoftSum(c.valueDim)
	value := key[:c.valueDim]
	if !c.latent {
		value = make([]float64, c.valueDim)
	}
	for t := first; t < n; t++ {
		row := s.row(c, sequence, kv, t)
		c.readRow(c.k, row, key, float64(c.kScale))
		score := 0.0
		for i, k := range key {
			score += float64(q[i]) * k
		}
		score *= scale
		if !c.latent {
			c.readRow(c.v, row, value, float64(c.vScale))
		}
		sum.add(score, value)
	}
	return sum.mean()
}

// softSum is a sum of vectors by the softmax of their scores, one at a time.
type softSum struct {
	top, weight float64
	values      []float64
}

func newSoftSum(size int) *softSum { return &softSum{top: math.Inf(-1), values: make([]float64, size)} }

func (s *softSum) add(score float64, value []float64) {
	if score > s.top {
		f := math.Exp(s.top - score)
		s.weight *= f
		for i := range s.values {
			s.values[i] *= f
		}
		s.top = score
	}
	w := math.Exp(score - s.top)
	s.weight += w
	for i, v := range value {
		s.values[i] += w * v
	}
}

// mean ends the sum.
func (s *softSum) mean() []float64 {
	for i := range s.values {
		s.values[i] /= s.weight
	}
	return s.values
}

// widen is x in float64.
func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// rotated turns the pairs of x in float64.
func rotated(x []float64, r rope, position int, base float64) []float64 {
	return reference.Rotated(x, r.dims, r.style == ropeInterleaved, position, base)
}

// activated is f(gate)·up in float64.
func activated(f int, gate, up float64) float64 {
	if f == gelu {
		return reference.GELU(gate) * up
	}
	return reference.SiLU(gate) * up
}

// smallestNormal is float32's: below it kernels may say zero.
const smallestNormal = 0x1p-126

// compare is how far got lies from want, both of one length; a value that is
// no number where want has one is infinitely far, one that float32 holds no
// better is not.
func compare(got []float32, want []float64, bound float64) probes.Correctness {
	var difference, norm, most float64
	for i, w := range want {
		d := math.Abs(float64(got[i]) - w)
		if math.IsNaN(d) {
			d = math.Inf(1)
		} else if d < smallestNormal {
			d = 0
		}
		difference += d * d
		norm += w * w
		most = max(most, d)
	}
	c := probes.Correctness{MaxAbs: most, Bound: bound, Values: len(want)}
	if difference > 0 {
		c.RelativeL2 = math.Sqrt(difference / norm)
	}
	if math.IsNaN(c.RelativeL2) {
		c.RelativeL2 = math.Inf(1)
	}
	return c
}

// join is two comparisons as one: the worse error, the sum of the values.
func join(a, b probes.Correctness) probes.Correctness {
	a.RelativeL2 = max(a.RelativeL2, b.RelativeL2)
	a.MaxAbs = max(a.MaxAbs, b.MaxAbs)
	a.Values += b.Values
	a.Bound = b.Bound
	return a
}
