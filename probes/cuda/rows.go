//go:build cgo && linux

package cuda

import (
	"fmt"
	"math"

	"decodegap/probes/cuda/driver"
)

// rowOutput is where a kernel leaves rows: in bfloat16, or quantised for the
// product that follows, with E4M3 and a scale for each row, or as NVFP4.
type rowOutput struct {
	format     string // "BF16", "FP8" or "NVFP4"
	rows, cols int
	memory     *driver.Memory
	extra      int // bytes in front, which the kernel writes too
}

// rowOutput makes room for rows, behind extra bytes, and has it poisoned.
func (s *small) rowOutput(format string, rows, cols, extra int) *rowOutput {
	o := &rowOutput{format: format, rows: rows, cols: cols, extra: extra}
	o.memory = s.room(o.end())
	s.output = o.memory
	return o
}

// scaleTile is how many rows the tensor cores' layout of NVFP4 scales pads to.
const scaleTile = 128

// size is the bytes of the values, scaleSize those of the scales in memory.
func (o *rowOutput) size() int {
	return o.rows * o.cols * map[string]int{"BF16": 4, "FP8": 2, "NVFP4": 1}[o.format] / 2
}

func (o *rowOutput) scaleSize() int {
	switch o.format {
	case "FP8":
		return 4 * o.rows
	case "NVFP4":
		return (o.rows + scaleTile - 1) / scaleTile * scaleTile * o.cols / 16
	}
	return 0
}

func (o *rowOutput) end() int { return o.extra + o.size() + o.scaleSize() }

// args are the addresses of values and scales.
func (o *rowOutput) args() []any {
	return []any{o.memory.Address(int64(o.extra)), o.memory.Address(int64(o.extra + o.size()))}
}

// global is the reciprocal of an NVFP4 tensor's own scale.
const global = float32(16)

// What float32 arithmetic in another order may change before rounding, and
// half the relative step of bfloat16.
const (
	rowSlack = 2e-5
	bf16Half = 1. / 256
)

// rowBounds are the relative L2 errors that a format's rounding allows.
var rowBounds = map[string]float64{"BF16": 3e-3, "FP8": 4e-2, "NVFP4": 0.15}

// check compares all rows with float64: every value must be the nearest that
// its format has, by the scale that is stored with it, and that scale the one
// that the largest value of its row or block gives.
func (o *rowOutput) check(want func(row int) []float64, d *distance) error {
	all, err := read[byte](o.memory, int64(o.extra), o.size()+o.scaleSize())
	if err != nil {
		return err
	}
	y, scales := all[:o.size()], all[o.size():]
	for r := range o.rows {
		row := want(r)
		var scale float64
		if o.format == "FP8" {
			scale = float64(math.Float32frombits(uint32(scales[4*r]) | uint32(scales[4*r+1])<<8 | uint32(scales[4*r+2])<<16 | uint32(scales[4*r+3])<<24))
			if w := largestOf(row) / 448; !(math.Abs(scale-w) <= rowSlack*w) {
				return fmt.Errorf("row %d: scale %g, expected %g", r, scale, w)
			}
		}
		for i, w := range row {
			at := r*o.cols + i
			var got float64
			var err error
			switch o.format {
			case "BF16":
				got = bf16(uint16(y[2*at]) | uint16(y[2*at+1])<<8)
				if !(math.Abs(got-w) <= (bf16Half+rowSlack)*math.Abs(w)+0x1p-126) {
					err = fmt.Errorf("%g is not the nearest bfloat16", got)
				}
			case "FP8":
				got, err = e4m3Codes.nearest(int(y[at]), w, scale)
			case "NVFP4":
				if i%16 == 0 {
					code := scales[tileAt(r, i/16, o.cols/16)]
					scale = e4m3(code) / float64(global)
					most := largestOf(row[i:i+16]) * float64(global) / 6
					if _, err := e4m3Codes.nearest(int(code), most, 1); err != nil || code > 0x7e {
						return fmt.Errorf("row %d, block %d: scale %#x of %g: %v", r, i/16, code, most, err)
					}
				}
				got, err = e2m1Codes.nearest(int(y[at/2]>>(4*(at%2))&15), w, scale)
			}
			if err != nil {
				return fmt.Errorf("row %d, value %d: expected %g: %w", r, i, w, err)
			}
			d.add(got, w)
		}
	}
	return nil
}

func largestOf(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	return most
}

// tileAt is where the NVFP4 scale of a block lies: in tiles of 128 rows and
// four blocks, rows that are 32 apart side by side.
func tileAt(row, group, groups int) int {
	return (row/128*(groups/4)+group/4)*512 + row%32*16 + row%128/32*4 + group%4
}

// codes are a format's magnitudes in rising order; a code has its sign above.
type codes []float64

var e4m3Codes, e2m1Codes = codesOf(127, e4m3), codesOf(8, e2m1)

func codesOf(n int, value func(byte) float64) codes {
	all := make(codes, n)
	for i := range all {
		all[i] = value(byte(i))
	}
	return all
}

// nearest is the value that a code stands for by a scale, if no other code is
// nearer to what was to be stored by more than float32 arithmetic explains.
func (c codes) nearest(code int, want, scale float64) (float64, error) {
	sign := len(c) // 8 of four bits; 127 codes and NaN, of eight
	if sign == 127 {
		sign = 128
	}
	m := code % sign
	if m >= len(c) {
		return 0, fmt.Errorf("code %#x is no number", code)
	}
	got := c[m] * scale
	slack := rowSlack * math.Abs(want)
	off := func(i int) float64 { return math.Abs(c[i]*scale - math.Abs(want)) }
	for _, i := range []int{m - 1, m + 1} {
		if scale == 0 || i < 0 || i >= len(c) {
			continue
		}
		if d := off(i) - off(m); d < -slack {
			return 0, fmt.Errorf("code %#x is %g, %g is nearer", code, got, c[i]*scale)
		}
	}
	if code >= sign {
		got = -got
	}
	if got != 0 && (got < 0) != (want < 0) {
		return 0, fmt.Errorf("code %#x is %g", code, got)
	}
	return got, nil
}
