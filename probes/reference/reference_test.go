package reference

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// TestBF16: the nearest, of two as near the even one, and back.
func TestBF16(t *testing.T) {
	for _, c := range []struct {
		v    float32
		want uint16
	}{{0, 0}, {1, 0x3f80}, {-2, 0xc000}, {1 + 1./256, 0x3f80}, {1 + 3./256, 0x3f82}, {1 + 1.01/256, 0x3f81}, {math.MaxFloat32, 0x7f80}} {
		if got := ToBF16(c.v); got != c.want {
			t.Errorf("%g is %#x, expected %#x", c.v, got, c.want)
		}
	}
	near(t, "value", BF16(0xbf81), -(1 + 1./128))
}

func TestNormalised(t *testing.T) {
	out := Normalised([]float64{3, -4}, []uint16{ToBF16(2), ToBF16(0.5)}, 0.5, 1)
	near(t, "first", out[0], 3/math.Sqrt(13)*3)
	near(t, "second", out[1], -4/math.Sqrt(13)*1.5)
}

// TestRotated: both styles turn the same pairs, lengths stay, the rest too,
// and the table has the same angles.
func TestRotated(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5}
	halves := Rotated(x, 4, false, 7, 100)
	pairs := Rotated([]float64{1, 3, 2, 4, 5}, 4, true, 7, 100)
	for i, at := range []int{0, 2, 1, 3, 4} {
		near(t, "pairs", pairs[i], halves[at])
	}
	near(t, "first", halves[0], math.Cos(7)-3*math.Sin(7))
	near(t, "third", halves[2], 3*math.Cos(7)+math.Sin(7))
	near(t, "slower", halves[1], 2*math.Cos(0.7)-4*math.Sin(0.7))
	near(t, "rest", halves[4], 5)
	table := make([]float32, 8*4)
	RotaryTable(table, 8, 4, 100)
	for i, want := range []float64{math.Cos(7), math.Cos(0.7), math.Sin(7), math.Sin(0.7)} {
		if table[7*4+i] != float32(want) {
			t.Errorf("table[%d] is %g, expected %g", i, table[7*4+i], want)
		}
	}
}

func TestGates(t *testing.T) {
	near(t, "SiLU", SiLU(2), 2/(1+math.Exp(-2)))
	near(t, "SiLU far below", SiLU(-800), 0)
	near(t, "GELU", GELU(1), 0.5*(1+math.Tanh(math.Sqrt(2/math.Pi)*1.044715)))
}

// TestDrawn: what may be drawn passes, all other tokens do not.
func TestDrawn(t *testing.T) {
	inf := float32(math.Inf(-1))
	logits := []float32{0, 2, 1, 2, inf} // in order: 1, 3, 2, 0, 4
	e1, e2 := math.Exp(-1), math.Exp(-2)
	total := 2 + e1 + e2
	for _, c := range []struct {
		name string
		how  Sampling
		row  []float32
		u    float64
		want []int32
	}{
		{"the first of equals", Greedy(), logits, 0.99, []int32{1}},
		{"start", Sampling{Temperature: 1, TopP: 1}, logits, 0, []int32{1}},
		{"second", Sampling{Temperature: 1, TopP: 1}, logits, 1.5 / total, []int32{3}},
		{"at an edge either", Sampling{Temperature: 1, TopP: 1}, logits, 1 / total, []int32{1, 3}},
		{"third", Sampling{Temperature: 1, TopP: 1}, logits, (2 + e1/2) / total, []int32{2}},
		{"fourth", Sampling{Temperature: 1, TopP: 1}, logits, (2 + e1 + e2/2) / total, []int32{0}},
		{"top-k", Sampling{Temperature: 1, TopK: 2, TopP: 1}, logits, 0.9, []int32{3}},
		{"top-k above all", Sampling{Temperature: 1, TopK: 9, TopP: 1}, logits, (2 + e1/2) / total, []int32{2}},
		{"top-p", Sampling{Temperature: 1, TopP: 0.75}, logits, 0.9, []int32{3}},
		{"top-p of top-k", Sampling{Temperature: 1, TopK: 3, TopP: 0.9}, logits, 0.95, []int32{2}},
		{"cold", Sampling{Temperature: 0.01, TopP: 1}, logits, 0.6, []int32{3}},
		{"all hidden", Sampling{Temperature: 1, TopP: 1}, []float32{inf, inf, inf, inf}, 0.6, []int32{2}},
	} {
		for token := range int32(len(c.row)) {
			want := false
			for _, w := range c.want {
				want = want || w == token
			}
			if err := Drawn(c.how, c.row, float32(c.u), token); (err == nil) != want {
				t.Errorf("%s: token %d: %v, expected %v", c.name, token, err, c.want)
			}
		}
		for _, token := range []int32{-1, int32(len(c.row))} {
			if Drawn(c.how, c.row, float32(c.u), token) == nil {
				t.Errorf("%s: token %d passes", c.name, token)
			}
		}
	}
}
