//go:build cgo && linux

package cpu

import (
	"math"
	"slices"
	"testing"

	"decodegap/probes"
)

// BenchmarkAttention holds each case against the read bandwidth of the same
// run: go test -bench Attention/…
func BenchmarkAttention(b *testing.B) {
	for _, p := range attentionProbes() {
		for _, c := range p.Plan(benchHost) {
			for _, threads := range []int{1, 2} {
				c := c
				c.Threads = threads
				b.Run(c.Name+map[int]string{1: ", 1 thread", 2: ""}[threads], func(b *testing.B) { pairBench(b, c, p.Prepare) })
			}
		}
	}
}

// BenchmarkAttentionCached is the speed of the kernel itself: one thread, the
// cache in L2, the quickest of many runs, so that other work does not count.
func BenchmarkAttentionCached(b *testing.B) {
	h := testHost
	for _, isa := range Supported() {
		for _, format := range []string{"BF16", "FP8"} {
			for _, c := range []probes.Case{
				gqaCase(format, 4, 1, 128, 512, 1, 0), gqaCase(format, 2, 1, 128, 512, 1, 0), gqaCase(format, 8, 1, 128, 512, 1, 0),
				mlaCase(format, 16, 512, 1), mlaCase(format, 128, 512, 1),
			} {
				c.ISA, c.Threads = isa.String(), 1
				b.Run(isa.String()+" "+c.Name, func(b *testing.B) { quickest(b, h, c, prepareAttention) })
			}
		}
	}
}

// quickest reports the least time of a run, as bytes a nanosecond.
func quickest(b *testing.B, h probes.Host, c probes.Case, prepare prepareFunc) {
	s, err := prepare(b.Context(), h, c)
	if err != nil {
		b.Skip(err)
	}
	defer s.Close()
	least := math.Inf(1)
	b.ResetTimer()
	for range b.N {
		t, err := s.Time(b.Context(), 20)
		if err != nil {
			b.Fatal(err)
		}
		least = min(least, slices.Min(t))
	}
	if got, err := s.Verify(); err != nil || !got.OK() {
		b.Errorf("%+v, %v", got, err)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(least*1e6, "least-µs")
	if c.Bytes > 0 {
		b.ReportMetric(float64(c.Bytes)/least/1e9, "GB/s")
	}
}
