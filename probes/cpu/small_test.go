//go:build cgo && linux

package cpu

import (
	"errors"
	"testing"

	"decodegap/probes"
)

// small are the probes whose time, not bandwidth, is the result.
func small() []probes.Probe {
	return []probes.Probe{Router, Norm, RoPE, KVWrite, Activation, Sampling, Embedding, AllReduce, Barrier, Wake}
}

// TestSmallProbes runs every case as it is timed, with every instruction set.
func TestSmallProbes(t *testing.T) {
	h := testHost
	h.CPUs = []int{-1, -1}
	for _, p := range small() {
		if err := p.Check(h); err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Plan(h) {
			if c.Bytes != 0 {
				t.Errorf("%s, %s: %v bytes, though its operands lie in the cache", p.Name, c.Name, c.Bytes)
			}
			for _, isa := range Supported() {
				if isa == AMX || isa == BF16 || isa == VNNI {
					continue // these kinds have no kernels of their own for them
				}
				c.ISA = isa.String()
				checkRuns(t, h, c, p.Prepare)
			}
		}
		if _, err := p.Prepare(t.Context(), h, probes.Case{Name: "no shape", ISA: "scalar"}); err == nil && p.Name != Barrier.Name && p.Name != Wake.Name {
			t.Errorf("%s: a case without a shape: no error", p.Name)
		}
	}
}

// TestOneThread: what needs two threads says so.
func TestOneThread(t *testing.T) {
	h := probes.Host{CPUs: []int{-1}}
	for _, p := range []probes.Probe{AllReduce, Barrier, Wake} {
		if err := p.Check(h); !errors.Is(err, probes.ErrUnsupported) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if _, err := prepareWake(t.Context(), h, probes.Case{}); !errors.Is(err, probes.ErrUnsupported) {
		t.Errorf("waking one thread: %v", err)
	}
}

// BenchmarkSmall prints the quickest run of each: what other work on the
// machine cannot make slower.
func BenchmarkSmall(b *testing.B) {
	for _, p := range small() {
		for _, c := range p.Plan(benchHost) {
			b.Run(p.Name+" "+c.Name, func(b *testing.B) { quickest(b, benchHost, c, p.Prepare) })
		}
	}
}
