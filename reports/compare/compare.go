// Package compare sets benchmark series or run records side by side: values
// and change at each operating point, a verdict a point, where two series
// change places, and whether the whole is comparable at all.
//
// It refuses to call two series comparable because nothing speaks against it:
// what decides speed (kernel, driver, server settings) must be known on every
// side and agree, or be named as what is meant to differ.
package compare

import (
	"fmt"
	"slices"

	"decodegap/reports"
)

// DefaultThreshold is the change, as a share, up to which two values are the
// same.
const DefaultThreshold = 0.02

// The verdicts of a point, of a later series against the first.
const (
	Faster        = "faster"
	Slower        = "slower"
	Same          = "same"
	Ambiguous     = "ambiguous"      // repeats or statistics disagree
	NotComparable = "not_comparable" // a value is missing
)

// Options says how to compare.
type Options struct {
	Threshold float64  // share up to which values are the same; 0 is DefaultThreshold
	Vary      []string // facts that are meant to differ; a trailing * stands for any rest
	Doubts    []string // reasons against comparing that the caller knows of
}

func (o Options) threshold() float64 {
	if o.Threshold == 0 {
		return DefaultThreshold
	}
	return o.Threshold
}

// Series compares two or more benchmark series, the later ones against the
// first, point by point of the same concurrency.
func Series(series []reports.Series, o Options) (*reports.Comparison, error) {
	if len(series) < 2 {
		return nil, fmt.Errorf("cannot compare %d series: at least two are needed", len(series))
	}
	var keys []float64
	for _, s := range series {
		for _, p := range s.Points {
			if !slices.Contains(keys, p.Concurrency) {
				keys = append(keys, p.Concurrency)
			}
		}
	}
	slices.Sort(keys)
	var points []point
	for _, key := range keys {
		p := point{concurrency: key, sides: make([]side, len(series))}
		for i, s := range series {
			p.sides[i] = sideAt(s, key)
		}
		points = append(points, p)
	}
	c := &reports.Comparison{Crossovers: []reports.Crossover{}, Rows: []reports.CompareRow{}}
	for _, p := range points {
		c.Rows = append(c.Rows, p.row(o.threshold()))
	}
	c.Crossovers = append(c.Crossovers, crossovers(names(series), points, o.threshold())...)
	c.Reasons = slices.Concat(environment(series, o, "file"), workloads(series), o.Doubts)
	if c.Reasons == nil {
		c.Reasons = []string{}
	}
	c.Comparable = len(c.Reasons) == 0
	return c, nil
}

func names(series []reports.Series) []string {
	out := make([]string, len(series))
	for i, s := range series {
		out[i] = s.Name
	}
	return out
}
