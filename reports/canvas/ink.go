package canvas

import (
	"fmt"
	"image/color"
	"strings"
)

// Ink is a colour by its role, not by its value: the SVG canvas writes it as a
// CSS variable so that the page's theme decides, the PDF canvas prints the
// light value.
type Ink uint8

// The inks. C0 to C7 tell series apart, in this order.
const (
	Fg      Ink = iota // text, the measured step
	Muted              // secondary text, axes
	Grid               // grid lines
	Surface            // what the figure lies on
	C0
	C1
	C2
	C3
	C4
	C5
	C6
	C7
)

// Inks is the number of inks.
const Inks = int(C7) + 1

// values holds the light and dark value of each ink. The eight series colours
// keep a contrast of at least 3:1 on their ground (white, #111) and an OKLab
// distance of at least 0.10 between any two as seen with protanopia,
// deuteranopia and tritanopia (Machado, Oliveira and Fernandes 2009); they
// were found by search under these constraints, the test measures them again.
func (i Ink) values() (light, dark uint32) {
	switch i {
	case Fg:
		return 0x1B1F24, 0xE6E8EB
	case Muted:
		return 0x5B646E, 0xA3ABB5
	case Grid:
		return 0xD9DDE2, 0x3A4048
	case Surface:
		return 0xFFFFFF, 0x111111
	case C0:
		return 0x1C6F84, 0x89EAE9
	case C1:
		return 0xDF711A, 0xFF8D05
	case C2:
		return 0x740E8C, 0x884AB4
	case C3:
		return 0x08A576, 0x0B8864
	case C4:
		return 0x856000, 0xE0E126
	case C5:
		return 0x2700CD, 0x1A91FF
	case C6:
		return 0x947EBD, 0xC99DC8
	case C7:
		return 0x860001, 0xEC151E
	}
	return 0, 0xFFFFFF
}

// Series is the ink of the n-th series; after the eighth they start again.
func Series(n int) Ink {
	if n < 0 {
		n = -n
	}
	return C0 + Ink(n%8)
}

// Var is the CSS variable that carries the ink, such as "--fg" or "--c0".
func (i Ink) Var() string {
	switch i {
	case Fg:
		return "--fg"
	case Muted:
		return "--muted"
	case Grid:
		return "--grid"
	case Surface:
		return "--surface"
	}
	return fmt.Sprintf("--c%d", int(i)-int(C0))
}

// Hex is the ink's value as #rrggbb, for the light or the dark theme.
func (i Ink) Hex(dark bool) string {
	light, night := i.values()
	if dark {
		light = night
	}
	return fmt.Sprintf("#%06x", light)
}

// RGBA makes Ink a color.Color with the light theme's value.
func (i Ink) RGBA() (r, g, b, a uint32) {
	v, _ := i.values()
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}.RGBA()
}

// Tint is an ink laid on thinly.
type Tint struct {
	Ink   Ink
	Alpha float64 // 0 nothing, 1 the ink itself
}

// RGBA makes Tint a color.Color over the light theme's ground, opaque, so
// that print needs no transparency.
func (t Tint) RGBA() (r, g, b, a uint32) {
	v, _ := t.Ink.values()
	mix := func(shift uint) uint8 {
		c := float64(uint8(v >> shift))
		return uint8(255 + (c-255)*min(1, max(0, t.Alpha)) + 0.5)
	}
	return color.RGBA{R: mix(16), G: mix(8), B: mix(0), A: 255}.RGBA()
}

// Variables is the list of CSS declarations that gives every ink its value,
// ready to stand in a rule: "--fg:#1b1f24;--muted:…;".
func Variables(dark bool) string {
	var b strings.Builder
	for i := Ink(0); int(i) < Inks; i++ {
		b.WriteString(i.Var() + ":" + i.Hex(dark) + ";")
	}
	return b.String()
}
