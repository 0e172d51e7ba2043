// Package gap explains the time between a floor and a measurement as a ledger
// of causes that adds up to the nanosecond. It never fills a gap with a
// guess: what no evidence explains stays in Unattributed, which is signed and
// always there.
package gap

import "decodegap/roofline"

// Cause names why time is lost.
type Cause string

// The causes, in ladder order.
const (
	Replication   Cause = "replication"   // the layout reads what the ideal reads once
	CeilingLoss   Cause = "ceiling"       // probed bandwidth below the sheet's
	Latency       Cause = "latency"       // all-reduce latency, kernel boundaries
	Kernel        Cause = "kernel"        // kernels slower than attainable
	Communication Cause = "communication" // exposed transfers beyond their floor
	DeviceIdle    Cause = "device-idle"   // gaps on the stream
	Host          Cause = "host"          // scheduler, sampling, between steps
	Interference  Cause = "interference"  // prefill in the batch, queueing
	Speculation   Cause = "speculation"   // work on rejected drafts
	Profiler      Cause = "profiler"      // the profiler's own cost
	Unattributed  Cause = "unattributed"  // the signed rest
)

// Nanoseconds is a duration in whole nanoseconds: ledgers add exactly.
type Nanoseconds int64

// Millis is the duration in milliseconds.
func (n Nanoseconds) Millis() float64 { return float64(n) / 1e6 }

// Rung is one cause of lost time per emitted token.
type Rung struct {
	Cause     Cause
	Component roofline.Component
	Text      string
	Time      Nanoseconds
	Lo, Hi    Nanoseconds // what the evidence allows; both equal Time where it says nothing of a range
	Evidence  string
}

// Ledger explains a measured time per emitted token:
// Floor + Σ Rungs.Time = Measured, exactly.
type Ledger struct {
	Measured Nanoseconds
	Floor    Nanoseconds // ideal, at the sheet
	Basis    roofline.Basis
	Rungs    []Rung
}

// Closes says whether the ledger adds up.
func (l Ledger) Closes() bool {
	sum := l.Floor
	for _, r := range l.Rungs {
		sum += r.Time
	}
	return sum == l.Measured
}

// Unattributed is the part no evidence explains.
func (l Ledger) Unattributed() Nanoseconds {
	for _, r := range l.Rungs {
		if r.Cause == Unattributed {
			return r.Time
		}
	}
	return 0
}
