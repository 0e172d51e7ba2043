package canvas

import (
	"math"
	"testing"
)

type linear [3]float64

func linearOf(i Ink, dark bool) linear {
	v, night := i.values()
	if dark {
		v = night
	}
	var out linear
	for k := range out {
		c := float64(uint8(v>>(16-8*k))) / 255
		if c <= 0.04045 {
			out[k] = c / 12.92
			continue
		}
		out[k] = math.Pow((c+0.055)/1.055, 2.4)
	}
	return out
}

func (l linear) luminance() float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

func contrast(a, b linear) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func (l linear) through(m [3]linear) linear {
	var out linear
	for i := range out {
		for j := range l {
			out[i] += m[i][j] * l[j]
		}
		out[i] = min(1, max(0, out[i]))
	}
	return out
}

func (l linear) oklab() linear {
	a := l.through([3]linear{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}})
	for i := range a {
		a[i] = math.Cbrt(a[i])
	}
	return linear{
		0.2104542553*a[0] + 0.7936177850*a[1] - 0.0040720468*a[2],
		1.9779984951*a[0] - 2.4285922050*a[1] + 0.4505937099*a[2],
		0.0259040371*a[0] + 0.7827717662*a[1] - 0.8086757660*a[2],
	}
}

// TestInks measures what the palette promises.
func TestInks(t *testing.T) {
	eyes := []struct {
		name    string
		matrix  [3]linear
		farther float64
	}{
		{"normal", [3]linear{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0.15},
		{"protanopia", [3]linear{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}, 0.10},
		{"deuteranopia", [3]linear{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}, 0.10},
		{"tritanopia", [3]linear{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}, 0.10},
	}
	for _, dark := range []bool{false, true} {
		ground := linearOf(Surface, dark)
		for _, i := range []Ink{Fg, Muted} {
			if c := contrast(linearOf(i, dark), ground); c < 4.5 {
				t.Errorf("dark=%t: text in %s has contrast %.2f", dark, i.Var(), c)
			}
		}
		for i := C0; i <= C7; i++ {
			if c := contrast(linearOf(i, dark), ground); c < 3 {
				t.Errorf("dark=%t: %s has contrast %.2f", dark, i.Var(), c)
			}
			for j := C0; j < i; j++ {
				for _, eye := range eyes {
					a, b := linearOf(i, dark).through(eye.matrix).oklab(), linearOf(j, dark).through(eye.matrix).oklab()
					d := math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
					if d < eye.farther {
						t.Errorf("dark=%t: %s and %s are %.3f apart to %s", dark, i.Var(), j.Var(), d, eye.name)
					}
				}
			}
		}
	}
}

func TestSeriesStartsAgain(t *testing.T) {
	for n, want := range map[int]Ink{0: C0, 7: C7, 8: C0, 17: C1, -3: C3} {
		if got := Series(n); got != want {
			t.Errorf("Series(%d) = %s, want %s", n, got.Var(), want.Var())
		}
	}
}
