package main

import (
	"fmt"

	"decodegap/reports"
)

// sweepNotes collects the warnings of many points: one of a kind, with the
// point it is first about and how many share it.
type sweepNotes struct {
	order  []string
	first  map[string]reports.Warning
	where  map[string]string
	counts map[string]int
}

func (n *sweepNotes) add(point string, warnings ...reports.Warning) {
	if n.first == nil {
		n.first, n.where, n.counts = map[string]reports.Warning{}, map[string]string{}, map[string]int{}
	}
	for _, w := range warnings {
		if n.counts[w.Code] == 0 {
			n.order = append(n.order, w.Code)
			n.first[w.Code], n.where[w.Code] = w, point
		}
		n.counts[w.Code]++
	}
}

// warnings are the collected ones, of so many points in all.
func (n *sweepNotes) warnings(points int) []reports.Warning {
	var out []reports.Warning
	for _, code := range n.order {
		w := n.first[code]
		switch {
		case points == 1:
		case n.counts[code] == 1:
			w.Text = n.where[code] + ": " + w.Text
		default:
			w.Text = fmt.Sprintf("%d of %d points, the first at %s: %s", n.counts[code], points, n.where[code], w.Text)
		}
		out = append(out, w)
	}
	return out
}
