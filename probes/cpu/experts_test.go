//go:build cgo && linux

package cpu

import (
	"fmt"
	"testing"
)

// TestExperts runs routed experts of every format in every instruction set:
// inner sizes of half a block, outputs and inputs with tails, experts of
// several tokens and of more than one operation takes.
func TestExperts(t *testing.T) {
	shapes := []struct{ m, top, count, inter, hidden int }{
		{1, 1, 1, 16, 16}, {1, 4, 16, 48, 80}, {3, 2, 5, 80, 144}, {16, 2, 4, 32, 48}, {40, 2, 2, 16, 33},
	}
	for _, f := range allFormats {
		for _, isa := range Supported() {
			if _, err := f.kernel(isa.String()); err != nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", f, isa), func(t *testing.T) {
				for i, shape := range shapes {
					c := expertsCase(f, shape.m, shape.top, shape.count, shape.inter, shape.hidden)
					c.ISA = isa.String()
					checkRuns(t, host(1+i%3), c, prepareExperts)
				}
			})
		}
	}
}

// BenchmarkExperts holds a layer of experts against the read bandwidth of the
// same run.
func BenchmarkExperts(b *testing.B) {
	for _, f := range []Format{NVFP4, BF16Weights} {
		for _, m := range []int{1, 4, 16} {
			c := expertsCase(f, m, 8, 128, 768, 2048)
			b.Run(fmt.Sprintf("%s/M=%d", f, m), func(b *testing.B) { pairBench(b, c, prepareExperts) })
		}
	}
}
