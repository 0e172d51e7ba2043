package unit

import (
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]Seconds{"97.1ms": 0.0971, "10.4us": 10.4e-6, "10.4µs": 10.4e-6, "1.5s": 1.5, "850ns": 850e-9, " 2 ms ": 0.002} {
		if got, err := ParseSeconds(in); err != nil || math.Abs(float64(got-want)) > 1e-15 {
			t.Errorf("ParseSeconds(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "ms", "3", "-3ms", "0ms", "NaNms", "Infs", "1e400s", "3 m", "3msx"} {
		if got, err := ParseSeconds(in); err == nil {
			t.Errorf("ParseSeconds(%q) = %v, want an error", in, got)
		}
	}
	for in, want := range map[string]Seconds{"10.36tok/s": 1 / 10.36, "50 tokens/s": 0.02, "4t/s": 0.25, "95.14ms": 0.09514} {
		if got, err := ParseTPOT(in); err != nil || math.Abs(float64(got-want)) > 1e-12 {
			t.Errorf("ParseTPOT(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "10.36", "-1tok/s", "0tok/s", "tok/s", "97.1"} {
		if got, err := ParseTPOT(in); err == nil {
			t.Errorf("ParseTPOT(%q) = %v, want an error", in, got)
		}
	}
	for in, want := range map[string]int{"0": 0, "4096": 4096, "16k": 16384, "128K": 131072, "1m": 1 << 20} {
		if got, err := ParseTokens(in); err != nil || got != want {
			t.Errorf("ParseTokens(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "-1", "1.5k", "k", "99999999999999999999", "9999999m"} {
		if got, err := ParseTokens(in); err == nil {
			t.Errorf("ParseTokens(%q) = %v, want an error", in, got)
		}
	}
}

func TestPrint(t *testing.T) {
	for got, want := range map[string]string{
		Bytes(9196065792).String(): "9.196 GB", Seconds(0.00513).String(): "5.130 ms", BytesPerSecond(1.792e12).String(): "1.792 TB/s",
		FLOPs(0).String(): "0 FLOP", Seconds(5.5e-7).String(): "550.0 ns", FLOPsPerSecond(5.038e14).String(): "503.8 TFLOP/s", Bytes(999).String(): "999.0 B",
	} {
		if got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
}

func TestNoRateIsNoTime(t *testing.T) {
	if got := Bytes(1).At(0); !math.IsInf(float64(got), 1) {
		t.Errorf("a byte at no rate takes %v, want +Inf", got)
	}
	if got := Bytes(3.35e9).At(3.35e12).Millis(); math.Abs(got-1) > 1e-12 {
		t.Errorf("3.35 GB at 3.35 TB/s takes %v ms, want 1", got)
	}
}
