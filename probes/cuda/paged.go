//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"sync"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// attentionBound is that of outputs and probabilities rounded to 16 bits.
const attentionBound = 5e-3

// pagedAttention is a case of attention over a cache in pages.
type pagedAttention struct {
	paged
	heads      int // query heads of a sequence
	rows       int // of a set
	key, value int // numbers of a query, of an output
	q, out     *driver.Memory
	pageOf     []uint32

	source, join string
	joining      int // threads of a block of join
	variants     []variant
	// operands of the kernel for one copy, in front of what all have and behind.
	before func(copy int) []any
	behind []any
}

// withDependent is a case, and where the GPU can, the case launched dependently.
func withDependent(h probes.Host, c probes.Case) []probes.Case {
	if h.GPU.Major < 9 {
		return []probes.Case{c}
	}
	dependent := c
	dependent.Name += " PDL"
	dependent.Shape = maps.Clone(c.Shape)
	dependent.Shape["pdl"] = 1
	return []probes.Case{c, dependent}
}

// lengths of a batch's sequences: all context, or unequal ones from 1 to it,
// short ones more often.
func lengths(batch, context int, unequal bool) []int {
	out := make([]int, batch)
	for i := range out {
		out[i] = context
		if unequal && batch > 1 {
			out[i] = 1 + (context-1)*i*i/((batch-1)*(batch-1))
		}
	}
	return out
}

// batchName is "16×8192", or "16×1–8192" for unequal lengths.
func batchName(batch, context int, unequal bool) string {
	if unequal {
		return fmt.Sprintf("%d×1–%d", batch, context)
	}
	return fmt.Sprintf("%d×%d", batch, context)
}

// allocate makes queries, scores of a few units as of trained models so that
// some tokens matter more, and outputs.
func (a *pagedAttention) allocate(ctx context.Context, s *subject, h probes.Host, scale float32) (err error) {
	heads := len(a.lengths) * a.heads
	if a.q, err = s.allocate(h, int64(2*heads*a.key)); err != nil {
		return err
	}
	if a.out, err = s.allocate(h, int64(2*heads*a.value)); err != nil {
		return err
	}
	s.output = a.out
	return s.m.fill(ctx, "fill_bf16", a.q, uint64(a.q.Size()/4), scale, seed())
}

// choose makes the plan, for a block on each multiprocessor times waves and so
// many pieces of a block at most, and chooses the kernel.
func (a *pagedAttention) choose(ctx context.Context, s *subject, h probes.Host, c probes.Case, waves, most int) error {
	table, err := copyIn(s, h, a.pageOf)
	if err != nil {
		return err
	}
	work := a.share(s.m.device.GPU().SMs*waves, most)
	pieces, err := copyIn(s, h, work.pieces)
	if err != nil {
		return err
	}
	first, err := copyIn(s, h, work.first)
	if err != nil {
		return err
	}
	joins, err := copyIn(s, h, append(work.joins, join{}))
	if err != nil {
		return err
	}
	parts, err := s.allocate(h, int64(max(work.slots, 1)*a.rows*(a.value+2)*4))
	if err != nil {
		return err
	}
	last, err := s.m.kernel(a.source, a.join, 0)
	if err != nil {
		return err
	}
	order := ordered
	if c.Shape["pdl"] == 1 {
		order = early
	}
	for i := range a.variants {
		v := &a.variants[i]
		v.resident, v.blocks, v.order = 1, work.blocks(), order
	}
	err = s.choose(ctx, a.source, a.variants, func(k *driver.Kernel, v variant, copy int) []*driver.Launch {
		main := &driver.Launch{Kernel: k, Grid: v.blocks, Block: v.warps * 32, Shared: v.shared, Dependent: order != ordered}
		main.Arg(a.before(copy)...).Arg(a.out.Address(0), parts.Address(0), pieces.Address(0), first.Address(0), table.Address(0)).Arg(a.behind...).Arg(order)
		all := []*driver.Launch{main}
		if len(work.joins) > 0 {
			l := &driver.Launch{Kernel: last, Grid: len(work.joins) * a.rows, Block: a.joining, Dependent: order != ordered}
			all = append(all, l.Arg(a.out.Address(0), parts.Address(0), joins.Address(0), order))
		}
		return all
	})
	if len(work.joins) > 0 {
		s.kernel += ", 2 nodes"
	}
	return err
}

// attended is what one query head of a sequence has to attend to: rows of
// stride numbers, one for each token that counts.
type attended struct {
	sequence, head int
	keys, values   []float64
	stride         int
	scale          float64
}

// verify compares query heads with float64 arithmetic on what references say.
func (a *pagedAttention) verify(references func(yield func(attended)) error) (probes.Correctness, error) {
	batch := len(a.lengths)
	q, out := make([]uint16, batch*a.heads*a.key), make([]uint16, batch*a.heads*a.value)
	if err := driver.Read(a.q, 0, q); err != nil {
		return probes.Correctness{}, err
	}
	if err := driver.Read(a.out, 0, out); err != nil {
		return probes.Correctness{}, err
	}
	for i, v := range out {
		if x := bf16(v); math.IsNaN(x) || math.IsInf(x, 0) {
			return probes.Correctness{}, fmt.Errorf("output %d of head %d of sequence %d was not written, or is no number", i%a.value, i/a.value%a.heads, i/a.value/a.heads)
		}
	}
	d := &distance{}
	var all sync.WaitGroup
	var lock sync.Mutex
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	err := references(func(r attended) {
		turn <- struct{}{}
		all.Go(func() {
			at := r.sequence*a.heads + r.head
			want := attention(numbers(q[at*a.key:][:a.key]), r.keys, r.values, r.stride, a.value, r.scale)
			lock.Lock()
			for e, w := range want {
				d.add(bf16(out[at*a.value+e]), w)
			}
			lock.Unlock()
			<-turn
		})
	})
	all.Wait()
	return d.correctness(attentionBound, "16-bit probabilities and outputs; all outputs written"), err
}
