//go:build cgo && linux

package cuda

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/unit"
)

// The shape of kernels/indexer.cu: values of a key, keys of a page and its
// bytes.
const (
	indexDim      = 128
	indexPage     = 64
	indexPageSize = indexPage * (indexDim + 4)
)

// indexShapes: query heads of the index, sequences, cached tokens of each.
// DeepSeek-V3.2 has 64 heads, GLM-5 has 32.
var indexShapes = []struct{ heads, batch, context int }{
	{64, 16, 131072}, {32, 16, 131072}, {64, 1, 131072}, {64, 16, 32768}, {64, 1, 32768}, {64, 16, 8192}, {64, 1, 8192}, {32, 1, 131072},
}

// Indexer is the scan that picks the tokens of sparse attention.
var Indexer = probes.Probe{
	Name:    "cuda/indexer",
	Doc:     "the index scan of DeepSeek sparse attention: each cached FP8 key against all query heads of one token, pages in random order",
	Formula: "batch·(context·(136 + 1/16) + 132·heads)",
	Checked: "256 scores against float64 on the same E4M3, all scores written",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range indexShapes {
			out = append(out, both(h, probes.Case{
				Name:   fmt.Sprintf("%d heads, %d×%d", s.heads, s.batch, s.context),
				Shape:  map[string]int{"m": s.batch, "heads": s.heads, "context": s.context},
				Format: "FP8",
				Bytes:  unit.Bytes(s.batch * (s.context/indexPage*(indexPageSize+4) + 4*s.context + s.heads*(indexDim+4))),
				FLOPs:  unit.FLOPs(2 * s.batch * s.context * s.heads * indexDim),
			})...)
		}
		return out
	},
	Prepare: prepareIndexer,
}

// index is the state of a case.
type index struct {
	heads, batch, context int
	cache, q, shares, out *driver.Memory
	copy                  int64    // bytes of one copy of the cache
	table                 []uint32 // pages of all sequences
}

func (x *index) pages() int { return x.context / indexPage }

func prepareIndexer(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	x := &index{heads: c.Shape["heads"], batch: c.Shape["m"], context: c.Shape["context"]}
	if x.heads != 32 && x.heads != 64 || x.batch < 1 || x.context < indexPage || x.context%indexPage != 0 {
		return nil, fmt.Errorf("%w: the index scan is written for 32 or 64 heads and whole pages of %d tokens", probes.ErrUnsupported, indexPage)
	}
	x.copy = int64(x.batch * x.pages() * indexPageSize)
	n, err := copies(h, unit.Bytes(x.copy))
	if err != nil {
		return nil, err
	}
	s := &subject{m: m, copies: n, each: c.Bytes}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	var table *driver.Memory
	for _, a := range []struct {
		to   **driver.Memory
		size int64
	}{
		{&x.cache, int64(n) * x.copy}, {&x.q, int64(x.batch * x.heads * indexDim)}, {&x.shares, int64(4 * x.batch * x.heads)},
		{&table, int64(4 * x.batch * x.pages())}, {&x.out, int64(4 * x.batch * x.context)},
	} {
		if *a.to, err = s.allocate(h, a.size); err != nil {
			return nil, err
		}
	}
	s.output = x.out
	if err := m.fill(ctx, "fill_index", x.cache, uint64(x.cache.Size()/indexPageSize), seed()); err != nil {
		return nil, err
	}
	if err := m.fill(ctx, "fill_e4m3", x.q, uint64(x.q.Size()/4), seed()); err != nil {
		return nil, err
	}
	shares := make([]float32, x.batch*x.heads)
	for i := range shares {
		shares[i] = 2*rand.Float32() - 1
	}
	for _, p := range rand.Perm(x.batch * x.pages()) {
		x.table = append(x.table, uint32(p))
	}
	if err := driver.Write(x.shares, 0, shares); err != nil {
		return nil, err
	}
	if err := driver.Write(table, 0, x.table); err != nil {
		return nil, err
	}
	order := ordered
	if c.Shape["pdl"] == 1 {
		order = early
	}
	all := x.variants(m.device.GPU(), order)
	err = s.choose(ctx, "indexer", all, func(k *driver.Kernel, v variant, copy int) []*driver.Launch {
		l := &driver.Launch{Kernel: k, Grid: v.grid(m.device.GPU()), Block: v.warps * 32, Shared: v.shared, Dependent: order != ordered}
		return []*driver.Launch{l.Arg(x.q.Address(0), x.shares.Address(0), x.cache.Address(int64(copy)*x.copy), table.Address(0), x.out.Address(0),
			uint32(x.batch), uint32(x.pages()), order)}
	})
	if err != nil {
		return nil, err
	}
	s.verify = func() (probes.Correctness, error) {
		bound := gemmBound
		if !strings.Contains(s.kernel, "f16") {
			bound = e4m3Bound
		}
		return x.verify(int64(n-1)*x.copy, bound)
	}
	return s, nil
}

