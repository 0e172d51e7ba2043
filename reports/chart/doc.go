// Package chart draws a run record's figures: the ladder from floor to
// measured, the roofline, throughput over concurrency and the layout's cost by
// component. Each chart is a plot.Plotter and a builder that takes the figures
// of the record.
//
// It refuses to compute: every length, height and label is a figure that the
// record holds, or a sum of such figures. A chart whose data are missing is
// not drawn at all.
package chart
