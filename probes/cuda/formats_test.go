//go:build cgo && linux

package cuda

import (
	"fmt"
	"math"
	"testing"
)

// TestLayouts: in the units of every format each bit of weights belongs to one
// value alone, and each byte of scales to one group of a row. Every third byte
// is looked at: no period of a layout is a multiple of three.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		*tiled
		group, bits int // columns of a scale, 0 for none in the unit; bits of a weight
		fill        byte
	}{{&nvfp4, 16, 4, 0x38}, {&mxfp4, 32, 4, 0x7f}, {&int4, 32, 4, 0x38}, {&fp8, 0, 8, 0x11}, {&nativeNVFP4, 16, 4, 0x38}} {
		t.Run(c.source, func(t *testing.T) {
			t.Parallel()
			values := func(u []byte) []float64 {
				all := make([]float64, unitRows*c.cols)
				for r := range unitRows {
					c.row(u, r, all[r*c.cols:][:c.cols])
				}
				return all
			}
			weights := unitRows * c.cols * c.bits / 8
			u := make([]byte, c.bytes)
			for i := range u {
				u[i] = 0x11
				if i >= weights {
					u[i] = c.fill
				}
			}
			before := values(u)
			bits := make([]int, len(before))
			scales := map[string]int{}
			for i := 0; i < len(u); i += 3 {
				for bit := range 8 {
					u[i] ^= 1 << bit
					var changed []int
					for k, v := range values(u) {
						if v != before[k] || math.Signbit(v) != math.Signbit(before[k]) {
							changed = append(changed, k)
						}
					}
					u[i] ^= 1 << bit
					if i < weights {
						if len(changed) != 1 {
							t.Fatalf("bit %d of byte %d changes %d values, expected one", bit, i, len(changed))
						}
						bits[changed[0]]++
						continue
					}
					if len(changed) == 0 {
						continue // the sign of a scale, say
					}
					row, col := changed[0]/c.cols, changed[0]%c.cols
					last := changed[len(changed)-1]
					if last/c.cols != row || col/c.group != last%c.cols/c.group {
						t.Fatalf("byte %d of the scales changes row %d from column %d to %d: expected one group", i, row, col, last%c.cols)
					}
					scales[fmt.Sprintf("%d %d", row, col/c.group)]++
				}
			}
			for k, n := range bits {
				if n > c.bits {
					t.Fatalf("row %d, column %d has %d bits", k/c.cols, k%c.cols, n)
				}
			}
			if least := unitRows * c.cols / max(c.group, 1) / 3; c.group > 0 && len(scales) < least {
				t.Errorf("%d groups have scales, expected %d", len(scales), least)
			}
		})
	}
}

// TestE4M3 holds the codes' values against those of the format's definition.
func TestE4M3(t *testing.T) {
	for code, want := range map[byte]float64{0: 0, 1: 1. / 512, 7: 7. / 512, 8: 1. / 64, 0x38: 1, 0xb8: -1, 0x7e: 448, 0xfe: -448, 0x3f: 1.875} {
		if got := e4m3(code); got != want {
			t.Errorf("code %#x is %v, expected %v", code, got, want)
		}
	}
	if !math.IsNaN(e4m3(0x7f)) || !math.IsNaN(e4m3(0xff)) {
		t.Error("all bits of a magnitude: expected no number")
	}
}