// e4m3Bound allows for tensor cores that add products of E4M3 with fewer bits
// than float32 has.
const e4m3Bound = 2e-3

// variants are those of the GPU's build of kernels/indexer.cu: in binary16
// everywhere, in E4M3 where tensor cores know it, of Hopper those by groups of
// four warps alone.
func (x *index) variants(g probes.GPU, order uint32) []variant {
	var all []variant
	add := func(kind string, width, size, warps, stages, resident int) {
		all = append(all, variant{entry: fmt.Sprintf("indexer_%s_%d_%dx%d", kind, x.heads, warps, stages), warps: warps, resident: resident, order: order,
			shared: warps*stages*size + x.heads*(width*indexDim+4)})
	}
	for _, v := range []struct{ warps, stages, resident int }{{16, 3, 1}, {16, 2, 1}, {8, 2, 2}, {12, 4, 1}} {
		add("f16", 2, indexPageSize/2, v.warps, v.stages, v.resident)
		if g.Major == 12 || g.Major == 8 && g.Minor == 9 {
			add("e4m3", 1, indexPageSize/2, v.warps, v.stages, v.resident)
		}
	}
	if g.Major == 9 && g.Minor == 0 {
		for _, v := range []struct{ groups, stages, resident int }{{4, 6, 1}, {4, 4, 1}, {2, 5, 2}, {6, 4, 1}} {
			add("wgmma", 1, indexPageSize, v.groups, v.stages, v.resident)
			all[len(all)-1].warps *= 4
			all[len(all)-1].shared += 1024 // to align pages
		}
	}
	return all
}

// verify compares scores with float64 arithmetic on the cache at an offset.
func (x *index) verify(at int64, bound float64) (probes.Correctness, error) {
	q, shares, got := make([]byte, x.batch*x.heads*indexDim), make([]float32, x.batch*x.heads), make([]float32, x.batch*x.context)
	if err := driver.Read(x.q, 0, q); err != nil {
		return probes.Correctness{}, err
	}
	if err := driver.Read(x.shares, 0, shares); err != nil {
		return probes.Correctness{}, err
	}
	if err := driver.Read(x.out, 0, got); err != nil {
		return probes.Correctness{}, err
	}
	if bad := unwritten(got); bad > 0 {
		return probes.Correctness{}, fmt.Errorf("%d of %d scores were not written, or are no numbers", bad, len(got))
	}
	d := &distance{}
	page := make([]byte, indexPageSize)
	for _, i := range sampled(len(got), 256) {
		if err := driver.Read(x.cache, at+int64(x.table[i/indexPage])*indexPageSize, page); err != nil {
			return probes.Correctness{}, err
		}
		first := i / x.context * x.heads
		want := indexScore(q[first*indexDim:][:x.heads*indexDim], shares[first:][:x.heads], page[i%indexPage*indexDim:][:indexDim])
		scale := math.Float32frombits(binary.LittleEndian.Uint32(page[indexPage*indexDim+4*(i%indexPage):]))
		d.add(float64(got[i]), want*float64(scale))
	}
	return d.correctness(bound, "float32 sums; all scores written"), nil
}

// indexScore is the sum over heads of share·relu(q·key) in float64.
func indexScore(q []byte, shares []float32, key []byte) float64 {
	var score float64
	for h, share := range shares {
		var dot float64
		for i, k := range key {
			dot += e4m3(q[h*indexDim+i]) * e4m3(k)
		}
		score += float64(share) * max(dot, 0)
	}
	return score
}
