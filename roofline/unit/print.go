package unit

import (
	"math"
	"strconv"
)

// scale picks the largest prefix that leaves at least one whole digit.
func scale(v float64, base string, steps []step) string {
	if v == 0 {
		return "0 " + base
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'g', -1, 64) + " " + base
	}
	for _, s := range steps {
		if math.Abs(v) >= s.factor {
			return Significant(v/s.factor, 4) + " " + s.prefix + base
		}
	}
	last := steps[len(steps)-1]
	return Significant(v/last.factor, 4) + " " + last.prefix + base
}

type step struct {
	factor float64
	prefix string
}

var large = []step{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}
var small = []step{{1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}

// Significant prints v with the given number of significant digits and no
// exponent, keeping trailing zeros: 3.07 with 4 digits is "3.070".
func Significant(v float64, digits int) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	whole := int(math.Floor(math.Log10(math.Abs(v)))) + 1
	decimals := max(digits-whole, 0)
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

func (b Bytes) String() string          { return scale(float64(b), "B", large) }
func (f FLOPs) String() string          { return scale(float64(f), "FLOP", large) }
func (s Seconds) String() string        { return scale(float64(s), "s", small) }
func (r BytesPerSecond) String() string { return scale(float64(r), "B/s", large) }
func (r FLOPsPerSecond) String() string { return scale(float64(r), "FLOP/s", large) }
