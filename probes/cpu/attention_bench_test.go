//go:build cgo && linux

package cpu

import "testing"

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
