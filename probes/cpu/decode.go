//go:build cgo && linux

package cpu

import (
	"math"
	"slices"
	"unsafe"
)

// e2m1 are the values of the sixteen four-bit floating-point codes.
var e2m1 = [16]float64{0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6}

// value decodes one weight with its scale in float64, from the layout that
// weights.h describes and from the formats' definitions: on purpose by other
// means than the kernels.
func (w *Weights) value(row, col int) float64 {
	f := w.Format
	chunk, k := col/f.chunkInputs(), col%f.chunkInputs()
	half, r := row%blockRows/16, row%16
	at := unsafe.Add(w.at, (int64(row/blockRows)*int64(f.chunks(w.Cols))+int64(chunk))*int64(f.chunkBytes()))
	data := unsafe.Slice((*byte)(at), f.chunkBytes())
	switch f {
	case BF16Weights:
		return bf16At(data[k/2*128+half*64+r*4+k%2*2:])
	case FP8:
		scale := row
		if w.Block {
			scale = row/128*f.chunks(w.Cols) + chunk
		}
		return e4m3(data[k/4*128+half*64+k/2%2*32+r*2+k%2]) * float64(w.scales[scale])
	}
	data = data[half*len(data)/2:]
	scales := data[f.chunkInputs()*8:]
	code := data[k/8*64+r*4+k%4] >> (k / 4 % 2 * 4) & 15
	switch f {
	case NVFP4:
		return e2m1[code] * e4m3(scales[k/16*16+r])
	case MXFP4:
		return e2m1[code] * power(int(scales[k/32*16+r])-127)
	default:
		return float64(int(code)-8) * f16At(scales[k/32*32+r*2:])
	}
}

func bf16At(b []byte) float64 {
	return float64(math.Float32frombits(uint32(b[0])<<16 | uint32(b[1])<<24))
}

func f16At(b []byte) float64 { return minifloat(uint16(b[0])|uint16(b[1])<<8, 5, 10) }

func e4m3(b byte) float64 { return minifloat(uint16(b), 4, 3) }

// minifloat decodes a sign, an exponent and a mantissa of the given bits,
// finite values only.
func minifloat(v uint16, exponent, mantissa int) float64 {
	bias := 1<<(exponent-1) - 1
	e := int(v) >> mantissa & (1<<exponent - 1)
	m := float64(int(v) & (1<<mantissa - 1))
	if e == 0 {
		e = 1
	} else {
		m += float64(int(1) << mantissa)
	}
	m *= power(e - bias - mantissa)
	if v>>(exponent+mantissa)&1 == 1 {
		return -m
	}
	return m
}

// power is 2ⁿ for a normal float64.
func power(n int) float64 { return math.Float64frombits(uint64(n+1023) << 52) }

// row decodes a row over into, which it returns, longer if need be: of a large
// model the rows are more than the memory of the machine.
func (w *Weights) row(row int, into []float64) []float64 {
	out := slices.Grow(into[:0], w.Cols)[:w.Cols]
	for col := range out {
		out[col] = w.value(row, col) * float64(w.Global)
	}
	return out
}

// dot is the product of two vectors in float64.
func dot(w []float64, x []float32) float64 {
	var sum float64
	for i, v := range x {
		sum += w[i] * float64(v)
	}
	return sum
}
