package main

import (
	"errors"
	"fmt"
	"io"

	"decodegap/reports"
	"decodegap/reports/chart"
)

// writeFloorSVG prints a chart of the sweep as an SVG file of its own.
func writeFloorSVG(w io.Writer, doc *reports.FloorDocument) error {
	f, err := chart.Sweep(doc)
	if err != nil {
		return err
	}
	if f == nil {
		return errors.New("a chart needs at least two points: give lists to --batch, --context or --tp")
	}
	svg, err := f.Document(floorHeading(doc))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, svg)
	return err
}

// floorHeading names model and machine; the number of GPUs where all points
// agree on it.
func floorHeading(doc *reports.FloorDocument) string {
	gpus := 0
	for i, p := range doc.Points {
		if n := p.TP * p.DP * p.PP; i == 0 {
			gpus = n
		} else if n != gpus {
			gpus = 0
			break
		}
	}
	machine := doc.Hardware.Name
	if gpus > 0 {
		machine = fmt.Sprintf("%d × %s", gpus, machine)
	}
	const longest = 200
	return reports.OneLine(doc.Model.Name+" on "+machine+": floor of a decode step", longest)
}
