//go:build cgo && linux

package cuda

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// fill runs an entry of fill.cu over a whole memory: units of what it counts.
func (m *Machine) fill(ctx context.Context, entry string, to *driver.Memory, units uint64, more ...any) error {
	k, err := m.kernel("fill", entry, 0)
	if err != nil {
		return err
	}
	l := &driver.Launch{Kernel: k, Grid: 8 * m.device.GPU().SMs, Block: 256}
	return m.run(ctx, l.Arg(to.Address(0), units).Arg(more...))
}

// seed is fresh for every preparation: no kernel is right on one input only.
func seed() uint64 { return rand.Uint64() }

// word is the i-th word that fill_words makes of a seed, computed here.
func word(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// wordsXor is the exclusive or of words first to last-1.
func wordsXor(seed, first, last uint64) uint64 {
	parts := uint64(runtime.GOMAXPROCS(0))
	sums := make([]uint64, parts)
	var all sync.WaitGroup
	for p := range parts {
		all.Go(func() {
			var x uint64
			for i := first + (last-first)*p/parts; i < first+(last-first)*(p+1)/parts; i++ {
				x ^= word(seed, i)
			}
			sums[p] = x
		})
	}
	all.Wait()
	var x uint64
	for _, s := range sums {
		x ^= s
	}
	return x
}

// The values of the formats, by their codes.

func bf16(v uint16) float64 { return float64(math.Float32frombits(uint32(v) << 16)) }

// words are bytes in pairs, the lower first.
func words(bytes []byte) []uint16 {
	out := make([]uint16, len(bytes)/2)
	for i := range out {
		out[i] = uint16(bytes[2*i]) | uint16(bytes[2*i+1])<<8
	}
	return out
}

// numbers are the values of bfloat16.
func numbers(codes []uint16) []float64 {
	out := make([]float64, len(codes))
	for i, c := range codes {
		out[i] = bf16(c)
	}
	return out
}

func f16(v uint16) float64 {
	exponent, mantissa := int(v>>10&31), float64(v&1023)
	x := math.Ldexp(mantissa, -24)
	switch {
	case exponent == 31 && mantissa != 0:
		return math.NaN()
	case exponent == 31:
		x = math.Inf(1)
	case exponent > 0:
		x = math.Ldexp(1024+mantissa, exponent-25)
	}
	if v>>15 != 0 {
		return -x
	}
	return x
}

func e2m1(code byte) float64 {
	x := [8]float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}[code&7]
	if code&8 != 0 {
		return -x
	}
	return x
}

func e4m3(code byte) float64 {
	exponent, mantissa := int(code>>3&15), float64(code&7)
	x := math.Ldexp(mantissa, -9)
	switch {
	case code&0x7f == 0x7f:
		return math.NaN()
	case exponent > 0:
		x = math.Ldexp(8+mantissa, exponent-10)
	}
	if code>>7 != 0 {
		return -x
	}
	return x
}

// distance is what the checks of a GPU's outputs sum up.
type distance struct{ probes.Distance }

func (d *distance) add(got, want float64) { d.Add(got, want) }

func (d *distance) correctness(bound float64, comment string) probes.Correctness {
	return d.Correctness(bound, comment)
}

// sampled are about n of the numbers below count: the first, the last, and
// random ones between.
func sampled(count, n int) []int {
	if count <= n {
		all := make([]int, count)
		for i := range all {
			all[i] = i
		}
		return all
	}
	picked := []int{0, count - 1}
	for len(picked) < n {
		picked = append(picked, rand.IntN(count))
	}
	return picked
}

// unwritten counts values that are no number: poison that was not overwritten,
// or a sum gone wrong.
func unwritten(y []float32) int {
	n := 0
	for _, v := range y {
		if v != v || math.IsInf(float64(v), 0) {
			n++
		}
	}
	return n
}
