//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/unit"
)

// matrix is the shape of a weight matrix: rows outputs of cols inputs.
type matrix struct{ rows, cols int }

// product is a matrix with how many tokens it is multiplied.
type product struct {
	tokens int
	matrix
}

// gemv is a format's product of a matrix with one token, or with a few.
type gemv struct {
	source   string
	format   string
	fill     string // entry of fill.cu for weights
	unit     int    // bytes that fill counts by
	limit    []any  // of fill, in front of its seed
	x        activations
	bytes    func(matrix) unit.Bytes // of weights and scales
	scales   func(matrix) int        // float32 ones behind the weights; nil for none
	variants func(probes.Host, product) []variant
	arg      func(l *driver.Launch, g product, w, x, y uint64, order uint32)
	// check compares sampled rows of one token with float64 on the weights at an
	// offset.
	check func(w *driver.Memory, at int64, g matrix, x []float64, y []float32, d *distance) error
	grain matrix // rows and cols are multiples of
	most  int    // tokens
	bound float64
}

// cases are a shape in its two forms: a node that waits for the one before,
// and one that loads its weights meanwhile.
func (g *gemv) cases(shapes []product) func(probes.Host) []probes.Case {
	return func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range shapes {
			out = append(out, both(h, probes.Case{
				Name:   fmt.Sprintf("M=%d %d×%d", s.tokens, s.rows, s.cols),
				Shape:  map[string]int{"m": s.tokens, "rows": s.rows, "cols": s.cols},
				Format: g.format,
				Bytes:  g.bytes(s.matrix) + unit.Bytes(s.tokens)*(g.x.bytes(s.cols)+unit.Bytes(4*s.rows)),
				FLOPs:  unit.FLOPs(2 * s.tokens * s.rows * s.cols),
			})...)
		}
		return out
	}
}

func (g *gemv) prepare(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	shape := product{c.Shape["m"], matrix{c.Shape["rows"], c.Shape["cols"]}}
	if shape.tokens < 1 || shape.tokens > g.most || shape.rows <= 0 || shape.cols <= 0 || shape.rows%g.grain.rows != 0 || shape.cols%g.grain.cols != 0 {
		return nil, fmt.Errorf("%w: %s is written for %s at most, rows in multiples of %d and columns of %d", probes.ErrUnsupported, g.source, plural(g.most, "token"), g.grain.rows, g.grain.cols)
	}
	weights := g.bytes(shape.matrix)
	n, err := copies(h, weights)
	if err != nil {
		return nil, err
	}
	stride := (int64(weights) + 127) / 128 * 128
	s := &subject{m: m, copies: n, each: c.Bytes}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	w, err := s.allocate(h, int64(n)*stride)
	if err != nil {
		return nil, err
	}
	x, err := s.allocate(h, int64(g.x.size(shape)))
	if err != nil {
		return nil, err
	}
	y, err := s.allocate(h, int64(4*shape.tokens*shape.rows))
	if err != nil {
		return nil, err
	}
	s.output = y
	if err := m.fill(ctx, g.fill, w, uint64(w.Size())/uint64(g.unit), append(append([]any{}, g.limit...), seed())...); err != nil {
		return nil, err
	}
	if err := g.writeScales(w, n, stride, shape.matrix); err != nil {
		return nil, err
	}
	if err := m.fill(ctx, g.x.fill, x, uint64(x.Size())/uint64(g.x.each), append(append([]any{}, g.x.limit...), seed())...); err != nil {
		return nil, err
	}
	var fitting []variant
	for _, v := range g.variants(h, shape) {
		if (v.order != ordered) == (c.Shape["pdl"] == 1) {
			fitting = append(fitting, v)
		}
	}
	err = s.choose(ctx, g.source, fitting, func(k *driver.Kernel, v variant, copy int) []*driver.Launch {
		l := &driver.Launch{Kernel: k, Grid: v.grid(m.device.GPU()), Block: v.warps * 32, Shared: v.shared, Dependent: v.order != ordered}
		g.arg(l, shape, w.Address(int64(copy)*stride), x.Address(0), y.Address(0), v.order)
		return []*driver.Launch{l}
	})
	if err != nil {
		return nil, err
	}
	s.verify = func() (probes.Correctness, error) {
		got, in := make([]float32, shape.tokens*shape.rows), make([]byte, x.Size())
		if err := driver.Read(y, 0, got); err != nil {
			return probes.Correctness{}, err
		}
		if err := driver.Read(x, 0, in); err != nil {
			return probes.Correctness{}, err
		}
		if bad := unwritten(got); bad > 0 {
			return probes.Correctness{}, fmt.Errorf("%d of %d outputs were not written, or are no numbers", bad, len(got))
		}
		d := &distance{}
		for t := range shape.tokens {
			err := g.check(w, int64(n-1)*stride, shape.matrix, g.x.token(in, shape, t), got[t*shape.rows:][:shape.rows], d)
			if err != nil {
				return probes.Correctness{}, err
			}
		}
		return d.correctness(g.bound, "float32 sums; all outputs written"), nil
	}
	return s, nil
}

