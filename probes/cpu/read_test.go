//go:build cgo && linux

package cpu

import (
	"testing"

	"decodegap/probes"
	"decodegap/roofline/unit"
)

// testHost is small: operands of tests fit any cache, coldness is not the
// point.
var testHost = probes.Host{CPUs: []int{0, 1}, LastLevel: 1 << 10, Budget: 1 << 30}

// TestRead runs every instruction set over sizes with and without tails.
func TestRead(t *testing.T) {
	for _, isa := range Supported() {
		for _, size := range []int{64, 128, 192, 4096, 1<<20 + 64} {
			s, err := prepareRead(t.Context(), testHost, probes.Case{ISA: isa.String(), Bytes: unit.Bytes(size)})
			if err != nil {
				t.Logf("%s: %v", isa, err)
				continue
			}
			for range 3 {
				if _, err := s.Time(t.Context(), 5); err != nil {
					t.Fatal(err)
				}
				c, err := s.Verify()
				if err != nil || !c.OK() {
					t.Errorf("%s, %d bytes: %+v, %v", isa, size, c, err)
				}
			}
			s.Close()
		}
	}
}

// BenchmarkRead prints the read bandwidth of all threads.
func BenchmarkRead(b *testing.B) {
	h := probes.Host{CPUs: []int{0, 1}, LastLevel: 300 << 20, Budget: 4 << 30}
	s, err := prepareRead(b.Context(), h, Read.Plan(h)[0])
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.SetBytes(readBytes)
	b.ResetTimer()
	if _, err := s.Time(b.Context(), b.N); err != nil {
		b.Fatal(err)
	}
}
