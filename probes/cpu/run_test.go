//go:build cgo && linux

package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// bench is what a test of operations needs: threads, and memory that ends
// with the test.
type bench struct {
	testing.TB
	pool *Pool
	maker
}

// everywhere runs a test for each instruction set of this CPU that has row
// operations and for one, two and three threads.
func everywhere(t *testing.T, test func(b bench)) {
	everywhereIn(t, func(m maker) error {
		_, err := m.norm(1, 1, nil, nil, nil, nil, nil, 0, 0)
		return err
	}, test)
}

// everywhereIn is everywhere for the instruction sets that written says have
// kernels. Threads are not pinned: beside other tests they would wait for each
// other.
func everywhereIn(t *testing.T, written func(maker) error, test func(b bench)) {
	for _, isa := range Supported() {
		for threads := 1; threads <= 3; threads++ {
			t.Run(fmt.Sprintf("%s/%d", isa, threads), func(t *testing.T) {
				m := maker{isa.String(), threads}
				if err := written(m); err != nil {
					t.Skipf("no kernels of these kinds are written for %s alone", isa)
				}
				pool, err := NewPool([]int{-1, -1, -1}[:threads]) // where the system likes
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(pool.Close)
				test(bench{t, pool, m})
			})
		}
	}
}

// run runs operations once, in order.
func (b bench) run(ops []op, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	g := newProgram(len(ops), 1)
	defer g.free()
	for i, op := range ops {
		*g.op(i) = op
	}
	if _, _, err := b.pool.run(b.Context(), g, 0, 1, false); err != nil {
		b.Fatal(err)
	}
}

// one is the operation of a maker's method as run takes it.
func one(o op, err error) ([]op, error) { return []op{o}, err }

// memory is size bytes until the test ends.
func (b bench) memory(size int64) *memory {
	b.Helper()
	m, err := allocate(size)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(m.free)
	return m
}

// poisoned is n values that are no numbers: what is not written shows.
func (b bench) poisoned(n int) ([]float32, unsafe.Pointer) {
	m := b.memory(int64(4 * n))
	v := of[float32](m)
	for i := range v {
		v[i] = float32(math.NaN())
	}
	return v, m.at
}

// random is n values between ±most.
func (b bench) random(n int, most float32, seed uint64) ([]float32, unsafe.Pointer) {
	m := b.memory(int64(4 * n))
	r := rand.New(rand.NewPCG(seed, 1))
	v := of[float32](m)
	for i := range v {
		v[i] = (2*r.Float32() - 1) * most
	}
	return v, m.at
}

// weights is n BF16 values around 1.
func (b bench) weights(n int, seed uint64) ([]uint16, unsafe.Pointer) {
	m := b.memory(int64(2 * n))
	r := rand.New(rand.NewPCG(seed, 2))
	v := of[uint16](m)
	for i := range v {
		v[i] = toBF16(0.5 + r.Float32())
	}
	return v, m.at
}

// near fails the test where got is not want to the relative bound.
func (b bench) near(what string, got []float32, want []float64, bound float64) {
	b.Helper()
	if c := compare(got, want, bound); !c.OK() {
		b.Errorf("%s: relative error %.3g, %.3g at most, over %d values; bound %g", what, c.RelativeL2, c.MaxAbs, c.Values, c.Bound)
	}
}
