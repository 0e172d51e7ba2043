//go:build cgo && linux

package cpu

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"decodegap/probes"
)

type prepareFunc = func(context.Context, probes.Host, probes.Case) (probes.Subject, error)

var allFormats = []Format{BF16Weights, FP8, NVFP4, MXFP4, INT4}

// host is a test's machine with so many threads.
func host(threads int) probes.Host {
	h := testHost
	h.CPUs = nil
	for i := range threads {
		h.CPUs = append(h.CPUs, i%2)
	}
	return h
}

// TestGEMV runs every format in every instruction set over shapes whose rows
// are no whole block, whose inputs are no whole chunk, and all token counts.
func TestGEMV(t *testing.T) {
	shapes := []struct{ rows, cols int }{{1, 16}, {16, 32}, {33, 48}, {95, 144}, {100, 272}, {257, 416}}
	for _, f := range allFormats {
		for _, isa := range Supported() {
			if _, err := f.kernel(isa.String()); err != nil {
				if !errors.Is(err, probes.ErrUnsupported) {
					t.Error(err)
				}
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", f, isa), func(t *testing.T) {
				for i, shape := range shapes {
					for m := 1; m <= MaxTokens; m++ {
						if testing.Short() && m > 3 && m%4 != 1 && m != MaxTokens {
							continue // under sanitizers: one of each number of passes and widths
						}
						c := gemvCase(f, m, shape.rows, shape.cols)
						c.ISA = isa.String()
						c.Shape["per_row"] = m % 2
						checkRuns(t, host(1+(i+m)%3), c, prepareGEMV)
					}
				}
			})
		}
	}
}

// checkRuns prepares a case and holds three of its runs against float64.
func checkRuns(t *testing.T, h probes.Host, c probes.Case, prepare prepareFunc) {
	t.Helper()
	s, err := prepare(t.Context(), h, c)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	defer s.Close()
	for range 2 {
		if _, err := s.Time(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		got, err := s.Verify()
		if err != nil || !got.OK() {
			t.Errorf("%s, %s: %+v, %v", c.Name, s.Kernel(), got, err)
		}
	}
}
