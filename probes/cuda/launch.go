//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"slices"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/roofline"
)

// nodeThreads is a block of the empty kernel; there is one for each
// multiprocessor, as in a decode step.
const nodeThreads = 256

// GraphNode is what it costs a CUDA graph to go on to its next node.
var GraphNode = probes.Probe{
	Name:     "cuda/graph_node",
	Doc:      "an empty kernel as a node of a CUDA graph, each node after the one before",
	Formula:  "none: the time is the result",
	Checked:  "a counter at the head of each graph",
	Provides: []roofline.Resource{roofline.GraphNode},
	Check:    checkGPU,
	Plan:     planNode,
	Prepare: func(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
		return prepareNode(ctx, h, false)
	},
}

// DependentNode is the same where each node may begin before the one before
// has ended.
var DependentNode = probes.Probe{
	Name:    "cuda/graph_node_pdl",
	Doc:     "an empty kernel as a node of a CUDA graph, launched dependently: it starts early and waits for the one before",
	Formula: "none: the time is the result",
	Checked: "a counter at the head of each graph",
	Check: func(h probes.Host) error {
		if err := checkGPU(h); err != nil {
			return err
		}
		if h.GPU.Major < 9 {
			return fmt.Errorf("%w: dependent launches need compute capability 9.0, this GPU has %d.%d", probes.ErrUnsupported, h.GPU.Major, h.GPU.Minor)
		}
		return nil
	},
	Plan: planNode,
	Prepare: func(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
		return prepareNode(ctx, h, true)
	},
}

func planNode(h probes.Host) []probes.Case {
	return []probes.Case{{Name: fmt.Sprintf("%d×%d threads", h.GPU.SMs, nodeThreads), Shape: map[string]int{"blocks": h.GPU.SMs, "threads": nodeThreads}}}
}

// counter is a kernel that adds one to a word.
func (s *subject) counter(h probes.Host) (*driver.Launch, *driver.Memory, error) {
	word, err := s.allocate(h, 4)
	if err != nil {
		return nil, nil, err
	}
	k, err := s.m.kernel("hold", "count", 0)
	if err != nil {
		return nil, nil, err
	}
	return (&driver.Launch{Kernel: k, Grid: 1, Block: 1}).Arg(word.Address(0)), word, nil
}

// nothing is the empty kernel.
func (m *Machine) nothing(dependent bool) (*driver.Launch, error) {
	k, err := m.kernel("hold", "nothing", 0)
	if err != nil {
		return nil, err
	}
	l := &driver.Launch{Kernel: k, Grid: m.device.GPU().SMs, Block: nodeThreads, Dependent: dependent}
	if dependent {
		return l.Arg(early), nil
	}
	return l.Arg(ordered), nil
}

func prepareNode(_ context.Context, h probes.Host, dependent bool) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	s := &subject{m: m, copies: 1, kernel: "empty, graph"}
	if dependent {
		s.kernel = "empty, graph, dependent"
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	var word *driver.Memory
	if s.begin, word, err = s.counter(h); err != nil {
		return nil, err
	}
	l, err := m.nothing(dependent)
	if err != nil {
		return nil, err
	}
	if err := driver.Write(word, 0, []uint32{0}); err != nil {
		return nil, err
	}
	if err := s.nodes(func(int) []*driver.Launch { return []*driver.Launch{l} }); err != nil {
		return nil, err
	}
	s.verify = func() (probes.Correctness, error) {
		got := []uint32{0}
		err := driver.Read(word, 0, got)
		c := exact(int(got[0]) == s.graphs)
		c.Comment = "graphs counted"
		return c, err
	}
	return s, nil
}

// StreamLaunch is what a launch costs without a graph.
var StreamLaunch = probes.Probe{
	Name:    "cuda/stream_launch",
	Doc:     "an empty kernel launched one by one by the host: how far eager execution can go",
	Formula: "none: the time is the result",
	Checked: "a counter at the head of each series",
	Check:   checkGPU,
	Plan:    planNode,
	Prepare: prepareStream,
}

// series are the launches of the host that are timed together.
const series = 256

// stream is the subject of launches one by one.
type stream struct {
	subject
	all []*driver.Launch
}

func prepareStream(_ context.Context, h probes.Host, _ probes.Case) (_ probes.Subject, err error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	s := &stream{subject: subject{m: m, copies: 1, kernel: "empty, launched by the host"}}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	count, word, err := s.counter(h)
	if err != nil {
		return nil, err
	}
	l, err := m.nothing(false)
	if err != nil {
		return nil, err
	}
	if err := driver.Write(word, 0, []uint32{0}); err != nil {
		return nil, err
	}
	s.all = append([]*driver.Launch{count}, slices.Repeat([]*driver.Launch{l}, series)...)
	s.verify = func() (probes.Correctness, error) {
		got := []uint32{0}
		err := driver.Read(word, 0, got)
		c := exact(int(got[0]) == s.graphs)
		c.Comment = "series counted"
		return c, err
	}
	return s, nil
}

// Time launches whole series until there were n launches or more.
func (s *stream) Time(ctx context.Context, n int) ([]float64, error) {
	var sum float64
	times := (n + series - 1) / series
	for range times {
		gpu, _, err := s.m.device.TimeStream(ctx, s.m.limit, s.all)
		if err != nil {
			return nil, err
		}
		sum += gpu
		s.graphs++
	}
	s.ran = true
	return slices.Repeat([]float64{sum / float64(times*series)}, n), nil
}
