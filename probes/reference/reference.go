// Package reference has what decode's operations give in float64, to check
// kernels against. It refuses to round where an operation does not: what a
// format loses is for the caller to allow.
package reference

import "math"

// BF16 is the value of stored bfloat16 bits.
func BF16(v uint16) float64 { return float64(math.Float32frombits(uint32(v) << 16)) }

// ToBF16 is the nearest BF16, ties to even.
func ToBF16(v float32) uint16 {
	bits := math.Float32bits(v)
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Normalised is RMSNorm on stored BF16 weights, to which offset is added.
func Normalised(x []float64, w []uint16, epsilon, offset float64) []float64 {
	squares := 0.0
	for _, v := range x {
		squares += v * v
	}
	r := 1 / math.Sqrt(squares/float64(len(x))+epsilon)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * r * (BF16(w[i]) + offset)
	}
	return out
}

// Rotated is the rotary embedding of x's first dims values at a position: of
// pairs (2i, 2i+1) where interleaved, else (i, i + dims/2).
func Rotated(x []float64, dims int, interleaved bool, position int, base float64) []float64 {
	out := append([]float64(nil), x...)
	for i := range dims / 2 {
		a, b := i, dims/2+i
		if interleaved {
			a, b = 2*i, 2*i+1
		}
		sin, cos := math.Sincos(float64(position) * math.Pow(base, -2*float64(i)/float64(dims)))
		out[a], out[b] = x[a]*cos-x[b]*sin, x[b]*cos+x[a]*sin
	}
	return out
}

// RotaryTable fills rows of dims, one a position: cosines, then sines.
func RotaryTable(table []float32, positions, dims int, base float64) {
	RotaryRows(table, 0, positions, dims, base)
}

// RotaryRows is RotaryTable from a position on.
func RotaryRows(table []float32, first, positions, dims int, base float64) {
	turns := make([]float64, dims/2)
	for i := range turns {
		turns[i] = math.Pow(base, -2*float64(i)/float64(dims))
	}
	for p := range positions {
		row := table[p*dims:][:dims]
		for i, turn := range turns {
			sin, cos := math.Sincos(float64(first+p) * turn)
			row[i], row[dims/2+i] = float32(cos), float32(sin)
		}
	}
}

// RotaryBase is the base of rotary tables of probes.
const RotaryBase = 1e4

// SiLU is x·sigmoid(x).
func SiLU(x float64) float64 { return x / (1 + math.Exp(-x)) }

// GELU is in its tanh form.
func GELU(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}
