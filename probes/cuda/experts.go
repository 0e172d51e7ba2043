//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/unit"
)

// mixture is the shape of a layer's routed experts on one GPU.
type mixture struct {
	experts, chosen, hidden, width int // width: columns between up and down
}

// experts is a format's products of one token with its chosen experts.
type experts struct {
	source string
	format string
	fill   string
	unit   int // bytes that fill counts by
	scale  []any
	shapes []mixture
	grain  matrix // width and hidden are multiples of
	bytes  func(matrix) unit.Bytes
	// factor, of a format that has one, keeps values in the range of 16 bits.
	factor   []any
	value    func(uint16) float64 // of activations
	variants func(probes.Host, mixture) []variant
	// up and down are rows, as the kernel counts them, and units of a row.
	up, down func(mixture) (rows, units int)
	// matrix is one row of a matrix in float64.
	matrix func(w []byte, g matrix, row int, to []float64)
	half   int // rows from a gate row to its up row
}

func (e *experts) cases(h probes.Host) []probes.Case {
	var out []probes.Case
	for _, m := range e.shapes {
		for _, pdl := range []int{0, 1} {
			if pdl == 1 && h.GPU.Major < 9 {
				continue
			}
			c := probes.Case{
				Name:   fmt.Sprintf("%d of %d, %d×%d", m.chosen, m.experts, m.hidden, m.width),
				Shape:  map[string]int{"m": 1, "experts": m.experts, "chosen": m.chosen, "hidden": m.hidden, "width": m.width},
				Format: e.format,
				Bytes:  unit.Bytes(m.chosen)*e.expert(m) + unit.Bytes(2*m.hidden+2*2*m.chosen*m.width+4*m.hidden),
				FLOPs:  unit.FLOPs(6 * m.chosen * m.hidden * m.width),
			}
			if pdl == 1 {
				c.Name += " PDL"
				c.Shape["pdl"] = 1
			}
			out = append(out, c)
		}
	}
	return out
}

// expert is the bytes of one expert's weights.
func (e *experts) expert(m mixture) unit.Bytes {
	return e.bytes(matrix{2 * m.width, m.hidden}) + e.bytes(matrix{m.hidden, m.width})
}

// chosenExperts is the state of a case.
type chosenExperts struct {
	*experts
	m          mixture
	weights    *driver.Memory // of all experts: up of each, then down of each
	upBytes    int64
	downBytes  int64
	x, between *driver.Memory // between: y in front, then what lies between the two
	ids        []uint32       // of each copy in turn
	shares     []float32
}

