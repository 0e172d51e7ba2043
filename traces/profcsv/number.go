package profcsv

import (
	"math"
	"strconv"
	"strings"
)

// Number is a decimal as printed, without thousands separators: Digits × 10^Exp.
type Number struct {
	negative bool
	digits   string // no leading zeros
	Exp      int    // of the last printed digit
}

// ParseNumber reads "1234", "1,234.5", "-0.5" and "1.5e+06". A comma that does
// not set off three digits makes it no number at all.
func ParseNumber(text string) (Number, bool) {
	text = strings.TrimSpace(text)
	if len(text) == 0 || len(text) > 64 {
		return Number{}, false
	}
	var n Number
	if text[0] == '-' || text[0] == '+' {
		n.negative = text[0] == '-'
		text = text[1:]
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exp, err := strconv.Atoi(text[i+1:])
		if err != nil || exp < -400 || exp > 400 {
			return Number{}, false
		}
		n.Exp, text = exp, text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if strings.Contains(whole, ",") {
		groups := strings.Split(whole, ",")
		for i, g := range groups {
			if len(g) > 3 || len(g) == 0 || i > 0 && len(g) != 3 {
				return Number{}, false
			}
		}
		whole = strings.Join(groups, "")
	}
	if whole+fraction == "" {
		return Number{}, false
	}
	for _, c := range whole + fraction {
		if c < '0' || c > '9' {
			return Number{}, false
		}
	}
	n.digits = strings.TrimLeft(whole+fraction, "0")
	n.Exp -= len(fraction)
	return n, true
}

// Int is the number × 10^shift, rounded half away from zero; false where
// int64 cannot hold it.
func (n Number) Int(shift int) (int64, bool) {
	digits, exp := n.digits, n.Exp+shift
	if digits == "" {
		return 0, true
	}
	up := false
	if exp < 0 {
		keep := len(digits) + exp
		if keep < 0 {
			return 0, true
		}
		up = digits[keep] >= '5'
		digits = digits[:keep]
	} else if len(digits)+exp > 19 {
		return 0, false
	} else {
		digits += strings.Repeat("0", exp)
	}
	if digits == "" {
		digits = "0"
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || up && v == math.MaxInt64 {
		return 0, false
	}
	if up {
		v++
	}
	if n.negative {
		v = -v
	}
	return v, true
}

// Float is the float64 nearest to the number × 10^shift; false where there is none.
func (n Number) Float(shift int) (float64, bool) {
	sign := ""
	if n.negative {
		sign = "-"
	}
	v, err := strconv.ParseFloat(sign+"0"+n.digits+"e"+strconv.Itoa(n.Exp+shift), 64)
	return v, err == nil
}
