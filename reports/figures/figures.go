// Package figures finds the drawing that a block of a page asks for, for all
// formats that draw. It refuses to fail a report over a drawing: what cannot
// be drawn is left out, and the rows beside it say the same.
package figures

import (
	"decodegap/reports"
	"decodegap/reports/chart"
)

// Of is the drawing of a Ladder or Figure, nil where the record lacks the data
// for it or the block is of another kind.
func Of(run *reports.Run, b reports.Block) *chart.Figure {
	var f *chart.Figure
	var err error
	switch b := b.(type) {
	case reports.Ladder:
		f, err = chart.Waterfall(run, b.Point)
	case reports.Figure:
		switch b.Kind {
		case reports.FigureRoofline:
			f, err = chart.Roofline(run, b.Point)
		case reports.FigureComponents:
			f, err = chart.Components(run, b.Point)
		case reports.FigureTimeline:
			f, err = chart.Timeline(run, b.Point)
		case reports.FigureThroughput:
			f, err = chart.Throughput(run)
		}
	}
	if err != nil {
		return nil
	}
	return f
}
