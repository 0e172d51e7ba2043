package main

import (
	"errors"
	"fmt"
	"io"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
	"decodegap/reports/chart"
)

// writeTraceSVG draws the median step as an SVG file of its own. A trace
// without steps is an error.
func writeTraceSVG(w io.Writer, made tracedRun) error {
	views := made.trace.StepViews()
	f, err := chart.TimelineOf(assemble.Timeline(views))
	if err != nil {
		return err
	}
	if f == nil {
		return errors.New("no decode step was found that could be drawn; name the annotation of a step with --step")
	}
	v := views[0]
	heading := fmt.Sprintf("Median step of rank %d", v.Rank)
	if v.Name != "" {
		heading += " on " + reports.OneLine(v.Name, 100)
	}
	svg, err := f.Document(heading)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, svg)
	return err
}
