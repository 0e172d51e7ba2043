package ncu

import "strings"

// plainUnit takes the scale off a unit as Nsight Compute prints it: "Mbyte" is
// ("byte", 6), "us" is ("ns", 3), "Gbyte/s" is ("byte/s", 9). A unit that is
// not known stays as it is, with its value.
func plainUnit(unit string) (plain string, shift int) {
	top, per, rate := strings.Cut(unit, "/")
	switch per {
	case "second":
		per = "s"
	case "nsecond", "usecond", "msecond", "ns", "us", "ms":
		return unit, 0 // of clocks, such as cycle/nsecond
	}
	switch top {
	case "ns", "nsecond":
		top, shift = "ns", 0
	case "us", "usecond":
		top, shift = "ns", 3
	case "ms", "msecond":
		top, shift = "ns", 6
	case "s", "second":
		top, shift = "ns", 9
	default:
		for _, base := range []string{"byte", "hz", "Hz"} {
			prefix, ok := strings.CutSuffix(top, base)
			if exp, known := prefixes[prefix]; ok && known {
				top, shift = strings.ToLower(base), exp
				break
			}
		}
	}
	if rate {
		return top + "/" + per, shift
	}
	return top, shift
}

// prefixes are powers of ten: Nsight Compute counts 1000 bytes to the Kbyte.
var prefixes = map[string]int{"": 0, "K": 3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
