//go:build cgo && linux

package cpu

import (
	"slices"
	"strings"
	"testing"

	"decodegap/probes"
)

// benchHost is a machine whose operands leave any cache.
var benchHost = probes.Host{CPUs: []int{0, 1}, LastLevel: 300 << 20, Budget: 4 << 30}

// pairBench runs a case and the read probe in turn and reports the median of
// their ratio: what other work on the machine moves, it moves in both.
func pairBench(b *testing.B, c probes.Case, prepare prepareFunc) {
	h := benchHost
	read, err := prepareRead(b.Context(), h, probes.Case{Bytes: readBytes, Threads: c.Threads})
	if err != nil {
		b.Fatal(err)
	}
	defer read.Close()
	s, err := prepare(b.Context(), h, c)
	if err != nil {
		b.Skip(err)
	}
	defer s.Close()
	b.ResetTimer()
	var ratios, rates, ceilings []float64
	for range b.N {
		// As many runs as read one read's bytes.
		n := max(1, int(readBytes/c.Bytes))
		r0, err := read.Time(b.Context(), 1)
		if err != nil {
			b.Fatal(err)
		}
		t, err := s.Time(b.Context(), n)
		if err != nil {
			b.Fatal(err)
		}
		r1, err := read.Time(b.Context(), 1)
		if err != nil {
			b.Fatal(err)
		}
		var sum float64
		for _, v := range t {
			sum += v
		}
		rate := float64(n) * float64(c.Bytes) / sum
		ceiling := 2 * readBytes / (r0[0] + r1[0])
		ratios = append(ratios, rate/ceiling)
		rates = append(rates, rate)
		ceilings = append(ceilings, ceiling)
	}
	got, err := s.Verify()
	if err != nil || !got.OK() {
		b.Errorf("%+v, %v", got, err)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ratios), "of-read")
	b.ReportMetric(median(rates)/1e9, "GB/s")
	b.ReportMetric(median(ceilings)/1e9, "read-GB/s")
	b.ReportMetric(got.RelativeL2, "rel-L2")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// BenchmarkGEMV holds every format against the read bandwidth of the same run.
func BenchmarkGEMV(b *testing.B) {
	for _, f := range allFormats {
		for _, shape := range gemvShapes {
			for _, isa := range Supported() {
				if k, err := f.kernel(isa.String()); err != nil || k.isa == Scalar {
					continue
				}
				for _, threads := range []int{1, 2} {
					c := gemvCase(f, shape.m, shape.rows, shape.cols)
					c.ISA, c.Threads = isa.String(), threads
					name := f.String() + "/" + strings.ReplaceAll(c.Name, " ", "_") + "/" + isa.String()
					b.Run(name+"/"+[]string{"", "one", "two"}[threads], func(b *testing.B) { pairBench(b, c, prepareGEMV) })
				}
			}
		}
	}
}
