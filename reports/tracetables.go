package reports

// traced is the traced step of a point: its drawing and what its trace says.
func traced(run *Run, point int) []Block {
	t := run.Points[point].Traced
	if t == nil || len(t.Steps) == 0 {
		return nil
	}
	var blocks []Block
	if t.Timeline != nil {
		blocks = append(blocks, Figure{FigureTimeline, point})
	}
	return append(blocks, operationsTable(t))
}

// topOperations is how many operations a report lists.
const topOperations = 12

// operationsTable is the operations that take most of the first step.
func operationsTable(t *Traced) *Table {
	s := &t.Steps[0]
	out := &Table{ID: "operations", Title: "The operations that take most of the traced step", Ordered: true, Columns: []Column{
		{Title: "kernel, copy or fill"}, {Title: "component"}, {Title: "times", Right: true}, {Title: "ms", Right: true}, {Title: "share", Right: true},
	}}
	for _, o := range s.Operations[:min(len(s.Operations), topOperations)] {
		out.Rows = append(out.Rows, Row{Cells: []string{orAbsent(name(o.Name)), orAbsent(name(o.Component)), whole(o.Count), millis(o.Ms), percent(o.Ms / s.MedianMs)}})
	}
	out.Note = "Exclusive time of " + count(s.Count, "step") + "' median, found by " + name(s.FoundBy)
	if s.Count == 1 {
		out.Note = "Exclusive time of the one step, found by " + name(s.FoundBy)
	}
	if more := len(s.Operations) - len(out.Rows); more > 0 {
		out.Note += "; " + whole(int64(more)) + " more are in the record"
	}
	out.Note += "."
	return out
}
