package reports

import (
	"fmt"
	"strings"

	"decodegap/roofline"
)

// stepTable is the attainable step by component: its rows add up to it.
func stepTable(s *AttainableStep) *Table {
	if s == nil {
		return nil
	}
	t := &Table{ID: "attainable", Title: "The attainable step, component by component", Ordered: true, Columns: []Column{
		{Title: "component"}, {Title: "ms in the step", Right: true}, {Title: "share", Right: true}, {Title: "ms at floor", Right: true}, {Title: "over ms", Right: true},
	}, Note: fmt.Sprintf("A whole step of %s, batch %d, context %s, %s cache: %s, %s. Random weights of the same shapes and formats (%s), every layer's own; each time is from barrier to barrier. ms at floor: the bytes that the floor counts over the read bandwidth measured beside the step.",
		name(s.Model), s.Batch, whole(int64(s.Context)), strings.ToUpper(name(s.KVType)), text(s.Source), name(s.Verdict), name(strings.Join(s.Formats, ", ")))}
	for _, p := range s.Parts {
		t.Rows = append(t.Rows, Row{Cells: []string{name(p.Component), millis(p.Ms), percent(p.Ms / s.Ms), millis(p.FloorMs), signed(p.Ms - p.FloorMs)}})
	}
	t.Rows = append(t.Rows, Row{Kind: RowTotal, Cells: []string{"step", millis(s.Ms), percent(1), millis(s.FloorMs), signed(s.Ms - s.FloorMs)}})
	return t
}

// isComponent says whether a name is of the closed list.
func isComponent(name string) bool {
	for _, c := range roofline.Components {
		if string(c.Name) == name {
			return true
		}
	}
	return false
}

// check holds an attainable step to what its numbers must be.
func (s *AttainableStep) check(at string) error {
	if s.Ms <= 0 || s.FloorMs <= 0 || s.Bytes <= 0 || s.OverFloor <= 0 {
		return fmt.Errorf("%s: ms %g, floor_ms %g, bytes %g, over_floor %g: expected numbers above 0", at, s.Ms, s.FloorMs, s.Bytes, s.OverFloor)
	}
	if s.Batch < 1 || s.Context < 0 {
		return fmt.Errorf("%s: batch %d, context %d: expected at least 1 and 0", at, s.Batch, s.Context)
	}
	if want := s.Ms / s.FloorMs; !agree(s.OverFloor, want) {
		return changed(at+".over_floor", s.OverFloor, want, "ms/floor_ms", "probe")
	}
	var sum, floor float64
	seen := map[string]bool{}
	for i, p := range s.Parts {
		if !isComponent(p.Component) {
			return fmt.Errorf("%s.parts[%d].component: %q is none of a step's", at, i, OneLine(p.Component, 40))
		}
		if seen[p.Component] {
			return fmt.Errorf("%s.parts[%d].component: %q stands twice", at, i, p.Component)
		}
		seen[p.Component] = true
		if p.Ms < 0 || p.FloorMs < 0 {
			return fmt.Errorf("%s.parts[%d]: %g and %g ms, expected times", at, i, p.Ms, p.FloorMs)
		}
		sum += p.Ms
		floor += p.FloorMs
	}
	if !agree(sum, s.Ms) {
		return changed(at+".parts", sum, s.Ms, "ms", "probe")
	}
	if !agree(floor, s.FloorMs) {
		return changed(at+".parts, floor_ms", floor, s.FloorMs, "floor_ms", "probe")
	}
	return nil
}
