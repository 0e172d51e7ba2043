//go:build cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// group is n GPUs of this host, the session's first. Their kernels reach each
// other's memory.
type group []*Machine

// group opens further GPUs, in the driver's order, and makes sure that what
// each writes to another arrives.
func (m *Machine) group(ctx context.Context, n int) (group, error) {
	for i := 0; len(m.others) < n-1; i++ {
		opened := func(o *Machine) bool { return o.device.GPU().Index == i }
		if i == m.device.GPU().Index || slices.ContainsFunc(m.others, opened) {
			continue
		}
		o, err := openOn(m.library, i, m.limit)
		if err != nil {
			return nil, fmt.Errorf("open GPU %d beside GPU %d: %w", i, m.device.GPU().Index, err)
		}
		m.others = append(m.others, o)
	}
	g := append(group{m}, m.others[:n-1]...)
	for _, from := range g {
		for _, to := range g {
			if from == to {
				continue
			}
			way, err := from.wayTo(ctx, to)
			if err != nil {
				return nil, err
			}
			if way != direct {
				return nil, fmt.Errorf("%w: peer-to-peer access from GPU %d to GPU %d is %s: no kernel of the one can write to the other", probes.ErrUnsupported,
					from.device.GPU().Index, to.device.GPU().Index, way)
			}
		}
	}
	return g, nil
}

// way is how data gets from one GPU to another.
type way string

// The ways, found by trying: what a driver says it can is not always so.
const (
	direct way = "direct"                            // a kernel's own store arrives
	staged way = "staged through the host"           // only the driver's copies arrive
	absent way = "absent, even by the driver's copy" // nothing does
)

// wayTo tries to write to a peer's memory, by a kernel and then by a copy.
func (m *Machine) wayTo(ctx context.Context, peer *Machine) (way, error) {
	word := rand.Uint32() | 1
	to, err := peer.device.Allocate(4)
	if err != nil {
		return "", err
	}
	defer to.Free()
	arrived := func() (bool, error) {
		got := []uint32{0}
		err := driver.Read(to, 0, got)
		return got[0] == word, err
	}
	if err := driver.Write(to, 0, []uint32{0}); err != nil {
		return "", err
	}
	err = m.device.Reach(peer.device)
	if err == nil {
		k, err := m.kernel("allreduce", "greet", 0)
		if err != nil {
			return "", err
		}
		if err := m.run(ctx, (&driver.Launch{Kernel: k, Grid: 1, Block: 1}).Arg(to.Address(0), word)); err != nil {
			return "", err
		}
		if ok, err := arrived(); ok || err != nil {
			return direct, err
		}
	} else if !errors.Is(err, probes.ErrUnsupported) {
		return "", err
	}
	from, err := m.device.Allocate(4)
	if err != nil {
		return "", err
	}
	defer from.Free()
	if err := driver.Write(from, 0, []uint32{word}); err != nil {
		return "", err
	}
	if err := m.device.CopyTo(peer.device, to, from); err != nil {
		if m.device.Lost() != nil || peer.device.Lost() != nil {
			return "", err
		}
		return absent, nil
	}
	ok, err := arrived()
	if err != nil || !ok {
		return absent, err
	}
	return staged, nil
}
