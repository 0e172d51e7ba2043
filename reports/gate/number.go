package gate

import "decodegap/roofline/unit"

// ms prints a time in milliseconds.
func ms(v float64) string { return unit.Significant(v, 4) + " ms" }

// share prints a ratio as a percentage.
func share(v float64) string { return unit.Significant(v*100, 3) + " %" }

// shares prints two ratios with as many digits as it takes to tell them apart,
// so that no line reads "5.40 % is below 5.40 %".
func shares(a, b float64) (string, string) {
	for digits := 3; ; digits++ {
		x, y := unit.Significant(a*100, digits), unit.Significant(b*100, digits)
		if x != y || a == b || digits == 12 {
			return x + " %", y + " %"
		}
	}
}

// change prints how far a is from b, in percent with its sign.
func change(a, b float64) string {
	v := (a/b - 1) * 100
	if v == 0 {
		return "±0 %"
	}
	if v < 0 {
		return "−" + unit.Significant(-v, 3) + " %"
	}
	return "+" + unit.Significant(v, 3) + " %"
}

func ptr(v float64) *float64 { return &v }
