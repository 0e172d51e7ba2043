package main

import (
	"fmt"
	"strings"

	"decodegap/reports"
	"decodegap/traces/bench"
)

// benchNotes collects the warnings of benchmark results, telling those that
// several points of a series share only once.
type benchNotes struct {
	series string
	point  string // of the result being read, "" if it states no concurrency
	order  []benchNote
	points map[benchNote][]string
}

type benchNote struct{ series, code, text string }

// about starts a result and takes its own warnings.
func (n *benchNotes) about(series string, r bench.Result) {
	n.series, n.point = series, ""
	if r.MaxConcurrency != nil {
		n.point = fmt.Sprint(*r.MaxConcurrency)
	}
	for _, w := range r.Warnings {
		n.add(reports.Warning(w))
	}
}

func (n *benchNotes) add(warnings ...reports.Warning) {
	if n.points == nil {
		n.points = map[benchNote][]string{}
	}
	for _, w := range warnings {
		note := benchNote{n.series, w.Code, w.Text}
		if _, ok := n.points[note]; !ok {
			n.order = append(n.order, note)
		}
		n.points[note] = append(n.points[note], n.point)
	}
}

// warnings are the collected notes, each with the series and points it is of.
func (n *benchNotes) warnings() []reports.Warning {
	var out []reports.Warning
	for _, note := range n.order {
		where := note.series
		if at := strings.Join(n.points[note], ", "); strings.Trim(at, ", ") != "" {
			where += " at concurrency " + at
		}
		out = append(out, reports.Warning{Code: note.code, Text: where + ": " + note.text})
	}
	return out
}
