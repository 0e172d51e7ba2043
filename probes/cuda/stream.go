//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// most of what the streams go over, and the least in second-level caches.
const (
	streamMost  = 4 << 30
	streamLeast = 2 * cold
)

// streamBytes is how much one launch reads: so much that its start and its end
// do not count, as far as memory goes. 0 where there is too little.
func streamBytes(h probes.Host) int64 {
	n := int64(min(streamMost, h.Budget/2)) &^ (1<<20 - 1)
	if h.GPU == nil || unit.Bytes(n) < streamLeast*h.GPU.L2 {
		return 0
	}
	return n
}

func checkStream(h probes.Host) error {
	if _, err := on(h); err != nil {
		return err
	}
	if streamBytes(h) == 0 {
		return fmt.Errorf("%w: %s of GPU memory for operands, too little beside a second-level cache of %s", probes.ErrUnsupported, h.Budget, h.GPU.L2)
	}
	return nil
}

// Read is the reference that every other probe of the GPU is held against.
var Read = probes.Probe{
	Name:     "cuda/read",
	Doc:      "reads GPU memory and nothing else: the bandwidth that decode can reach",
	Formula:  "bytes of the array",
	Checked:  "the exclusive or of all words, exactly",
	Provides: []roofline.Resource{roofline.DRAMRead},
	Check:    checkStream,
	Plan: func(h probes.Host) []probes.Case {
		n := streamBytes(h)
		return []probes.Case{{Name: unit.Bytes(n).String(), Shape: map[string]int{"bytes": int(n)}, Bytes: unit.Bytes(n)}}
	},
	Prepare: prepareRead,
}

// mostBlocks is the most blocks of a read for each multiprocessor.
const mostBlocks = 8

// readVariants are the ways of reading: which of them the memory likes best
// differs between GPUs.
func readVariants() []variant {
	const ring = 16 * 3 * 4096 // read_ring's, of 16 warps
	return []variant{
		{entry: "read_words", warps: 16, resident: 1}, {entry: "read_words", warps: 16, resident: 2},
		{entry: "read_words", warps: 16, resident: 2, waves: 2}, {entry: "read_words", warps: 16, resident: 2, waves: 4},
		{entry: "read_runs", warps: 16, resident: 1}, {entry: "read_runs", warps: 16, resident: 2}, {entry: "read_runs", warps: 16, resident: 2, waves: 2},
		{entry: "read_ring", warps: 16, resident: 1, shared: ring},
	}
}

func copyVariants() []variant {
	return []variant{{entry: "copy_words", warps: 16, resident: 1}, {entry: "copy_words", warps: 16, resident: 2}, {entry: "copy_words", warps: 16, resident: 2, waves: 2}}
}

func prepareRead(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	s := &subject{m: m, copies: 1, each: c.Bytes}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	n := int64(c.Bytes)
	from, err := s.allocate(h, n)
	if err != nil {
		return nil, err
	}
	sums, err := s.allocate(h, int64(8*mostBlocks*m.device.GPU().SMs))
	if err != nil {
		return nil, err
	}
	s.output = sums
	random := seed()
	if err := m.fill(ctx, "fill_words", from, uint64(n/8), random); err != nil {
		return nil, err
	}
	var blocks int
	err = s.choose(ctx, "read", readVariants(), func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		blocks = v.grid(m.device.GPU())
		l := &driver.Launch{Kernel: k, Grid: blocks, Block: v.warps * 32, Shared: v.shared}
		return []*driver.Launch{l.Arg(from.Address(0), uint64(n/16), sums.Address(0))}
	})
	if err != nil {
		return nil, err
	}
	s.verify = func() (probes.Correctness, error) {
		got, err := xorOf(sums, blocks)
		return exact(got == wordsXor(random, 0, uint64(n/8))), err
	}
	return s, nil
}

// xorOf joins the sums of a read's blocks.
func xorOf(sums *driver.Memory, blocks int) (uint64, error) {
	each := make([]uint64, blocks)
	err := driver.Read(sums, 0, each)
	var x uint64
	for _, v := range each {
		x ^= v
	}
	return x, err
}

// exact is the correctness of a result that is right or wrong.
func exact(ok bool) probes.Correctness {
	c := probes.Correctness{Values: 1, Comment: "exact"}
	if !ok {
		c.RelativeL2, c.MaxAbs = 1, 1
	}
	return c
}

// Copy is a read with a write beside it.
var Copy = probes.Probe{
	Name:    "cuda/copy",
	Doc:     "copies GPU memory: reading with as much writing beside it",
	Formula: "2 · bytes of the array",
	Checked: "the exclusive or of all words, and 64 pieces word for word, exactly",
	Check:   checkStream,
	Plan: func(h probes.Host) []probes.Case {
		n := streamBytes(h) / 2
		return []probes.Case{{Name: unit.Bytes(n).String(), Shape: map[string]int{"bytes": int(n)}, Bytes: unit.Bytes(2 * n), Written: unit.Bytes(n)}}
	},
	Prepare: prepareCopy,
}

func prepareCopy(ctx context.Context, h probes.Host, c probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	s := &subject{m: m, copies: 1, each: c.Bytes}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	n := int64(c.Bytes / 2)
	from, err := s.allocate(h, n)
	if err != nil {
		return nil, err
	}
	to, err := s.allocate(h, n)
	if err != nil {
		return nil, err
	}
	random := seed()
	if err := m.fill(ctx, "fill_words", from, uint64(n/8), random); err != nil {
		return nil, err
	}
	if err := to.Fill(poison); err != nil {
		return nil, err
	}
	err = s.choose(ctx, "copy", copyVariants(), func(k *driver.Kernel, v variant, _ int) []*driver.Launch {
		l := &driver.Launch{Kernel: k, Grid: v.grid(m.device.GPU()), Block: v.warps * 32}
		return []*driver.Launch{l.Arg(to.Address(0), from.Address(0), uint64(n/16))}
	})
	if err != nil {
		return nil, err
	}
	s.verify = func() (probes.Correctness, error) { return verifyCopy(m, h, to, random) }
	return s, nil
}

// verifyCopy reads all of a copy with the read kernel, and pieces of it here.
func verifyCopy(m *Machine, h probes.Host, to *driver.Memory, random uint64) (probes.Correctness, error) {
	blocks := m.device.GPU().SMs
	sums, err := m.allocate(h, int64(8*blocks))
	if err != nil {
		return probes.Correctness{}, err
	}
	defer sums.Free()
	k, err := m.kernel("read", "read_words", 0)
	if err != nil {
		return probes.Correctness{}, err
	}
	l := &driver.Launch{Kernel: k, Grid: blocks, Block: 512}
	if err := m.run(context.Background(), l.Arg(to.Address(0), uint64(to.Size()/16), sums.Address(0))); err != nil {
		return probes.Correctness{}, err
	}
	got, err := xorOf(sums, blocks)
	if err != nil {
		return probes.Correctness{}, err
	}
	ok := got == wordsXor(random, 0, uint64(to.Size()/8))
	const piece = 64 << 10
	buffer := make([]uint64, piece/8)
	for _, p := range sampled(int(to.Size()/piece), 64) {
		if err := driver.Read(to, int64(p)*piece, buffer); err != nil {
			return probes.Correctness{}, err
		}
		for i, v := range buffer {
			ok = ok && v == word(random, uint64(p*piece/8+i))
		}
	}
	return exact(ok), nil
}
