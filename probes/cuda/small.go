//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"maps"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/probes/reference"
)

// both are a case in its two forms: a node that waits for the one before, and
// one launched dependently, where the GPU can.
func both(h probes.Host, c probes.Case) []probes.Case {
	if h.GPU.Major < 9 {
		return []probes.Case{c}
	}
	pdl := c
	pdl.Name += " PDL"
	pdl.Shape = maps.Clone(c.Shape)
	pdl.Shape["pdl"] = 1
	return []probes.Case{c, pdl}
}

// small is a subject of a kernel between the products while it is made: its
// operands are few, known to the host, and stay in the second-level cache, as
// they do in a step. The first failure stands, later calls do nothing.
type small struct {
	*subject
	h      probes.Host
	c      probes.Case
	failed error
}

func newSmall(h probes.Host, c probes.Case) (*small, error) {
	m, err := on(h)
	if err != nil {
		return nil, err
	}
	s := &small{subject: &subject{m: m, copies: 1, each: c.Bytes}, h: h, c: c}
	for name, v := range c.Shape {
		if v < 0 {
			return nil, fmt.Errorf("%s of %d", name, v)
		}
	}
	return s, nil
}

// fail keeps the first error.
func (s *small) fail(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// room is memory of a size.
func (s *small) room(size int) *driver.Memory {
	if s.failed != nil {
		return &driver.Memory{}
	}
	m, err := s.allocate(s.h, int64(size))
	if err != nil {
		s.fail(err)
		return &driver.Memory{}
	}
	return m
}

// upload is memory that holds values.
func upload[T any](s *small, values []T, bytes int) *driver.Memory {
	m := s.room(len(values) * bytes)
	if s.failed == nil {
		s.fail(driver.Write(m, 0, values))
	}
	return m
}

// bf16s are n random values, their size differing from block of 16 to block as
// that of activations does, and one block in 61 zero.
func (s *small) bf16s(n int) (*driver.Memory, []uint16) {
	random := seed()
	values := make([]uint16, n)
	for i := range values {
		block := uint64(i / 16)
		if block%61 == 60 {
			continue
		}
		scale := float32(int(1) << (word(random, block) % 8))
		values[i] = reference.ToBF16(float32(int32(word(^random, uint64(i)))) / (1 << 31) / 16 * scale)
	}
	return upload(s, values, 2), values
}

// ready makes the graph of the fastest variant that the case allows: launched
// dependently, or not.
func (s *small) ready(ctx context.Context, source string, all []variant, launch func(k *driver.Kernel, v variant, copy int) []*driver.Launch, verify func() (probes.Correctness, error)) (probes.Subject, error) {
	var fitting []variant
	for _, v := range all {
		if (v.order != ordered) == (s.c.Shape["pdl"] == 1) {
			fitting = append(fitting, v)
		}
	}
	if s.failed == nil {
		s.failed = s.choose(ctx, source, fitting, launch)
	}
	if s.failed != nil {
		s.Close()
		return nil, s.failed
	}
	s.verify = verify
	return s.subject, nil
}

// launch is one launch of a variant.
func (v variant) launch(k *driver.Kernel, grid int, args ...any) *driver.Launch {
	return (&driver.Launch{Kernel: k, Grid: grid, Block: v.warps * 32, Cluster: v.cluster, Dependent: v.order != ordered}).Arg(args...).Arg(v.order)
}

// read is what memory holds.
func read[T any](m *driver.Memory, offset int64, n int) ([]T, error) {
	out := make([]T, n)
	return out, driver.Read(m, offset, out)
}

// inCache is the formula of probes whose operands lie in the second-level
// cache: bytes says what they touch.
func inCache(bytes string) string {
	return "none held against memory, all lies in the second-level cache: " + bytes
}
