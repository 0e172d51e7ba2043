//go:build cgo && linux

package cuda

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/cudatest"
)

// betweenProducts are the probes of the kernels between the products.
var betweenProducts = []probes.Probe{Router, Norm, RoPE, KVWrite, Activation, Permute, Sampling, Embedding}

// TestUncomputed: on the stand-in, which runs none of these kernels, every
// case is prepared and timed, and no check takes what it left for a result.
func TestUncomputed(t *testing.T) {
	t.Setenv("FAKECUDA_FREE", "1073741824")
	m, err := Open(cudatest.Library(t, root), 0, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := m.Host(1 << 30)
	for _, p := range betweenProducts {
		cases := p.Plan(h)
		if n := len(cases); n == 0 || n%2 != 0 {
			t.Errorf("%s: %d cases, expected each plain and dependent", p.Name, n)
		}
		for i, c := range cases {
			if dependent := i%2 == 1; (c.Shape["pdl"] == 1) != dependent || strings.HasSuffix(c.Name, " PDL") != dependent {
				t.Errorf("%s, %s: shape %v", p.Name, c.Name, c.Shape)
			}
			if m := c.Shape["m"]; m > 16 && testing.Short() {
				continue
			}
			s, err := p.Prepare(t.Context(), h, c)
			if err != nil {
				t.Errorf("%s, %s: %v", p.Name, c.Name, err)
				continue
			}
			if _, err := s.Verify(); err == nil || !strings.Contains(err.Error(), "nothing has run") {
				t.Errorf("%s, %s: checked before it ran: %v", p.Name, c.Name, err)
			}
			if _, err := s.Time(t.Context(), 1); err != nil {
				t.Errorf("%s, %s: %v", p.Name, c.Name, err)
			}
			if got, err := s.Verify(); err == nil && got.OK() {
				t.Errorf("%s, %s: poison passes for a result: %+v", p.Name, c.Name, got)
			}
			s.Close()
		}
	}
}

// TestRefusedShapes: what a kernel is not written for is no failure.
func TestRefusedShapes(t *testing.T) {
	m, err := Open(cudatest.Library(t, root), 0, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, c := range []struct {
		probe probes.Probe
		of    probes.Case
	}{
		{Norm, rowCase("BF16", 1, 4104)},
		{Norm, rowCase("BF16", 1, 1<<17)},
		{Activation, rowCase("FP8", 1, 100)},
		{RoPE, probes.Case{Shape: map[string]int{"m": 1, "heads": 4, "kv_heads": 1, "head_dim": 64}}},
		{Permute, probes.Case{Shape: map[string]int{"m": 65, "experts": 256, "chosen": 8, "hidden": 2048}}},
		{Sampling, probes.Case{Shape: map[string]int{"m": 1, "size": 1 << 21}}},
		{Embedding, rowCase("BF16", 1, 8)},
	} {
		s, err := c.probe.Prepare(t.Context(), m.Host(1<<20), c.of)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), probes.ErrUnsupported.Error()) {
			t.Errorf("%s, %v: %v, expected it to be unsupported", c.probe.Name, c.of.Shape, err)
		}
	}
}

// TestNearest: the nearest code passes, its neighbours do not.
func TestNearest(t *testing.T) {
	for name, c := range map[string]codes{"E4M3": e4m3Codes, "E2M1": e2m1Codes} {
		sign := map[string]int{"E4M3": 128, "E2M1": 8}[name]
		for _, v := range []float64{0, 0.001, 0.0105, 0.3, 0.74, 1.2, 2.4, 5.1, 5.9, -0.3, -1.9, -7} {
			best := 0
			for i := range c {
				if math.Abs(c[i]-math.Abs(v)) < math.Abs(c[best]-math.Abs(v)) {
					best = i
				}
			}
			for m := range c {
				code := m
				if v < 0 {
					code += sign
				}
				got, err := c.nearest(code, 0.5*v, 0.5)
				if (err == nil) != (m == best) {
					t.Errorf("%s: code %#x for %g: %v, the nearest is %#x", name, code, v, err, best)
				}
				if err == nil && got != math.Copysign(0.5*c[best], v) {
					t.Errorf("%s: code %#x is %g", name, code, got)
				}
			}
			if _, err := c.nearest(best+sign, v, 1); err == nil && v > 0 && best > 0 {
				t.Errorf("%s: the wrong sign of %g passes", name, v)
			}
		}
	}
	if _, err := e4m3Codes.nearest(0x7f, 480, 1); err == nil {
		t.Error("E4M3's NaN passes for a value")
	}
}

// TestTileAt: every scale of whole tiles has a place of its own.
func TestTileAt(t *testing.T) {
	const rows, groups = 256, 12
	var at []int
	for r := range rows {
		for g := range groups {
			at = append(at, tileAt(r, g, groups))
		}
	}
	slices.Sort(at)
	for i, p := range at {
		if i != p {
			t.Fatalf("place %d is %d", i, p)
		}
	}
	// Of a row, four blocks side by side; of a tile, row 32 beside row 0.
	for _, c := range []struct{ row, group, want int }{{0, 3, 3}, {32, 0, 4}, {1, 0, 16}, {0, 4, 512}, {128, 0, 1536}} {
		if got := tileAt(c.row, c.group, groups); got != c.want {
			t.Errorf("scale of row %d, block %d at %d, expected %d", c.row, c.group, got, c.want)
		}
	}
}
