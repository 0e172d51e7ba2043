//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"
	"math/rand/v2"

	"decodegap/probes"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// readBytes is what one run of the read probe goes over: long enough that
// starting and ending it does not count.
const readBytes = 256 << 20

// Read is the reference that every other probe is held against.
var Read = probes.Probe{
	Name:     "cpu/read",
	Doc:      "reads memory and nothing else: the bandwidth that decode can reach",
	Formula:  "bytes of the array",
	Checked:  "the exclusive or of all words, exactly",
	Provides: []roofline.Resource{roofline.DRAMRead},
	Check:    func(probes.Host) error { return nil },
	Plan: func(h probes.Host) []probes.Case {
		return []probes.Case{{
			Name: fmt.Sprintf("%s, all threads", unit.Bytes(readBytes)), Shape: map[string]int{"bytes": readBytes}, Bytes: readBytes,
		}}
	},
	Prepare: prepareRead,
}

func prepareRead(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	n, err := copies(h, c.Bytes)
	if err != nil {
		return nil, err
	}
	s, err := newSubject(h, c, C.DG_READ, n)
	if err != nil {
		return nil, err
	}
	size := int64(c.Bytes)
	threads := s.pool.Threads()
	out, err := s.allocate(int64(64 * threads))
	if err != nil {
		return nil, err
	}
	random := rand.NewPCG(1, 2)
	sums := make([]uint64, n)
	for i := range n {
		m, err := s.spread(ctx, size)
		if err != nil {
			return nil, err
		}
		if sums[i], err = fillWords(ctx, of[uint64](m), random); err != nil {
			s.Close()
			return nil, err
		}
		op := s.op(i)
		op.bytes = C.int64_t(size)
		op.w, op.y = m.at, out.at
	}
	return &readSubject{subject: s, right: func(copy int) bool {
		var sum uint64
		for t := range threads {
			sum ^= of[uint64](out)[8*t]
		}
		return sum == sums[copy]
	}}, nil
}

// readSubject is checked after each series of runs: the ceiling of those that
// an interrupt left whole stands, whatever it left of the last.
type readSubject struct {
	*subject
	right func(copy int) bool
	wrong bool
}

func (s *readSubject) Time(ctx context.Context, n int) ([]float64, error) {
	t, err := s.subject.Time(ctx, n)
	if err == nil && !s.right(s.last) {
		s.wrong = true
	}
	return t, err
}

// Verify says whether every series read the right values.
func (s *readSubject) Verify() (probes.Correctness, error) {
	if s.last < 0 {
		return probes.Correctness{}, errNotRun
	}
	return exact(!s.wrong), nil
}

// fillWords writes a random pattern, shifted by a word from page to page so
// that a line that is missed or read twice shows, and returns its exclusive or.
func fillWords(ctx context.Context, words []uint64, random *rand.PCG) (sum uint64, err error) {
	var pattern [1021]uint64
	for i := range pattern {
		pattern[i] = random.Uint64()
	}
	for rest := words; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n := copy(rest, pattern[:])
		for _, v := range pattern[:n] {
			sum ^= v
		}
		rest = rest[n:]
		pattern[n%len(pattern)] += 0x9e3779b97f4a7c15
	}
	return sum, nil
}

// exact is the correctness of a result that is right or wrong.
func exact(ok bool) probes.Correctness {
	c := probes.Correctness{Values: 1, Comment: "exact"}
	if !ok {
		c.RelativeL2, c.MaxAbs = 1, 1
	}
	return c
}
