package gate

import (
	"decodegap/reports"
	"decodegap/roofline/unit"
)

// PolicySchema may stand in a policy as its "schema", so that a later format
// can tell itself apart.
const PolicySchema = "decodegap/policy/1"

// Policy is what a gate demands of a run. An absent limit is not judged.
type Policy struct {
	Floor           reports.FloorName // the floor that efficiency is counted against
	MinEfficiency   *float64          // share, for every point without one of its own
	Points          []Point           // empty: every point of the run
	Regression      *Regression
	MaxUnattributed *float64 // share of the measured time
	Require         []string // names from Requirements
	Fingerprint     Fingerprint
}

// Point selects the points of a run that have its batch and, where they are
// given, its context and label.
type Point struct {
	Batch         int
	Context       *int // tokens
	Label         *string
	MinEfficiency *float64 // share
}

// Regression is how much slower than the baseline a point may be. A point
// fails only if it is slower by more than every limit that is given.
type Regression struct {
	Relative *float64 // share of the baseline's time per output token
	Absolute *unit.Seconds
}

// Fingerprint says what to do with a baseline taken in another environment.
type Fingerprint struct {
	Mode   string   // one of FingerprintModes
	Ignore []string // keys that may differ; a trailing * matches the rest
}

// The fingerprint modes: a difference makes the baseline not comparable, is
// only told, or is not looked for.
const (
	Strict = "strict"
	Warn   = "warn"
	Ignore = "ignore"
)

// FingerprintModes lists every mode; the first is the default.
var FingerprintModes = []string{Strict, Warn, Ignore}
