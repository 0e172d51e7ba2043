//go:build cgo && linux

package cuda

import (
	"errors"
	"slices"
	"testing"

	"decodegap/probes"
	"decodegap/probes/cuda/cudatest"
	"decodegap/probes/cuda/driver"
)

// stand is the stand-in, opened by this process.
func stand(t *testing.T) *Machine {
	t.Helper()
	m, err := Open(cudatest.Library(t, root), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// TestVariantEntries: whatever a product may be launched as is in the PTX, on a
// GPU that has an architecture's own kernels too.
func TestVariantEntries(t *testing.T) {
	m := stand(t)
	h := m.Host(0)
	for _, sms := range []int{2, 132, 188} {
		h.GPU.SMs = sms
		for _, g := range []gemv{nvfp4Few, bf16Few} {
			for tokens := 1; tokens <= mostTokens; tokens++ {
				for _, v := range g.variants(h, product{tokens, matrix{6144, 6144}}) {
					from := g.source
					if v.source != "" {
						from = v.source
					}
					if v.source != "" && v.shared > h.GPU.SharedPerBlock {
						t.Errorf("%d multiprocessors, %d tokens: %s has %d bytes of shared memory", sms, tokens, v, v.shared)
					}
					if _, err := m.kernel(from, v.entry, min(v.shared, h.GPU.SharedPerBlock)); err != nil {
						t.Errorf("%d multiprocessors, %d tokens: %v", sms, tokens, err)
					}
				}
			}
		}
	}
}

// TestChooseElsewhere: what is written for other GPUs is left out, and where
// nothing is left the operation is unsupported.
func TestChooseElsewhere(t *testing.T) {
	elsewhere, here := variant{source: "of another architecture", entry: "x", warps: 1}, variant{entry: "hold", warps: 1}
	for _, c := range []struct {
		all  []variant
		want string
	}{
		{[]variant{elsewhere, here}, here.String()},
		{[]variant{here, elsewhere}, here.String()},
		{[]variant{elsewhere}, ""},
	} {
		s := &subject{m: stand(t), copies: 1, each: 1}
		err := s.choose(t.Context(), "hold", c.all, func(k *driver.Kernel, v variant, copy int) []*driver.Launch {
			return []*driver.Launch{(&driver.Launch{Kernel: k, Grid: 1, Block: 1}).Arg(uint64(0))}
		})
		if c.want == "" && !errors.Is(err, probes.ErrUnsupported) || c.want != "" && (err != nil || s.Kernel() != c.want) {
			t.Errorf("%v: %q, %v; expected %q", slices.Collect(slices.Values(c.all)), s.Kernel(), err, c.want)
		}
		s.Close()
	}
}
