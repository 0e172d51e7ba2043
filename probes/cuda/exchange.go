//go:build cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// Time runs every rank's graph at once, and returns the mean of its nodes on
// the slowest rank. All ranks meet before their clocks start.
func (e *exchange) Time(ctx context.Context, n int) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := e.clear(ctx); err != nil {
		return nil, err
	}
	times := (n + e.runs - 1) / e.runs
	seconds, errs := make([]float64, len(e.ranks)), make([]error, len(e.ranks))
	var all sync.WaitGroup
	for i, r := range e.ranks {
		all.Go(func() {
			seconds[i], errs[i] = r.m.device.Time(ctx, r.m.limit, slices.Repeat([]*driver.Graph{r.graph}, times), r.m.hold(enqueueing), r.meeting)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := e.late(); err != nil {
		return nil, err
	}
	e.ran = true
	return slices.Repeat([]float64{slices.Max(seconds) / float64(times*e.runs)}, n), nil
}

// clear poisons what must be overwritten and takes all flags back, on every
// rank before any goes on.
func (e *exchange) clear(ctx context.Context) error {
	for _, r := range e.ranks {
		if err := errors.Join(r.out.Fill(poison), r.scratch.Fill(0), r.state.Fill(0)); err != nil {
			return err
		}
	}
	for _, r := range e.ranks {
		if err := r.m.device.Finish(ctx, r.m.limit); err != nil {
			return err
		}
	}
	return nil
}

// late names a rank that another waited for in vain.
func (e *exchange) late() error {
	for _, r := range e.ranks {
		who := []uint32{0}
		if err := driver.Read(r.state, 0, who); err != nil {
			return err
		}
		if n := int(who[0]); n > 0 && n <= len(e.ranks) {
			return fmt.Errorf("GPU %d waited %s in vain for GPU %d: what it writes to its peers does not arrive",
				r.m.device.GPU().Index, r.m.limit/2, e.ranks[n-1].m.device.GPU().Index)
		}
	}
	return nil
}

// exchangeBound is half a unit in the last place of bfloat16.
const exchangeBound = 1.0 / 256

// Verify compares every rank's outputs with the sum in the order of the ranks,
// bit for bit, and that with float64.
func (e *exchange) Verify() (probes.Correctness, error) {
	if !e.ran {
		return probes.Correctness{}, errors.New("nothing has run yet")
	}
	in, got := make([][]uint16, len(e.ranks)), make([]uint16, exchangeCopies*e.bytes/2)
	for i, r := range e.ranks {
		in[i] = make([]uint16, len(got))
		if err := driver.Read(r.in, 0, in[i]); err != nil {
			return probes.Correctness{}, err
		}
	}
	d := &distance{}
	for _, r := range e.ranks {
		if err := driver.Read(r.out, 0, got); err != nil {
			return probes.Correctness{}, err
		}
		for at, v := range got {
			var sum float32
			var exact float64
			for i := range in {
				sum += float32(bf16(in[i][at]))
				exact += bf16(in[i][at])
			}
			if want := toBF16(sum); v != want {
				return probes.Correctness{}, fmt.Errorf("GPU %d: value %d is %g (%#04x), expected %g (%#04x)", r.m.device.GPU().Index, at, bf16(v), v, bf16(want), want)
			}
			d.add(bf16(v), exact)
		}
	}
	return d.correctness(exchangeBound, "bit for bit the sum in the order of the ranks"), nil
}

// toBF16 rounds to nearest, ties to even; not for what is no number.
func toBF16(v float32) uint16 {
	bits := math.Float32bits(v)
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Kernel names what runs.
func (e *exchange) Kernel() string { return e.kernel }

// Close frees every rank's memory.
func (e *exchange) Close() {
	for _, r := range e.ranks {
		r.graph.Free()
		for _, m := range []*driver.Memory{r.in, r.out, r.scratch, r.state} {
			m.Free()
		}
	}
}
