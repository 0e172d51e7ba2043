//go:build cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline/unit"
)

// subject is one operation over copies of its operands. What is timed is a
// CUDA graph that runs it on each copy in turn, whole rounds of them.
type subject struct {
	m      *Machine
	kernel string // what runs
	memory []*driver.Memory
	output *driver.Memory // poisoned before each timing
	begin  *driver.Launch // once in front of each graph, nil for nothing
	graph  *driver.Graph
	rounds int // of all copies in the graph
	copies int
	each   unit.Bytes
	ran    bool
	graphs int // run since the graph was made

	// verify compares what the last copy's run left with float64 arithmetic.
	verify func() (probes.Correctness, error)
}

// How large a graph is.
const (
	leastNodes = 256 // where a node is short: the host starts graphs more slowly than the GPU ends nodes
	mostCaches = 64  // that one graph goes over, but for one round: then no node is short
)

// poison fills what must be overwritten: as float32, bfloat16 or binary16 it
// is no number.
const poison = 0xff

// nodes makes the graph; launch gives the launches of one copy.
func (s *subject) nodes(launch func(copy int) []*driver.Launch) error {
	s.graph.Free()
	s.rounds = (leastNodes + s.copies - 1) / s.copies
	if round := float64(s.copies) * float64(s.each); round > 0 {
		s.rounds = max(min(s.rounds, int(mostCaches*float64(s.m.device.GPU().L2)/round)), 1)
	}
	if s.m.sparing {
		s.rounds = 1
	}
	var all []*driver.Launch
	if s.begin != nil {
		all = append(all, s.begin)
	}
	for range s.rounds {
		for c := range s.copies {
			all = append(all, launch(c)...)
		}
	}
	s.graphs = 0
	var err error
	s.graph, err = s.m.device.Graph(all)
	return err
}

// runs is how often the graph runs the operation.
func (s *subject) runs() int { return s.rounds * s.copies }

// enqueueing is how long the host takes to start one graph, at most; a hold of
// that length is in front of each timing.
const enqueueing = 100 * time.Microsecond

// Time runs whole graphs until the operation ran n times or more, and returns
// the mean of those runs n times: single runs of some microseconds cannot be
// told apart by the GPU's events without being drawn apart.
func (s *subject) Time(ctx context.Context, n int) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.output != nil {
		if err := s.output.Fill(poison); err != nil {
			return nil, err
		}
	}
	times := (n + s.runs() - 1) / s.runs()
	seconds, err := s.m.device.Time(ctx, s.m.limit, slices.Repeat([]*driver.Graph{s.graph}, times), s.m.hold(enqueueing))
	if err != nil {
		return nil, err
	}
	s.ran = true
	s.graphs += times
	return slices.Repeat([]float64{seconds / float64(times*s.runs())}, n), nil
}

// Verify checks what the last run left.
func (s *subject) Verify() (probes.Correctness, error) {
	if !s.ran {
		return probes.Correctness{}, errors.New("nothing has run yet")
	}
	return s.verify()
}

// Kernel names what runs.
func (s *subject) Kernel() string { return s.kernel }

// Close frees the operands.
func (s *subject) Close() {
	s.graph.Free()
	for _, m := range s.memory {
		m.Free()
	}
}

// allocate is memory that Close frees.
func (s *subject) allocate(h probes.Host, size int64) (*driver.Memory, error) {
	m, err := s.m.allocate(h, size)
	if err == nil {
		s.memory = append(s.memory, m)
	}
	return m, err
}

// copyIn copies values to memory that Close frees.
func copyIn[T any](s *subject, h probes.Host, values []T) (*driver.Memory, error) {
	m, err := s.allocate(h, int64(len(values))*int64(unsafe.Sizeof(*new(T))))
	if err != nil {
		return nil, err
	}
	return m, driver.Write(m, 0, values)
}

// variant is one way to launch an operation.
type variant struct {
	entry    string
	source   string // of the entry, where it is not the operation's
	second   string // of the launch after it, if the operation has two
	warps    int
	resident int // blocks that a multiprocessor runs at a time
	waves    int // of such blocks in the grid; 0 for one
	blocks   int // of the grid instead, where it follows from the shape
	cluster  int // blocks of a cluster, 0 for none
	shared   int // bytes of dynamic shared memory of a block
	order    uint32
}

// grid is the launch's blocks.
func (v variant) grid(g probes.GPU) int {
	if v.blocks > 0 {
		return v.blocks
	}
	return g.SMs * v.resident * max(v.waves, 1)
}

// The orders of device.h: when a kernel lets its successor start.
const (
	ordered uint32 = iota
	early
	late
)

func (v variant) String() string {
	blocks := v.resident * max(v.waves, 1) // of a multiprocessor
	if v.blocks > 0 {
		blocks = v.blocks
	}
	name := fmt.Sprintf("%s, %s", v.entry, plural(blocks, "block"))
	if v.blocks > 0 {
		name += fmt.Sprintf(" of %d threads", 32*v.warps)
	}
	if v.cluster > 0 {
		name += fmt.Sprintf(" in clusters of %d", v.cluster)
	}
	switch v.order {
	case early:
		name += ", successor started early"
	case late:
		name += ", successor started late"
	}
	return name
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// tries is how often a variant is timed before one is chosen.
const tries = 5

// choose times the variants that fit this GPU and keeps the fastest. All are
// ours and compute the same; which is fastest depends on the shape and the GPU.
func (s *subject) choose(ctx context.Context, source string, all []variant, launch func(k *driver.Kernel, v variant, copy int) []*driver.Launch) error {
	g := s.m.device.GPU()
	best, fastest := -1, 0.0
	use := func(v variant) (bool, error) {
		if v.shared > g.SharedPerBlock {
			return false, nil
		}
		from := source
		if v.source != "" {
			from = v.source
		}
		k, err := s.m.kernel(from, v.entry, v.shared)
		if v.source != "" && errors.Is(err, probes.ErrUnsupported) {
			return false, nil // written for other GPUs, or for later drivers
		}
		if err != nil {
			return false, err
		}
		if fit, err := k.Resident(v.warps*32, v.shared); err != nil || fit < v.resident {
			return false, err
		}
		return true, s.nodes(func(copy int) []*driver.Launch { return launch(k, v, copy) })
	}
	for i, v := range all {
		ok, err := use(v)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		var took []float64
		for range tries {
			t, err := s.Time(ctx, 1)
			if err != nil {
				return err
			}
			took = append(took, t[0])
		}
		slices.Sort(took)
		if t := took[tries/2]; best < 0 || t < fastest {
			best, fastest = i, t
		}
	}
	if best < 0 {
		return fmt.Errorf("%w: no variant of %s fits a multiprocessor of %s", probes.ErrUnsupported, source, g.Name)
	}
	s.kernel = all[best].String()
	s.ran = false
	_, err := use(all[best])
	return err
}