// writeScales puts the scales of a format that has them apart behind each
// copy of its weights, from 2^-5 to 2^-3.
func (g *gemv) writeScales(w *driver.Memory, copies int, stride int64, shape matrix) error {
	if g.scales == nil || g.scales(shape) == 0 {
		return nil
	}
	values := make([]float32, g.scales(shape))
	behind := int64(g.bytes(shape)) - int64(4*len(values))
	for c := range copies {
		random := seed()
		for i := range values {
			values[i] = 1./32 + 3./32*float32(word(random, uint64(i))>>40)/(1<<24)
		}
		if err := driver.Write(w, int64(c)*stride+behind, values); err != nil {
			return err
		}
	}
	return nil
}

// gemvBound allows for float32 sums of some ten thousand products in any
// order; bfloat16 anywhere would be a thousand times off.
const gemvBound = 5e-6

// orders are variants launched plainly and in both dependent ways.
func orders(plain []variant) []variant {
	var all []variant
	for _, v := range plain {
		for _, o := range []uint32{ordered, early, late} {
			v.order = o
			all = append(all, v)
		}
	}
	return all
}

// perBlock is the most rows or tiles that one block of the grid gets.
func perBlock(h probes.Host, count, resident int) int {
	blocks := h.GPU.SMs * resident
	return (count + blocks - 1) / blocks
}

// The shapes: the large one in which start and end do not count, those of
// current models, and those that show what a boundary costs.
var gemvShapes = []product{{1, matrix{28672, 8192}}, {1, matrix{6144, 6144}}, {1, matrix{4096, 4096}}, {1, matrix{6144, 4096}}, {1, matrix{4096, 14336}}}

var bf16Kernel = gemv{
	source: "bf16_gemv", format: "BF16", fill: "fill_bf16", unit: 4, limit: []any{float32(1)}, x: inBF16,
	grain: matrix{1, 1024}, most: 1, bound: gemvBound,
	bytes: func(g matrix) unit.Bytes { return unit.Bytes(2 * g.rows * g.cols) },
	variants: func(h probes.Host, g product) []variant {
		var all []variant
		for _, v := range []struct{ warps, stages, resident int }{{16, 5, 1}, {16, 4, 1}, {8, 4, 2}, {8, 5, 1}} {
			all = append(all, variant{
				entry: fmt.Sprintf("bf16_gemv_%dx%d", v.warps, v.stages), warps: v.warps, resident: v.resident,
				shared: v.warps*v.stages*2048 + 2*g.cols + 4*(perBlock(h, g.rows, v.resident)+1),
			})
		}
		return orders(all)
	},
	arg: func(l *driver.Launch, g product, w, x, y uint64, order uint32) {
		l.Arg(w, x, y, uint32(g.rows), uint32(g.cols/1024), order)
	},
	check: func(w *driver.Memory, at int64, g matrix, x []float64, y []float32, d *distance) error {
		row := make([]uint16, g.cols)
		for _, r := range sampled(g.rows, 96) {
			if err := driver.Read(w, at+int64(2*r*g.cols), row); err != nil {
				return err
			}
			var sum float64
			for i, v := range row {
				sum += bf16(v) * x[i]
			}
			d.add(float64(y[r]), sum)
		}
		return nil
	},
}

// BF16 is the product of a bfloat16 matrix with one token.
var BF16 = probes.Probe{
	Name:    "cuda/gemv_bf16",
	Doc:     "a weight matrix in BF16 times one token, as decode at batch 1 does",
	Formula: "2·rows·cols + 2·cols + 4·rows",
	Checked: "96 rows against float64 on the same bfloat16, all rows written",
	Check:   checkGPU,
	Plan:    bf16Kernel.cases(gemvShapes),
	Prepare: bf16Kernel.prepare,
}

func checkGPU(h probes.Host) error {
	_, err := on(h)
	return err
}
