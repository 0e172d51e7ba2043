//go:build cgo && linux

package cpu

import (
	"context"
	"errors"
	"testing"

	"decodegap/probes"
)

// TestStream runs copy and triad in every instruction set, with and without
// tails.
func TestStream(t *testing.T) {
	for arrays, kind := range map[int]probes.Probe{2: Copy, 3: Triad} {
		for _, isa := range Supported() {
			for i, size := range []int{64, 192, 4096, 1<<20 + 64} {
				c := streamCase(arrays, size)
				c.ISA = isa.String()
				s, err := kind.Prepare(t.Context(), host(1), c)
				if errors.Is(err, probes.ErrUnsupported) {
					continue // not written for this instruction set
				} else if err != nil {
					t.Fatal(err)
				}
				s.Close()
				checkRuns(t, host(1+i%3), c, func(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
					return kind.Prepare(ctx, h, c)
				})
			}
		}
	}
}
