package reports

import (
	"math"
	"strconv"
	"strings"
)

// absent is what every table prints for a value the record does not hold.
const absent = "–"

// tooLarge is where fixed notation stops helping: no decode step has such a
// figure, but a record may.
const tooLarge = 1e15

// decimals prints v with n decimals and a true minus sign.
func decimals(v float64, n int) string {
	if math.Abs(v) >= tooLarge {
		return strings.Replace(strconv.FormatFloat(v, 'e', 3, 64), "-", "−", 1)
	}
	s := strconv.FormatFloat(v, 'f', n, 64)
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		if strings.Trim(rest, "0.") == "" {
			return rest // no "−0.000"
		}
		return "−" + rest
	}
	return s
}

// millis prints milliseconds without their unit, to the microsecond where that
// still says something.
func millis(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return decimals(v, 1)
	case a >= 10:
		return decimals(v, 2)
	case a > 0 && a < 0.0005:
		return "<0.001"
	}
	return decimals(v, 3)
}

// roughly prints milliseconds that are an estimate: no digit it cannot carry.
func roughly(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return decimals(v, 0)
	case a >= 1:
		return decimals(v, 1)
	case a > 0 && a < 0.0005:
		return "<0.001"
	case a >= 0.1:
		return decimals(v, 2)
	}
	return decimals(v, 3)
}

// micros prints milliseconds to the microsecond, so that a printed column adds
// up as the ledger does.
func micros(v float64) string {
	return decimals(v, 3)
}

// signed puts a plus sign before what is added.
func signed(v float64) string {
	s := micros(v)
	if strings.HasPrefix(s, "−") {
		return s
	}
	return "+" + s
}

// rate prints tokens per second without the unit.
func rate(v float64) string {
	if math.Abs(v) >= 100 {
		return decimals(v, 0)
	}
	return decimals(v, 2)
}

// percent prints a ratio of 1 as "100.0 %"; small ones keep two digits.
func percent(ratio float64) string {
	v := ratio * 100
	switch a := math.Abs(v); {
	case a >= 1000:
		return decimals(v, 0) + " %"
	case a >= 1 || a == 0:
		return decimals(v, 1) + " %"
	case a >= 0.1:
		return decimals(v, 2) + " %"
	case a >= 0.001:
		return decimals(v, 1-int(math.Floor(math.Log10(a)))) + " %"
	}
	return "<0.001 %"
}

// times prints a quotient such as "4.9×".
func times(v float64) string {
	if math.Abs(v) >= 100 {
		return decimals(v, 0) + "×"
	}
	if math.Abs(v) < 1.1 {
		return decimals(v, 2) + "×"
	}
	return decimals(v, 1) + "×"
}

// change prints a difference in percent with its sign.
func change(pct float64) string {
	s := decimals(pct, 1) + " %"
	if strings.HasPrefix(s, "−") {
		return s
	}
	return "+" + s
}

// scaled prints v with the largest decimal prefix that leaves a whole digit.
func scaled(v float64, unit string) string {
	if v == 0 {
		return "0"
	}
	for _, p := range []struct {
		factor float64
		prefix string
	}{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "μ"}, {1e-9, "n"}} {
		if math.Abs(v) < p.factor && p.factor > 1e-9 {
			continue
		}
		s := v / p.factor
		switch a := math.Abs(s); {
		case p.factor == 1 && s == math.Trunc(s), a >= 1000:
			return decimals(s, 0) + " " + p.prefix + unit
		case a >= 100:
			return decimals(s, 1) + " " + p.prefix + unit
		case a >= 10:
			return decimals(s, 2) + " " + p.prefix + unit
		}
		return decimals(s, 3) + " " + p.prefix + unit
	}
	return absent
}

// exactly prints bytes that are few and whole as they are: "12,288 B".
func exactly(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return whole(int64(v)) + " B"
	}
	return scaled(v, "B")
}

// whole prints a count with a thin grouping that survives every format.
func whole(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// parameters prints a parameter count as people name models: "743.9 B".
func parameters(n int64) string {
	switch {
	case n <= 0:
		return absent
	case n >= 1e9:
		return decimals(float64(n)/1e9, 2) + " B"
	case n >= 1e6:
		return decimals(float64(n)/1e6, 1) + " M"
	}
	return whole(n)
}

// plain prints a number of a benchmark file as it was written, two decimals at
// most.
func plain(v float64) string {
	if v == math.Trunc(v) {
		return decimals(v, 0)
	}
	return decimals(v, 2)
}

// optional prints a value that may be absent.
func optional(v *float64, print func(float64) string) string {
	if v == nil {
		return absent
	}
	return print(*v)
}
