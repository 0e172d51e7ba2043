//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math"
	"slices"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// AllReduce sums a vector up over the GPUs of this host, as tensor-parallel
// layers do twice each.
var AllReduce = probes.Probe{
	Name: "cuda/allreduce",
	Doc: "the sum of a bfloat16 vector over 2, 4 or 8 GPUs of this host, as a node of a CUDA graph on each; the slowest GPU's time. " +
		"Our own kernels over peer memory: packets that carry their flags, reading everybody's input, or reduce-scatter and all-gather, whichever is fastest at the size",
	Formula: "none: the time is the result",
	Checked: "every GPU's output bit for bit: the sum in float32 in the order of the ranks",
	Check: func(h probes.Host) error {
		if err := checkGPU(h); err != nil {
			return err
		}
		if h.GPU.Peers == 0 {
			return fmt.Errorf("%w: the driver shows one GPU, there is none to exchange with", probes.ErrUnsupported)
		}
		return nil
	},
	Plan:    planAllReduce,
	Prepare: prepareAllReduce,
}

// allReduceBytes are the sizes of a rank's vector, the hidden states of one
// token of some models first. Dependent launch pays where a node is short.
var allReduceBytes = []struct {
	bytes     int
	dependent bool
}{{12 << 10, true}, {64 << 10, true}, {2 << 10, true}, {128 << 10, true}, {512 << 10, true}, {2 << 20, false}, {16 << 20, false}}

// ranksOf is how many GPUs take part: the kernels know 2, 4 and 8.
func ranksOf(gpus int) int {
	n := 2
	for 2*n <= min(gpus, mostRanks) {
		n *= 2
	}
	return n
}

func planAllReduce(h probes.Host) []probes.Case {
	var out []probes.Case
	ranks := ranksOf(h.GPU.Peers + 1)
	for _, s := range allReduceBytes {
		name := fmt.Sprintf("%d GPUs, %d KiB", ranks, s.bytes>>10)
		if s.bytes >= 1<<20 {
			name = fmt.Sprintf("%d GPUs, %d MiB", ranks, s.bytes>>20)
		}
		out = append(out, probes.Case{Name: name, Format: "BF16", Shape: map[string]int{"ranks": ranks, "bytes": s.bytes}})
		if s.dependent && h.GPU.Major >= 9 {
			out = append(out, probes.Case{Name: name + " PDL", Format: "BF16", Shape: map[string]int{"ranks": ranks, "bytes": s.bytes, "pdl": 1}})
		}
	}
	return out
}

// What the kernels of allreduce.cu are written for.
const (
	mostRanks      = 8
	exchangeBlocks = 256
	flagBytes      = 3 * exchangeBlocks * mostRanks * 4
	stateBytes     = 4 * (1 + exchangeBlocks)
	packetBytes    = 16 // for each 8 of the vector
	mostPackets    = 1 << 20
	leastShared    = 64 << 10 // bytes below which reading in parts never pays
)

// exchangeCopies is how many vectors take turns: stale packets would bring the
// sum of another.
const exchangeCopies = 4

// exchange is an operation that several GPUs run together.
type exchange struct {
	ranks  []*exchanger
	bytes  int
	kernel string
	runs   int // of the operation in each rank's graph
	ran    bool
}

// exchanger is one rank of it.
type exchanger struct {
	m                       *Machine
	in, out, scratch, state *driver.Memory
	graph                   *driver.Graph
	meeting                 *driver.Launch
}

func prepareAllReduce(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	g, err := m.group(ctx, c.Shape["ranks"])
	if err != nil {
		return nil, err
	}
	e := &exchange{bytes: c.Shape["bytes"]}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	packets := min(e.bytes, mostPackets) / 8 * packetBytes * 2 * len(g)
	for _, m := range g {
		r := &exchanger{m: m}
		e.ranks = append(e.ranks, r)
		for _, a := range []struct {
			to   **driver.Memory
			size int
		}{{&r.in, exchangeCopies * e.bytes}, {&r.out, exchangeCopies * e.bytes}, {&r.scratch, flagBytes + packets}, {&r.state, stateBytes}} {
			if *a.to, err = m.allocate(h, int64(a.size)); err != nil {
				return nil, err
			}
		}
		if err := m.fill(ctx, "fill_bf16", r.in, uint64(exchangeCopies*e.bytes/4), float32(1), seed()); err != nil {
			return nil, err
		}
	}
	for i, r := range e.ranks {
		k, err := r.m.kernel("allreduce", fmt.Sprintf("rendezvous_%d", len(g)), 0)
		if err != nil {
			return nil, err
		}
		r.meeting = (&driver.Launch{Kernel: k, Grid: 1, Block: 32}).Arg(e.addresses(scratchOf, 0), uint32(i), r.state.Address(0), r.patience())
	}
	return e, e.choose(ctx, c.Shape["pdl"] == 1)
}

