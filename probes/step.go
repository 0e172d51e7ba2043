package probes

import (
	"slices"

	"decodegap/roofline"
)

// StepName is the name of a device's attainable step.
func StepName(device string) string { return device + "/step" }

// Parted is a Subject made of a decode step's components.
type Parted interface {
	// Parts are the seconds of each component in every run since the last
	// call; those of one run add up to its time.
	Parts() map[roofline.Component][]float64
}

// parts shares a step's time out among its components as all its runs did, so
// that they add up to it. Nil for a subject without components.
func parts(s Subject, step float64) map[roofline.Component]float64 {
	p, ok := s.(Parted)
	if !ok {
		return nil
	}
	sums := map[roofline.Component]float64{}
	var total float64
	all := p.Parts()
	names := make([]roofline.Component, 0, len(all))
	for c := range all {
		names = append(names, c)
	}
	slices.Sort(names) // sums in one order: the same bits every time
	for _, c := range names {
		for _, v := range all[c] {
			sums[c] += v
			total += v
		}
	}
	for c := range sums {
		sums[c] *= step / total
	}
	return sums
}
