package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseBytes reads a positive amount of data with its unit: "4GB" is 4e9
// bytes, "512MiB" is 512·2^20; kB, MB, GB, TB, KiB, MiB, GiB, TiB and B.
func ParseBytes(s string) (Bytes, error) {
	text := strings.TrimSpace(s)
	for _, u := range []struct {
		suffix string
		factor float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}} {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			v, err := number(rest, "size "+strconv.Quote(s))
			if err != nil {
				return 0, err
			}
			if v <= 0 || math.IsInf(v*u.factor, 0) {
				return 0, fmt.Errorf("size %q: must be above 0 and finite", s)
			}
			return Bytes(v * u.factor), nil
		}
	}
	return 0, fmt.Errorf("size %q: expected a number with unit, such as 4GB or 512MiB", s)
}
