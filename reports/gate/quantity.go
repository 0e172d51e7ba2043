package gate

import (
	"fmt"
	"strconv"
	"strings"
)

// percent reads "5%" or "5.4 %" as a share. A bare number is refused: decode
// efficiencies of half a percent exist, so 0.5 could mean either.
func percent(text string) (share float64, err error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	if !ok {
		return 0, fmt.Errorf("expected a percentage with its sign, such as 5.4%%, found %q", shown(text))
	}
	number = strings.TrimSpace(number)
	if !decimal(number) {
		return 0, fmt.Errorf("expected a percentage such as 5.4%%, found %q", shown(text))
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("expected a percentage such as 5.4%%, found %q", shown(text))
	}
	return v / 100, nil
}

// decimal says whether s is digits with at most one point between them: no
// sign, exponent, NaN or infinity.
func decimal(s string) bool {
	whole, frac, point := strings.Cut(s, ".")
	return digits(whole) && (!point || digits(frac))
}

func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != "" && len(s) <= 18
}