func (e *experts) prepare(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	g, err := on(h)
	if err != nil {
		return nil, err
	}
	m := mixture{c.Shape["experts"], c.Shape["chosen"], c.Shape["hidden"], c.Shape["width"]}
	if m.chosen < 1 || m.chosen > 32 || m.hidden%e.grain.cols != 0 || m.width%e.grain.rows != 0 || m.width <= 0 || m.hidden <= 0 {
		return nil, fmt.Errorf("%w: %s is written for 32 experts at most, hidden sizes in multiples of %d and widths of %d", probes.ErrUnsupported, e.source, e.grain.cols, e.grain.rows)
	}
	p := &chosenExperts{experts: e, m: m}
	p.upBytes, p.downBytes = int64(e.bytes(matrix{2 * m.width, m.hidden})), int64(e.bytes(matrix{m.hidden, m.width}))
	// A copy is another choice: no expert comes again before all others have.
	need, err := copies(h, unit.Bytes(m.chosen)*e.expert(m))
	if err != nil {
		return nil, err
	}
	n := m.experts / m.chosen
	if n < need {
		return nil, fmt.Errorf("%w: %d experts are too few to keep a second-level cache of %s cold", probes.ErrUnsupported, m.experts, h.GPU.L2)
	}
	s := &subject{m: g, copies: n, each: c.Bytes}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if p.weights, err = s.allocate(h, int64(m.experts)*(p.upBytes+p.downBytes)); err != nil {
		return nil, err
	}
	if p.x, err = s.allocate(h, int64(2*m.hidden)); err != nil {
		return nil, err
	}
	between := int64(4 * m.hidden)
	if p.between, err = s.allocate(h, between+int64(2*m.chosen*m.width)); err != nil {
		return nil, err
	}
	s.output = p.between
	choices, err := s.allocate(h, int64(4*n*m.chosen))
	if err != nil {
		return nil, err
	}
	shares, err := s.allocate(h, int64(4*m.chosen))
	if err != nil {
		return nil, err
	}
	fills := []struct {
		entry string
		to    *driver.Memory
		unit  int
		scale []any
	}{{e.fill, p.weights, e.unit, e.scale}, {"fill_" + map[string]string{"BF16": "bf16", "NVFP4": "f16"}[e.format], p.x, 4, []any{float32(1)}}}
	for _, f := range fills {
		if err := g.fill(ctx, f.entry, f.to, uint64(f.to.Size())/uint64(f.unit), append(append([]any{}, f.scale...), seed())...); err != nil {
			return nil, err
		}
	}
	for _, i := range rand.Perm(m.experts)[:n*m.chosen] {
		p.ids = append(p.ids, uint32(i))
	}
	for i := range m.chosen {
		p.shares = append(p.shares, float32(i+1)/float32(m.chosen*(m.chosen+1)/2))
	}
	if err := driver.Write(choices, 0, p.ids); err != nil {
		return nil, err
	}
	if err := driver.Write(shares, 0, p.shares); err != nil {
		return nil, err
	}
	var fitting []variant
	seconds := map[string]*driver.Kernel{}
	for _, v := range e.variants(h, m) {
		if (v.order != ordered) != (c.Shape["pdl"] == 1) || v.shared > h.GPU.SharedPerBlock {
			continue
		}
		if seconds[v.second], err = g.kernel(e.source, v.second, v.shared); err != nil {
			return nil, err
		}
		fitting = append(fitting, v)
	}
	upRows, upUnits := e.up(m)
	downRows, downUnits := e.down(m)
	err = s.choose(ctx, e.source, fitting, func(k *driver.Kernel, v variant, copy int) []*driver.Launch {
		launch := func(k *driver.Kernel, w uint64, size int64, rows, units int, x, y uint64) *driver.Launch {
			l := &driver.Launch{Kernel: k, Grid: v.grid(g.device.GPU()), Block: v.warps * 32, Shared: v.shared, Dependent: v.order != ordered}
			l.Arg(w, choices.Address(int64(4*copy*m.chosen)), uint64(size), uint32(m.chosen), uint32(rows), uint32(units), shares.Address(0), x, y)
			return l.Arg(e.factor...).Arg(v.order)
		}
		return []*driver.Launch{
			launch(k, p.weights.Address(0), p.upBytes, upRows, upUnits, p.x.Address(0), p.between.Address(between)),
			launch(seconds[v.second], p.weights.Address(int64(m.experts)*p.upBytes), p.downBytes, downRows, downUnits, p.between.Address(between), p.between.Address(0)),
		}
	})
	if err != nil {
		return nil, err
	}
	s.kernel += ", 2 nodes"
	s.verify = func() (probes.Correctness, error) { return p.verify(p.ids[(n-1)*m.chosen:]) }
	return s, nil
}

// expertsBound is that of 16 bits between the two products.
const expertsBound = 5e-3

// verify compares the last token with float64 arithmetic without rounding in
// between.
func (p *chosenExperts) verify(ids []uint32) (probes.Correctness, error) {
	m := p.m
	in, got := make([]uint16, m.hidden), make([]float32, m.hidden)
	if err := driver.Read(p.x, 0, in); err != nil {
		return probes.Correctness{}, err
	}
	if err := driver.Read(p.between, 0, got); err != nil {
		return probes.Correctness{}, err
	}
	if bad := unwritten(got); bad > 0 {
		return probes.Correctness{}, fmt.Errorf("%d of %d outputs were not written, or are no numbers", bad, len(got))
	}
	factor := 1.0
	for _, f := range p.factor {
		factor = float64(f.(float32))
	}
	up, down := matrix{2 * m.width, m.hidden}, matrix{m.hidden, m.width}
	row, sums, want := make([]float64, max(m.hidden, m.width)), make([]float64, 2*m.width), make([]float64, m.hidden)
	w := make([]byte, max(p.upBytes, p.downBytes))
	checked := sampled(m.hidden, 256)
	slices.Sort(checked)
	checked = slices.Compact(checked)
	for i, id := range ids {
		if err := driver.Read(p.weights, int64(id)*p.upBytes, w[:p.upBytes]); err != nil {
			return probes.Correctness{}, err
		}
		for r := range up.rows {
			p.matrix(w, up, r, row)
			sums[r] = 0
			for k, v := range in {
				sums[r] += row[k] * p.value(v)
			}
			sums[r] *= factor
		}
		between := make([]float64, 0, m.width)
		for first := 0; first < up.rows; first += 2 * p.half {
			for r := first; r < first+p.half; r++ {
				between = append(between, float64(p.shares[i])*sums[r]/(1+math.Exp(-sums[r]))*sums[r+p.half])
			}
		}
		if err := driver.Read(p.weights, int64(m.experts)*p.upBytes+int64(id)*p.downBytes, w[:p.downBytes]); err != nil {
			return probes.Correctness{}, err
		}
		for _, r := range checked {
			p.matrix(w, down, r, row)
			var sum float64
			for k, v := range between {
				sum += row[k] * v
			}
			want[r] += factor * sum
		}
	}
	d := &distance{}
	for _, r := range checked {
		d.add(float64(got[r]), want[r])
	}
	return d.correctness(expertsBound, "16 bits between up and down; all outputs written"), nil
}

