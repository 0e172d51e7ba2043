//go:build cgo && linux

package cuda

import (
	"fmt"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/unit"
)

// tiled is a format of weights of kernels/tiles.h: units of 16 rows.
type tiled struct {
	source string // "nvfp4" for nvfp4_gemv
	name   string
	cols   int // of a unit
	bytes  int // of a unit
	slot   int // of a unit in a ring
	scale  int // rows and columns of a float32 scale behind the weights, 0 where units hold theirs
	fill   string
	each   int // bytes that fill counts by
	// row gives one row of a unit in float64.
	row func(u []byte, row int, to []float64)
}

// unitRows is the rows of every format's units.
const unitRows = 16

// size is the bytes of a matrix.
func (f *tiled) size(g matrix) unit.Bytes {
	return unit.Bytes(g.rows/unitRows*(g.cols/f.cols)*f.bytes + 4*f.scales(g))
}

// scales is how many scales lie behind the weights.
func (f *tiled) scales(g matrix) int {
	if f.scale == 0 {
		return 0
	}
	return g.rows / f.scale * (g.cols / f.scale)
}

// values is one row of a matrix in float64.
func (f *tiled) values(w []byte, g matrix, row int, to []float64) {
	units := g.cols / f.cols
	for u := range units {
		f.row(w[(row/unitRows*units+u)*f.bytes:], row%unitRows, to[u*f.cols:][:f.cols])
	}
}

// one is the format's product with one token, in binary16.
func (f *tiled) one() gemv {
	return gemv{
		source: f.source + "_gemv", format: f.name, fill: f.fill, unit: f.each, x: inF16,
		grain: matrix{max(unitRows, f.scale), f.cols}, most: 1, bound: gemvBound,
		bytes: f.size, scales: f.scales, check: f.check,
		variants: func(h probes.Host, g product) []variant {
			var all []variant
			for _, v := range []struct{ warps, stages, resident int }{{8, 4, 2}, {8, 5, 2}, {8, 5, 1}, {8, 4, 1}, {16, 4, 1}, {16, 5, 1}} {
				if g.cols/8 > 4*v.warps*32 {
					continue // x is held in four vectors a thread while it is loaded
				}
				all = append(all, variant{
					entry: fmt.Sprintf("%s_gemv_%dx%d", f.source, v.warps, v.stages), warps: v.warps, resident: v.resident,
					shared: v.warps*v.stages*f.slot + 2*g.cols + 512 + 64*(perBlock(h, g.rows/unitRows, v.resident)+1),
				})
			}
			return orders(all)
		},
		arg: func(l *driver.Launch, g product, w, x, y uint64, order uint32) {
			l.Arg(w, f.scalesAt(w, g.matrix), x, y, uint32(g.rows/unitRows), uint32(g.cols/f.cols), float32(1), order)
		},
	}
}

// scalesAt is where the scales of weights at w lie.
func (f *tiled) scalesAt(w uint64, g matrix) uint64 {
	return w + uint64(f.size(g)) - uint64(4*f.scales(g))
}

// check compares 96 rows.
func (f *tiled) check(w *driver.Memory, at int64, g matrix, x []float64, y []float32, d *distance) error {
	tile := make([]byte, g.cols/f.cols*f.bytes)
	row := make([]float64, g.cols)
	scales := make([]float32, f.scales(g))
	if err := driver.Read(w, int64(f.scalesAt(uint64(at), g)), scales); err != nil {
		return err
	}
	for _, t := range sampled(g.rows/unitRows, 6) {
		if err := driver.Read(w, at+int64(t*len(tile)), tile); err != nil {
			return err
		}
		for r := range unitRows {
			f.values(tile, matrix{unitRows, g.cols}, r, row)
			var sum float64
			for c, v := range row {
				if f.scale > 0 {
					v *= float64(scales[t*unitRows/f.scale*(g.cols/f.scale)+c/f.scale])
				}
				sum += v * x[c]
			}
			d.add(float64(y[t*unitRows+r]), sum)
		}
	}
	return nil
}
