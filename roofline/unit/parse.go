package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// number parses a finite decimal number; what names it in the error.
func number(s, what string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s: expected a number, got %q", what, s)
	}
	return v, nil
}

// ParseSeconds reads a positive duration with its unit: "97.1ms", "10.4us",
// "10.4µs", "1.2s", "850ns".
func ParseSeconds(s string) (Seconds, error) {
	text := strings.TrimSpace(s)
	for _, u := range []struct {
		suffix string
		factor float64
	}{{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"μs", 1e-6}, {"ns", 1e-9}, {"s", 1}} {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			v, err := number(rest, "duration "+strconv.Quote(s))
			if err != nil {
				return 0, err
			}
			if v <= 0 {
				return 0, fmt.Errorf("duration %q: must be above 0", s)
			}
			return Seconds(v * u.factor), nil
		}
	}
	return 0, fmt.Errorf("duration %q: expected a number with unit ns, us, ms or s, such as 97.1ms", s)
}

// ParseTPOT reads a time per output token, either as a duration ("97.1ms") or
// as one sequence's rate ("10.36tok/s"), which is its reciprocal.
func ParseTPOT(s string) (Seconds, error) {
	text := strings.TrimSpace(s)
	for _, suffix := range []string{"tok/s", "tokens/s", "t/s"} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			v, err := number(rest, "rate "+strconv.Quote(s))
			if err != nil {
				return 0, err
			}
			if v <= 0 {
				return 0, fmt.Errorf("rate %q: must be above 0", s)
			}
			return Seconds(1 / v), nil
		}
	}
	v, err := ParseSeconds(text)
	if err != nil && strings.HasSuffix(text, "s") {
		return 0, err
	}
	if err != nil {
		return 0, fmt.Errorf("measured value %q: expected a time per output token such as 97.1ms, or a rate such as 10.36tok/s", s)
	}
	return v, nil
}

// ParseTokens reads a token count; k and m are the binary multiples that
// context lengths use: 16k is 16,384.
func ParseTokens(s string) (int, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	factor := 1
	if rest, ok := strings.CutSuffix(text, "k"); ok {
		text, factor = rest, 1024
	} else if rest, ok := strings.CutSuffix(text, "m"); ok {
		text, factor = rest, 1024*1024
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("token count %q: expected a whole number such as 4096 or 16k", s)
	}
	if v > maxTokens/factor {
		return 0, fmt.Errorf("token count %q: above the limit of %d", s, maxTokens)
	}
	return v * factor, nil
}

// maxTokens bounds what a token count may be; no engine comes near it.
const maxTokens = 1 << 30