// patience is how long a kernel waits for another rank, in ns: the host's own
// deadline comes later, and would lose the GPU.
func (r *exchanger) patience() uint64 { return uint64(r.m.limit.Nanoseconds() / 2) }

func inOf(r *exchanger) *driver.Memory      { return r.in }
func outOf(r *exchanger) *driver.Memory     { return r.out }
func scratchOf(r *exchanger) *driver.Memory { return r.scratch }

// addresses are those of every rank, as the kernels take them.
func (e *exchange) addresses(of func(*exchanger) *driver.Memory, offset int64) (all [mostRanks]uint64) {
	for i, r := range e.ranks {
		all[i] = of(r).Address(offset)
	}
	return all
}

// variants are the ways to add a vector of so many bytes up, on a GPU with so
// many multiprocessors. All blocks of a launch must run at once.
func allReduceVariants(bytes, sms int, dependent bool) []variant {
	var out []variant
	words := bytes / 8
	for _, warps := range []int{2, 4, 8, 16} {
		if n := (words + 32*warps - 1) / (32 * warps); bytes <= mostPackets && n <= exchangeBlocks {
			out = append(out, variant{entry: "allreduce_packets", warps: warps, blocks: n})
		}
	}
	for _, n := range []int{8, 32, min(128, sms)} {
		v := variant{warps: 16, blocks: min(n, (words+1023)/1024)}
		v.entry = "allreduce_one_shot"
		out = append(out, v)
		if bytes >= leastShared {
			v.entry = "allreduce_two_shot"
			out = append(out, v)
		}
	}
	out = slices.Compact(out)
	if !dependent {
		return out
	}
	var both []variant
	for _, order := range []uint32{early, late} {
		for _, v := range out {
			v.order = order
			both = append(both, v)
		}
	}
	return both
}

// choose times the variants and keeps the fastest.
func (e *exchange) choose(ctx context.Context, dependent bool) error {
	best, fastest := -1, math.Inf(1)
	all := allReduceVariants(e.bytes, e.ranks[0].m.device.GPU().SMs, dependent)
	for i, v := range all {
		if err := e.use(v); err != nil {
			return err
		}
		var took []float64
		for range tries {
			t, err := e.Time(ctx, 1)
			if err != nil {
				return err
			}
			took = append(took, t[0])
		}
		slices.Sort(took)
		if took[tries/2] < fastest {
			best, fastest = i, took[tries/2]
		}
	}
	return e.use(all[best])
}

// use makes every rank's graph of a variant.
func (e *exchange) use(v variant) error {
	rounds := leastNodes / exchangeCopies
	if e.bytes > mostPackets {
		rounds = 4 // nodes are long
	}
	e.runs, e.ran = rounds*exchangeCopies, false
	e.kernel = fmt.Sprintf("%s, %s of %d threads", v.entry, plural(v.blocks, "block"), 32*v.warps)
	for i, r := range e.ranks {
		r.graph.Free()
		k, err := r.m.kernel("allreduce", fmt.Sprintf("%s_%d", v.entry, len(e.ranks)), 0)
		if err != nil {
			return err
		}
		var round []*driver.Launch
		for c := range exchangeCopies {
			at := int64(c * e.bytes)
			l := &driver.Launch{Kernel: k, Grid: v.blocks, Block: 32 * v.warps, Dependent: v.order != ordered}
			round = append(round, l.Arg(e.addresses(inOf, at), e.addresses(outOf, at), e.addresses(scratchOf, 0),
				uint32(i), uint32(e.bytes/8), r.state.Address(0), r.patience(), v.order))
		}
		if r.graph, err = r.m.device.Graph(slices.Repeat(round, rounds)); err != nil {
			return err
		}
	}
	return nil
}