var bf16Experts = experts{
	source: "bf16_experts", format: "BF16", fill: "fill_bf16", unit: 4, scale: []any{float32(1. / 16)},
	grain:  matrix{768, 1024},
	shapes: []mixture{{128, 8, 2048, 768}},
	bytes:  bf16Kernel.bytes,
	value:  bf16,
	variants: func(h probes.Host, m mixture) []variant {
		var all []variant
		for _, v := range []struct{ warps, stages, more, resident int }{{16, 4, 5, 1}, {8, 4, 5, 2}} {
			all = append(all, variant{
				entry:  fmt.Sprintf("bf16_experts_up_4_%dx%d", v.warps, v.stages),
				second: fmt.Sprintf("bf16_experts_down_3_%dx%d", v.warps, v.more),
				warps:  v.warps, resident: v.resident,
				shared: max(v.warps*v.stages*4*512+2*m.hidden+4*2*(perBlock(h, m.chosen*m.width, v.resident)+1),
					v.warps*v.more*3*512+2*m.chosen*m.width+4*2*(perBlock(h, m.hidden/2, v.resident)+1)),
			})
		}
		return orders(all)
	},
	up:   func(m mixture) (rows, units int) { return 2 * m.width, m.hidden / 1024 },
	down: func(m mixture) (rows, units int) { return m.hidden, m.width / 768 },
	matrix: func(w []byte, g matrix, row int, to []float64) {
		for k := range g.cols {
			at := 2 * (row*g.cols + k)
			to[k] = bf16(uint16(w[at]) | uint16(w[at+1])<<8)
		}
	},
	half: 1,
}

var nvfp4Experts = experts{
	source: "nvfp4_experts", format: "NVFP4", fill: "fill_nvfp4", unit: unitBytes,
	grain:  matrix{unitCols, unitCols},
	shapes: []mixture{{256, 8, 6144, 256}},
	bytes:  nvfp4Kernel.bytes,
	factor: []any{float32(1. / 64)},
	value:  f16,
	variants: func(h probes.Host, m mixture) []variant {
		var all []variant
		for _, v := range []struct{ warps, stages, resident int }{{16, 4, 1}, {8, 5, 1}, {8, 4, 2}} {
			all = append(all, variant{
				entry:  fmt.Sprintf("nvfp4_experts_up_%dx%d", v.warps, v.stages),
				second: fmt.Sprintf("nvfp4_experts_down_%dx%d", v.warps, v.stages),
				warps:  v.warps, resident: v.resident,
				shared: v.warps*v.stages*unitBytes + 2*max(m.hidden, m.chosen*m.width) + 512 +
					64*(max(perBlock(h, m.chosen*2*m.width/unitRows, v.resident), perBlock(h, m.hidden/unitRows, v.resident))+1),
			})
		}
		return orders(all)
	},
	up:     func(m mixture) (rows, units int) { return 2 * m.width / unitRows, m.hidden / unitCols },
	down:   func(m mixture) (rows, units int) { return m.hidden / unitRows, m.width / unitCols },
	matrix: nvfp4.values,
	half:   8,
}

// BF16Experts and NVFP4Experts are the routed experts of a layer at one token.
var (
	BF16Experts = probes.Probe{
		Name:    "cuda/experts_bf16",
		Doc:     "the routed experts of Qwen3-30B-A3B for one token in BF16: up, SwiGLU, down and their sum",
		Formula: "chosen·6·hidden·width + 6·hidden + 4·chosen·width",
		Checked: "256 outputs against float64 on the same bfloat16, all outputs written",
		Check:   checkGPU,
		Plan:    bf16Experts.cases,
		Prepare: bf16Experts.prepare,
	}
	NVFP4Experts = probes.Probe{
		Name:    "cuda/experts_nvfp4",
		Doc:     "the routed experts of GLM-5 on one of eight GPUs for one token in NVFP4: up, SwiGLU, down and their sum",
		Formula: "chosen·3·hidden·width·9/16 + 6·hidden + 4·chosen·width",
		Checked: "256 outputs against float64 on the same NVFP4 and binary16, all outputs written",
		Check:   checkGPU,
		Plan:    nvfp4Experts.cases,
		Prepare: nvfp4Experts.prepare,
	}
)
