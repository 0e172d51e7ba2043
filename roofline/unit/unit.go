// Package unit holds the typed quantities every other package computes with:
// bytes, floating-point operations, seconds and their rates, always in base
// units, and their scaled text form for people.
//
// It refuses to guess: a parser accepts only a number with a unit it knows.
package unit

import "math"

// Bytes is an amount of data in bytes. It is a float because expectations
// (the distinct experts of a batch) are not whole.
type Bytes float64

// FLOPs counts floating-point operations; a multiply-add is two.
type FLOPs float64

// Seconds is a duration in seconds.
type Seconds float64

// BytesPerSecond is a bandwidth; 1 GB/s is 1e9 of them.
type BytesPerSecond float64

// FLOPsPerSecond is a compute rate; 1 TFLOP/s is 1e12 of them.
type FLOPsPerSecond float64

// At returns how long moving b takes at rate r. A zero or negative rate gives
// +Inf: no rate, no finite time.
func (b Bytes) At(r BytesPerSecond) Seconds {
	if r <= 0 {
		return Seconds(math.Inf(1))
	}
	return Seconds(float64(b) / float64(r))
}

// At returns how long f operations take at rate r, +Inf without a rate.
func (f FLOPs) At(r FLOPsPerSecond) Seconds {
	if r <= 0 {
		return Seconds(math.Inf(1))
	}
	return Seconds(float64(f) / float64(r))
}

// Millis returns the duration in milliseconds.
func (s Seconds) Millis() float64 { return float64(s) * 1e3 }

// Micros returns the duration in microseconds.
func (s Seconds) Micros() float64 { return float64(s) * 1e6 }

// Nanos returns the duration rounded to whole nanoseconds.
func (s Seconds) Nanos() int64 { return int64(math.Round(float64(s) * 1e9)) }

// FromMillis makes a duration from milliseconds.
func FromMillis(ms float64) Seconds { return Seconds(ms / 1e3) }

// FromMicros makes a duration from microseconds.
func FromMicros(us float64) Seconds { return Seconds(us / 1e6) }

// FromNanos makes a duration from whole nanoseconds.
func FromNanos(ns int64) Seconds { return Seconds(float64(ns) / 1e9) }
